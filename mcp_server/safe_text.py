"""Make strangers' text safe to show a model: nothing invisible in it, nothing that becomes a link. Pure functions."""

from __future__ import annotations

import ipaddress
import re
import unicodedata

from intel.indicator_types import INDICATOR_TYPES

_LIVE_TYPES = frozenset(kind.name for kind in INDICATOR_TYPES if kind.defanging != "none")
_UNSEEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
# These show nothing though their category says mark, letter or symbol: fillers and variation selectors.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_ATTACK = re.compile(r"[Tt][Aa]?\d{4}(?:\.\d{3})?")
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,20})://([^/?#]*)(.*)", re.DOTALL)
_LINK = re.compile(r"(h)tt(ps?)(?=:)|(f)t(ps?)(?=://)", re.IGNORECASE)
_DOT = re.compile(r"\[?\.\]?")
_AT = re.compile(r"\[?@\]?")
_PROSE_DOT = re.compile(r"(?<=\w)\.(?=[^\W\d_]{2})")
_PROSE_IPV4 = re.compile(r"(?<!\d)\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?!\d)")
_PROSE_IPV6 = re.compile(r"(?<![\w:.])[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?![\w:])")


def cleaned(text: str, most: int) -> str:
    """Return the visible characters of `text` on one line, at most `most` of them.

    Control, bidirectional, zero-width and other invisible characters go; every run of white space is one space.
    """
    spaced = _UNSEEN.sub("", " ".join(text.split()))
    seen = "".join(mark for mark in spaced if unicodedata.category(mark) not in _UNSEEN_CATEGORIES)
    return cut(" ".join(seen.split()), most)


def cut(text: str, most: int) -> str:
    """Return `text`, or its beginning with an ellipsis, in at most `most` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def defanged(type: str | None, value: str) -> str:
    """Return `value` so that no client makes a link of it; `type` None means unknown. Twice gives the same as once.

    Example: `defanged("url", "https://evil.example/a")` is `hxxps://evil[.]example/a`.
    """
    if (type is not None and type not in _LIVE_TYPES) or (type is None and _ATTACK.fullmatch(value)):
        return value
    if url := _URL.fullmatch(value):
        scheme, authority, rest = url.groups()
        return _without_links(f"{scheme}://{_without_dots(authority)}{rest}")
    return value.replace(":", "[:]") if _is_ipv6(value) else _without_dots(_without_links(value))


def defanged_prose(text: str) -> str:
    """Return running text with its links, host names and addresses defanged; versions, decimals and times stay."""
    without_addresses = _PROSE_IPV4.sub(lambda found: found[0].replace(".", "[.]"), _without_links(text))
    without_addresses = _PROSE_IPV6.sub(
        lambda found: found[0].replace(":", "[:]") if _is_ipv6(found[0]) else found[0], without_addresses
    )
    return _PROSE_DOT.sub("[.]", without_addresses)


def _without_links(text: str) -> str:
    return _LINK.sub(lambda found: f"{found[1]}xx{found[2]}" if found[1] else f"{found[3]}x{found[4]}", text)


def _without_dots(text: str) -> str:
    return _AT.sub("[@]", _DOT.sub("[.]", text))


def _is_ipv6(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True
