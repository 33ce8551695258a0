"""Tell what a list holds, by the items above and below one that could be either."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, Literal

from ingest.indicators import noise
from ingest.indicators.sightings import Sighting
from ingest.indicators.token_candidate import TokenCandidate

ListContext = Literal["hosts", "packages", ""]

FARTHEST_NEIGHBOUR: Final = 6
WIDEST_GAP: Final = 24
WIDEST_ROW: Final = 200

ASKED_FOR_LIST_CONTEXT: Final = frozenset({"domain", "url"})
_HOSTS: Final = frozenset({"domain", "url", "ip"})
_WIDEST_EDGE: Final = 8
_BEFORE_AN_ITEM: Final = " \t|*`-"
_PACKAGE: Final = re.compile(r"[ \t|*`-]{0,8}(?:com|org|android)(?:\.[A-Za-z]\w{0,40}){2}")
_QUOTES: Final = "\"'`\u201c\u2018\u00ab\u300c"
_BEHIND_A_QUOTED_VALUE: Final = "\"'`\u201d\u2019\u00bb\u300d:"
_BETWEEN_QUOTED: Final = re.compile(
    r"(?::\d{1,5})?[\"'`\u201d\u2019\u00bb\u300d]\s?(?:[,;\u3001]|v\u00e0|and|y|et|e|und|\u0438)\s{0,8}[\"'`\u201c\u2018\u00ab\u300c]"
)
_WORD: Final = re.compile(r"[^\W_]")


def list_context_of(text: str, seen: list[Sighting], index: int) -> ListContext:
    """Return what else the list holds that `seen[index]` is an item of: certain hosts, or names of packages.

    It tells something of what may be no host, and of a URL or host that nobody defanged: of a URL where anyone may put
    anything, and of a name of three labels or more.
    """
    reading = seen[index][0]
    if _is_quoted_beside_a_sure_host(text, seen, index):
        return "hosts"
    if reading.objection or (reading.type == "url" and noise.holds_anything(reading.host)):
        return "hosts" if _in_company(text, seen, index) else ""
    if reading.type == "domain" and _follows_a_sure_host(text, seen, index):
        return "hosts"
    if reading.type == "domain" and reading.value.count(".") > 1:
        return "packages" if _among_packages(text, seen[index][1]) else ""
    return ""


def _is_quoted_beside_a_sure_host(text: str, seen: list[Sighting], index: int) -> bool:
    """Tell whether an address or a defanged host stands in the row of quoted values that this one stands in, with
    nothing between them but quotes and commas: `"gale.example", "198[.]51[.]100[.]7:8041"`.
    """
    _, start, end = seen[index]
    if text[start - 1 : start] not in _QUOTES or not start or text[end : end + 1] not in _BEHIND_A_QUOTED_VALUE:
        return False
    return _reaches(text, seen, index, _stands_quoted_next, _is_a_sure_host)


def _follows_a_sure_host(text: str, seen: list[Sighting], index: int) -> bool:
    """Tell whether an address or a defanged host stands alone on the line right above or below, as this host does."""
    for other in (index - 1, index + 1):
        if not 0 <= other < len(seen):
            continue
        there, here = seen[other], seen[index]
        reading = there[0]
        if reading.source or not _is_a_sure_host(reading):
            continue
        first, second = (there, here) if other < index else (here, there)
        if second[1] - first[2] > WIDEST_GAP:
            continue
        alone = text[max(0, first[1] - 1) : first[1]] in ("", "\n")
        if alone and text[first[2] : second[1]] == "\n" and text[second[2] : second[2] + 1] in ("", "\n"):
            return True
    return False


def _among_packages(text: str, start: int) -> bool:
    """Tell whether the row right above or below begins with the name of a package, as this one begins with a name."""
    row = text.rfind("\n", max(0, start - _WIDEST_EDGE), start) + 1
    if not row or text[row:start].strip(_BEFORE_AN_ITEM):
        return False
    above = text.rfind("\n", max(0, row - WIDEST_ROW), row - 1) + 1
    below = text.find("\n", start, start + WIDEST_ROW) + 1
    return any(next_row and _PACKAGE.match(text, next_row) for next_row in (above, below))


def _in_company(text: str, seen: list[Sighting], index: int) -> bool:
    """Tell whether the list that `seen[index]` is an item of also holds a certain host."""
    near = seen[max(0, index - FARTHEST_NEIGHBOUR) : index + FARTHEST_NEIGHBOUR + 1]
    if not any(_is_a_host(reading) for reading, _, _ in near):
        return False
    return _reaches(text, seen, index, _stands_next, _is_a_host)


def _is_a_host(reading: TokenCandidate) -> bool:
    return not reading.objection and reading.type in _HOSTS and not noise.is_known_host(reading.host or reading.value)


def _is_a_sure_host(reading: TokenCandidate) -> bool:
    return (reading.defanged or reading.type == "ip") and _is_a_host(reading)


def _reaches(
    text: str,
    seen: list[Sighting],
    index: int,
    stands_next: Callable[[str, int, int], bool],
    is_one: Callable[[TokenCandidate], bool],
) -> bool:
    """Tell whether one of those is among the items right below or above `seen[index]` that stand next to another."""
    return any(_reaches_one(text, seen, index, step, stands_next, is_one) for step in (1, -1))


def _reaches_one(
    text: str,
    seen: list[Sighting],
    index: int,
    step: int,
    stands_next: Callable[[str, int, int], bool],
    is_one: Callable[[TokenCandidate], bool],
) -> bool:
    here = seen[index]
    for other in range(index + step, index + step * (FARTHEST_NEIGHBOUR + 1), step):
        if not 0 <= other < len(seen):
            return False
        there = seen[other]
        if there[0].source:
            continue  # within the one that it is the host of
        (_, _, end), (_, start, _) = (here, there) if step > 0 else (there, here)
        if not stands_next(text, end, start):
            return False
        if is_one(there[0]):
            return True
        here = there
    return False


def _stands_quoted_next(text: str, end: int, start: int) -> bool:
    """Tell whether only quotes and a comma separate two values."""
    return 0 <= start - end <= WIDEST_GAP and _BETWEEN_QUOTED.fullmatch(text, end, start) is not None


def _stands_next(text: str, end: int, start: int) -> bool:
    """Tell whether only list markers separate two items on lines of their own."""
    if end > start:
        return True
    return start - end <= WIDEST_GAP and "\n" in text[end:start] and not _WORD.search(text, end, start)
