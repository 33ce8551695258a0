"""Read what a page calls its own address, and believe it only within the site that somebody registered.

AMP pages, the form that phones were once sent, are copies under addresses of their own. The article's address is the
one that it names as canonical; if an AMP page names none, its address without AMP's marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import lxml.html

from ingest.fetch.addresses import FetchAllow
from ingest.fetch.urls import SubmittableUrl, check_url
from intel.errors import RefusedUrl
from intel.suffixes import site_domain

_ANYWHERE: Final = FetchAllow.parse("0.0.0.0/0, ::/0")
_FRONT_PAGE: Final = re.compile(
    r"/(?:(?:index|default|home|main)(?:\.[a-z]{2,5})?/?|[a-z]{2}(?:[-_][a-zA-Z]{2})?/?|#.*)?(?:\?)?"
)
_AMP_PATH: Final = re.compile(r"(?:/amp(?=/)|\.amp(?=\.html?(?:\?|\Z))|/amp(?=\?|\Z)|\.amp(?=\?|\Z))", re.I)
_AMP_PARAMETER: Final = re.compile(
    r"(?:(?<=\?)|&)(?:amp|_amp)(?:=(?:1|true|amp)?)?(?=&|\Z)|(?:(?<=\?)|&)outputType=amp(?=&|\Z)", re.I
)
_AMP_MARKS: Final = frozenset({"amp", "\u26a1", "\u26a1\ufe0f"})


def canonical_link(tree: lxml.html.HtmlElement, url: str | None) -> str | None:
    """Return the address that a page from `url` gives for itself; None if it gives none that is believed."""
    page = _read(url, None)
    if page is None:
        return None
    named = [_read(href, page) for href in _links(tree, "canonical")]
    believed = dict.fromkeys(str(link) for link in named if link and _is_own(link, page))
    if len(believed) == 1 and len(set(map(str, named))) == 1:
        return next(iter(believed))
    return _without_amp(page) if not named and _is_amp(tree) else None


def amp_links(tree: lxml.html.HtmlElement, url: str | None) -> tuple[str, ...]:
    """Return the addresses of a page's own AMP form, if they are plainly its address with AMP's marks."""
    page = _read(url, None)
    if page is None:
        return ()
    named = [_read(href, page) for href in _links(tree, "amphtml")]
    own = [link for link in named if link and _is_own(link, page) and _unmarked(link) == _unmarked(page)]
    return tuple(dict.fromkeys(map(str, own)))


def is_same_site(one: SubmittableUrl, other: SubmittableUrl) -> bool:
    """Tell whether two addresses are of one registered name: both schemes of one are one site, another port is not."""
    ports = {443 if url.port == 80 else url.port for url in (one, other)}
    return len(ports) == 1 and _site(one) == _site(other)


def _links(tree: lxml.html.HtmlElement, kind: str) -> Iterator[str]:
    for link in tree.iterfind(".//link[@href]"):
        if kind in (link.get("rel") or "").lower().split():
            yield (link.get("href") or "").strip()


def _read(href: str | None, page: SubmittableUrl | None) -> SubmittableUrl | None:
    try:
        return check_url(page.join(href or "") if page else href or "", _ANYWHERE)
    except (RefusedUrl, ValueError):
        return None


def _is_own(link: SubmittableUrl, page: SubmittableUrl) -> bool:
    """Tell whether it is of the same site, and not the site's front page, which some systems name on all of their
    pages.
    """
    return is_same_site(link, page) and (not _is_front(link) or _is_front(page))


def _is_front(url: SubmittableUrl) -> bool:
    return _FRONT_PAGE.fullmatch(url.target) is not None


def _site(url: SubmittableUrl) -> str:
    return url.host if url.literal is not None else site_domain(url.host)


def _is_amp(tree: lxml.html.HtmlElement) -> bool:
    return any(str(name).lower() in _AMP_MARKS for name in tree.attrib)


def _without_amp(page: SubmittableUrl) -> str | None:
    plain = _stripped(page.target)
    return f"{page.scheme}://{page.authority}{plain}" if plain != page.target and plain != "/" else None


def _stripped(target: str) -> str:
    path, mark, query = target.partition("?")
    query = _AMP_PARAMETER.sub("", mark + query)
    query = "?" + query[1:].lstrip("&") if query.strip("?&") else ""
    return (_AMP_PATH.sub("", path) or "/") + query


def _unmarked(url: SubmittableUrl) -> tuple[str, str]:
    """Return site and target without AMP's marks and a final slash."""
    return _site(url), _stripped(url.target).rstrip("/")
