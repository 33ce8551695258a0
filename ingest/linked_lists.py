"""Find the lists of indicators that a page links to; they are named, never fetched."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urljoin, urlsplit

import lxml.html

MOST_LISTS: Final = 20
LONGEST_LINK: Final = 500
_MOST_LINKS: Final = 5_000

_DATA: Final = re.compile(r"\.(?:csv|tsv|json|jsonl|ndjson|stix2?|misp|ioc|yara?)(?:\.(?:gz|zip|txt))?\Z", re.I)
# To read each link of a page costs more than all else that is asked of them.
_ENDING: Final = re.compile(r"\.(?:[ct]sv|n?d?jsonl?|stix2?|misp|ioc|yara?|txt|xlsx?|zip|gz|7z|xml|md)", re.I)
_TEXT: Final = re.compile(r"\.(?:txt|xlsx?|zip|gz|7z|xml|md)\Z", re.I)
_SPEAKS_OF_INDICATORS: Final = re.compile(r"(?i)(?<![a-z])iocs?(?![a-z])|indicators?")
_PLAIN: Final = re.compile(r"[!-~]+")


def linked_lists(tree: lxml.html.HtmlElement, url: str | None) -> tuple[str, ...]:
    """Return the addresses, in order, of at most 20 lists that links of the page lead to: known by their names'
    endings; plain texts and archives also need the word indicators or IOC.
    """
    found: dict[str, None] = {}
    for _, anchor in zip(range(_MOST_LINKS), tree.iter("a"), strict=False):
        href = anchor.get("href") or ""
        link = _absolute(href, url) if _ENDING.search(href) else None
        if link is not None and _is_list(link, anchor):
            found[link] = None
        if len(found) == MOST_LISTS:
            break
    return tuple(found)


def _is_list(link: str, anchor: lxml.html.HtmlElement) -> bool:
    path = urlsplit(link).path
    if _DATA.search(path):
        return True
    named = f"{path.rpartition('/')[2]} {' '.join((anchor.text_content() or '')[:300].split())}"
    return _TEXT.search(path) is not None and _SPEAKS_OF_INDICATORS.search(named) is not None


def _absolute(href: str, url: str | None) -> str | None:
    try:
        link = urljoin(url or "", href.strip()).partition("#")[0]
        parts = urlsplit(link)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname or len(link) > LONGEST_LINK:
        return None
    return link if _PLAIN.fullmatch(link) else None
