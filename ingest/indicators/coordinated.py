"""Find names that stand in a series with names of malware: `families such as Emotet, Reedpipe and Locky`."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

from ingest.indicators.late import late
from ingest.indicators.malware import JudgedMalware
from ingest.indicators.plain_words import is_plain_word
from ingest.indicators.vocabulary import pieces
from intel.names import malware_name, malware_names, spelling_key

MOST_SERIES: Final = 200
_MOST_ITEMS: Final = 12
_FEWEST_KNOWN: Final = 2
_REACH: Final = 48

_NAME: Final = (
    r"[*_`\"'\u201c\u00ab]{0,2}(?P<name>[A-Z][A-Za-z0-9]{2,23}(?: [A-Z][A-Za-z0-9]{2,16})?)"
    r"[*_`\"'\u201d\u00bb]{0,2}"
)
_LAST: Final = pieces("malware", "series_ends")
_JOINT: Final = rf"(?:,(?: (?:{_LAST}))? ?| (?:{_LAST}) |{pieces('malware', 'series_signs')})"
_NEXT: Final = late(rf"[*_`\"'\u201d\u00bb]{{0,2}}{_JOINT}{_NAME}(?a:(?![\w@\\/-]|[.:]\w))(?! [A-Z])")
_BEFORE: Final = late(rf"(?a:(?<![\w@.\\/#-])){_NAME}{_JOINT}[*_`]{{0,2}}\Z")
# What a series is led in by, or ends with: `ransomware families such as`, `gibi fidye yazılımları`.
_LED_IN: Final = late(rf"(?i)(?:{pieces('malware', 'series_led_in')})[*_`\"'\u201c\u00ab]{{0,2}}\Z")
_FOLLOWED: Final = late(rf"(?i)[*_`\"'\u201d\u00bb]{{0,2}}(?:{pieces('malware', 'series_followed')})")


def names_in_series(text: str, judged: list[JudgedMalware]) -> Iterator[str]:
    """Yield the names that no list has of each series that two names of malware stand in, or one and words for it."""
    known = [(sighting.start, sighting.end) for sighting, verdict in judged if verdict.kept]
    starts = [start for start, _ in known]
    past = 0
    for start, end in known[:MOST_SERIES]:
        if start < past:
            continue
        first, before = _walked_back(text, start)
        past, behind = _walked_on(text, end)
        others = [name for name in (*before, *behind) if _may_be_one(name)]
        if not others or any(map(_is_something_else, (*before, *behind))):
            continue
        count = bisect_left(starts, past) - bisect_left(starts, first)
        is_led_in = _LED_IN.search(text, max(0, first - _REACH), first) or _FOLLOWED.match(text, past, past + _REACH)
        if count >= _FEWEST_KNOWN or is_led_in:
            yield from others


def _walked_on(text: str, end: int) -> tuple[int, list[str]]:
    """Return where the series ends that goes on at `end`, and what stands in it."""
    names: list[str] = []
    for _ in range(_MOST_ITEMS):
        following = _NEXT.match(text, end, end + _REACH)
        if following is None:
            break
        names.append(following["name"])
        end = following.end()
    return end, names


def _walked_back(text: str, start: int) -> tuple[int, list[str]]:
    """Return where the series begins that leads up to `start`, and what stands in it."""
    names: list[str] = []
    for _ in range(_MOST_ITEMS):
        leading = _BEFORE.search(text, max(0, start - _REACH), start)
        if leading is None:
            break
        names.append(leading["name"])
        start = leading.start("name")
    return start, names


def _may_be_one(name: str) -> bool:
    names, key = malware_names(), spelling_key(name)
    return key not in names.families or key in names.ordinary


def _is_something_else(name: str) -> bool:
    return malware_name(name) is None and any(map(is_plain_word, (name, *name.split(" "))))
