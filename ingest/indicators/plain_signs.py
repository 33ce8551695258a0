"""Read past what typesetters and scripts without blanks put around an indicator, without moving a character."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ingest.indicators.late import late
from ingest.indicators.token_candidate import TokenCandidate
from intel.refanging import DOT, MARKS
from intel.suffixes import is_top_level

VERSION: Final = "version number"
# `the domains-`: words that announce what comes after a dash.
ANNOUNCING: Final = frozenset(
    {
        "domain", "domains", "url", "urls", "uri", "uris", "ip", "ips", "host", "hosts", "hostname", "hostnames",
        "server", "servers", "c2", "c2s", "cnc", "ioc", "iocs", "indicator", "indicators", "address", "addresses",
        "site", "sites", "website", "websites", "link", "links", "panel", "panels", "payload", "payloads", "malware",
        "phishing", "network", "infrastructure", "email", "emails", "sender", "from", "to", "at", "is", "are", "and",
        "or", "see", "here", "below", "following", "include", "includes", "including", "list", "listed",
    }
)  # fmt: skip

# Han, kana and Hangul: what is written in them has no blanks around a word in Latin letters.
_LETTERS: Final = (
    "\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f"
)
_SIGNS: Final = (
    "\u3001-\u3003\u3008-\u3011\u3014-\u301f\u30fb\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f\uff3b\uff3d\uff5b-\uff65"
)
_HYPHENS: Final = "\u2010\u2011"
_DASHES: Final = "\u2012\u2013\u2212"
_FIGURES: Final = "\u00b2\u00b3\u00b9\u2070\u2074-\u2079\u2080-\u2089\u2020\u2021"
_WIDE: Final = late(f"(?P<letters>[{_LETTERS}]++)|[{_SIGNS}]++")
_ODD: Final = late(f"[{_HYPHENS}{_DASHES}{_FIGURES}]")
_HYPHEN: Final = late(f"(?a:(?<=[A-Za-z0-9])[{_HYPHENS}](?=[A-Za-z0-9]))")
# `evil\u2013node[.]com`: a name in small letters from its first sign on, and no first of two hosts.
_DASH: Final = late(
    rf"(?:(?<![^\s'\"(\[/@])|(?<={DOT}))(?=[0-9-]*[a-z])(?P<name>[a-z0-9-]{{1,63}}+)[{_DASHES}](?=[a-z0-9-]{{1,63}}+{DOT})"
)
_TOP_AT_END: Final = late(rf"[.{DOT}]([A-Za-z]{{2,24}})\Z")
_GOES_ON: Final = late(rf"[\w-]{{1,63}}+(?:\.\w|{DOT})")
_FOOTNOTE: Final = late(rf"[{_FIGURES}]{{1,4}}+(?![\w@{MARKS}-]|\.\w)")
_DOTTED: Final = late(f"[.{MARKS}]")
_AFTER_A_HOST: Final = frozenset(f".@{DOT}")
# What follows a word of one letter behind a URL: `（http://evil.example/api/上）`.
_ENDS_PROSE: Final = frozenset(("", "\uff09", "\u3002", "\uff0c", "\u3001", ")"))
_BEFORE_A_PART: Final = frozenset(f"/=&?.-_%{MARKS}")
# What Japanese and Korean put after a name, and Chinese, Japanese and Korean beside the number of a version.
_PARTICLE: Final = late("[にへをがはでとの]|から|まで|(?:에서|에|으로|로|를|을|은|는|이|가|의|와|과)\\Z")
_BEFORE_A_VERSION: Final = late(
    "(?:版本号?|固件|内核|バージョン|ファームウェア|버전|펌웨어|(?:升级|更新|修复)[到至于])[为は是:：]?\\s?\\Z"
)
_AFTER_A_VERSION: Final = late("版|バージョン|버전|[及和]?(?:以前|之前|以下|以上|以降|更早)|より前|未満|이전|이하|미만")
_LONGEST_WORD: Final = 12


def in_plain_signs(token: str) -> str:
    """Return a token that is not ASCII with hyphens for typographic ones, and blanks for footnote figures and for
    prose.
    """
    if _ODD.search(token):
        token = _DASH.sub(_with_dash_as_hyphen, _HYPHEN.sub(_with_hyphen, token))
        token = _FOOTNOTE.sub(_blank, token)
    return _without_prose(token) if _WIDE.search(token) else token


def pieces_between(token: str, readings: Sequence[TokenCandidate]) -> list[tuple[int, str]]:
    """Return what a token without blanks between its words says beside its `readings`, with its place."""
    pieces: list[tuple[int, str]] = []
    if len(token) - (readings[0].end - readings[0].start) < 3 or not (
        "," in token or ";" in token or "|" in token or _WIDE.search(token)
    ):
        return pieces
    position = 0
    for reading in readings:
        if reading.start - position > 2:
            pieces.append((position, token[position : reading.start]))
        position = max(position, reading.end)
    if len(token) - position > 2:
        pieces.append((position, token[position:]))
    return pieces


def with_versions_told(token: str, readings: list[TokenCandidate]) -> list[TokenCandidate]:
    """Return `readings` in which an address that the words right beside it make a version is no address."""
    return [
        reading._replace(objection=VERSION)
        if reading.type == "ip"
        and not reading.defanged
        and not reading.source
        and (
            _BEFORE_A_VERSION.search(token, max(0, reading.start - _LONGEST_WORD), reading.start)
            or _AFTER_A_VERSION.match(token, reading.end)
        )
        else reading
        for reading in readings
    ]


def _with_hyphen(match: re.Match[str]) -> str:
    """Return a hyphen, unless the name of a host ends before it: `evil[.]com\u2011based`."""
    text, (start, end) = match.string, match.span()
    top = _TOP_AT_END.search(text, max(0, start - 26), start)
    return match[0] if top and is_top_level(top[1].lower()) and not _GOES_ON.match(text, end) else "-"


def _with_dash_as_hyphen(match: re.Match[str]) -> str:
    follows_a_dot = match.string[match.start() - 1 : match.start()] == DOT
    apart = match["name"] in ANNOUNCING or (follows_a_dot and is_top_level(match["name"]))
    return match[0] if apart else match["name"] + "-"


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _without_prose(token: str) -> str:
    pieces: list[str] = []
    position = 0
    dotted = False
    for run in _WIDE.finditer(token):
        start, end = run.span()
        between = token[position:start]
        dotted = dotted or _DOTTED.search(between) is not None
        pieces.append(between)
        if run["letters"] and _is_part(run["letters"], token[start - 1 : start], token[end : end + 1], dotted):
            pieces.append(run[0])
        else:
            pieces.append(" " * (end - start))
            dotted = False
        position = end
    pieces.append(token[position:])
    return "".join(pieces)


def _is_part(letters: str, before: str, after: str, dotted: bool) -> bool:
    """Tell whether letters that stand between two signs are part of a host or URL; `dotted`: a dot stands before
    them.
    """
    if "-" in (before, after):
        return True
    if _is_plain(before):
        return False
    if before in _BEFORE_A_PART and dotted:
        return before != "/" or not (_PARTICLE.match(letters) or (len(letters) == 1 and after in _ENDS_PROSE))
    return not _is_plain(after) and (not dotted or after in _AFTER_A_HOST)


def _is_plain(sign: str) -> bool:
    return sign.isascii() and sign.isalnum()
