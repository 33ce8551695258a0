"""Find names of malware that no list has by what is said right beside them, in points: `infected with Reedpipe`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from itertools import chain, islice
from typing import Final, NamedTuple

from ingest.indicators.evidence import Evidence
from ingest.indicators.late import late
from ingest.indicators.piece_search import Places, start_of_word
from ingest.indicators.plain_words import is_plain_word
from ingest.indicators.verdict import sum_of
from ingest.indicators.vocabulary import pieces
from intel.names import malware_name
from intel.refanging import places_of

ENOUGH: Final = 3
_LEAST: Final = 2
_MOST_PLACES: Final = 200
_MOST_OF_A_NAME: Final = 10
_MOST_NAMES: Final = 200
_NAME: Final = r"[A-Z](?=[A-Za-z0-9]{0,3}?[a-z0-9]*[a-z]{2}|[A-Z0-9]{4})[A-Za-z0-9]{2,23}"
# What may set a name off, on either side.
_OPEN: Final = "[\"'*_`\u2018\u201c\u201e\u00ab\\[]{0,3}"
_CLOSED: Final = "[\"'*_`\u2019\u201d\u201c\u00bb\\])]{0,3}"
_NAME_BEHIND: Final = late(rf" ?{_OPEN} ?(?P<name>{_NAME})(?![\w@\\]|[./-]\w)")
_NAME_JOINED: Final = late(rf"(?P<name>{_NAME})(?!\w)")
_NAME_BEFORE: Final = late(rf"(?<![\w@./\\#$%-])(?P<name>{_NAME}){_CLOSED}(?:[\u2019']s)?[ -]\Z")
# `Trojan Horse Detected`: what goes on with a capital is the beginning of something longer.
_GOES_ON: Final = late(rf"[\"'*_`]{{0,2}} (?!(?i:{pieces('plain', 'kinds')})\b)[A-Z]")
# `a Stolen Backdoor Rising Again`.
_TITLE: Final = late(r"\w+ [A-Z][a-z]")
_LETTER: Final = late(r"[^\W\d_]")
_WORD_BEFORE: Final = late(
    r"([\w'\u2019.-]*[\w.:!?)])[\"'*_`\u201c\u00ab(\[]{0,3}[^\S\n][\"*_`\u2018\u201c\u201e\u00ab]{0,3}\Z"
)
_ENDS_A_SENTENCE: Final = frozenset(".!?:")
_CAPITALISED: Final = late(r"[A-Z][\w-]+")
_WORDS: Final = late(r"[A-Za-z][\w'\u2019-]{3,}")
_AS_ADJECTIVES_END: Final = late(r"(?:ed|ing|ive|al|able|ible|ous|ic|ful|less|ly|ion|ment|ity|ness|ance|ence|ware)s?\Z")
_TWO_CAPITALS: Final = late(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]|[A-Z0-9]{6}|[A-Za-z][0-9][A-Za-z]")
_OF_CODE: Final = frozenset("$_./\\@-")
_MADE_UP: Final = (1, "made-up spelling")
_PROPER: Final = (1, "written as a name within a sentence")
_AS_AN_ADJECTIVE: Final = (-2, "ends as adjectives do")
# What the spelling of a name says, for the person who asks.
OF_SPELLING: Final = {
    _MADE_UP[1]: "It is spelled as made-up names are.",
    _PROPER[1]: "It keeps its capital in the middle of a sentence.",
    _AS_AN_ADJECTIVE[1]: "It ends as adjectives and nouns of everyday language do.",
}
_MOST_LOOKED_AT: Final = 20
_LONGEST_LINE: Final = 160
_FEWEST_WORDS: Final = 3
_REACH: Final = 60


class NameRow(NamedTuple):
    """A row of the table: what stands `is_behind` the name or before it, and what that says for the name.

    `at_the_beginning`: its points where the name has its capital for another reason; `is_joined`: no blank parts them.
    """

    id: str
    points: int
    at_the_beginning: int
    is_behind: bool
    is_joined: bool
    pieces: tuple[str, ...]
    words: re.Pattern[str]
    reason: str
    example: str
    value: str


@cache
def rows() -> tuple[NameRow, ...]:
    """Return the rows of `data/names.toml`."""
    kinds = pieces("plain", "kinds")
    text = (files("ingest.indicators") / "data" / "names.toml").read_text(encoding="utf-8")
    return tuple(
        NameRow(
            row["id"],
            row["points"],
            row["at_the_beginning"],
            row["side"] == "behind",
            row.get("joined", False),
            tuple(row["pieces"]),
            late(f"(?i:{row['words'].replace('{kinds}', kinds)})"),
            row["reason"],
            row["example"],
            row["value"],
        )
        for row in tomllib.loads(text)["row"]
    )


PIECES: Final = tuple(chain.from_iterable(row.pieces for row in rows()))


def unlisted_names(text: str, places: Places) -> dict[str, list[Evidence]]:
    """Return the names for which enough is said in a text with what speaks for each, in the order of the rows.

    `places`: where the `PIECES` stand.
    """
    found: dict[str, dict[str, int]] = {}
    for row in rows():
        for name, given in _said_by(row, text, places):
            said = found.setdefault(name, {})
            said[row.id] = max(given, said.get(row.id, 0))
    weighed = ((name, _evidence(text, name, said)) for name, said in islice(found.items(), _MOST_NAMES))
    return {name: evidence for name, evidence in weighed if sum_of(evidence) >= ENOUGH}


def _evidence(text: str, name: str, said: dict[str, int]) -> list[Evidence]:
    """Return what was said of a name, with what its spelling says; nothing where that cannot be enough."""
    evidence = [(points, id) for id, points in said.items() if points]
    if sum_of(evidence) < _LEAST or is_plain_word(name) or malware_name(name) is not None:
        return []
    if _TWO_CAPITALS.search(name):
        evidence.append(_MADE_UP)
    elif _AS_ADJECTIVES_END.search(name):
        evidence.append(_AS_AN_ADJECTIVE)
    if ENOUGH - _PROPER[0] <= sum_of(evidence) < ENOUGH and _is_proper(text, name):
        evidence.append(_PROPER)
    return evidence


def _is_proper(text: str, name: str) -> bool:
    """Tell whether a word that comes again stands in the middle of a sentence with its capital."""
    places = list(islice(places_of(text, name), _MOST_LOOKED_AT))
    return len(places) > 1 and any(_begins(text, place) is False and not _is_loud(text, place) for place in places)


def _said_by(row: NameRow, text: str, places: Places) -> Iterator[tuple[str, int]]:
    """Yield each name beside which the words of a row stand, and the points that they give there."""
    asked = -1
    times: dict[str, int] = {}
    for place in chain.from_iterable(places.get(piece, ())[:_MOST_PLACES] for piece in row.pieces):
        start = start_of_word(text, place)
        if start == asked:
            continue
        asked = start
        if text[start - 1 : start] in _OF_CODE and text[max(0, start - 5) : start].lower() != "info-":
            continue
        found = _name_before(row, text, start) if row.is_behind else _name_behind(row, text, start)
        if found is None:
            continue
        name = found["name"]
        times[name] = times.get(name, 0) + 1
        if times[name] <= _MOST_OF_A_NAME:
            yield name, _points_of(row, text, found.start("name"), found.end("name"), start)


def _name_before(row: NameRow, text: str, start: int) -> re.Match[str] | None:
    """Return the name right before the words of a row at `start`."""
    first = max(0, start - _REACH)
    found = _NAME_BEFORE.search(text, text.rfind("\n", first, start) + 1 or first, start)
    return found if found and row.words.match(text, start, start + _REACH) else None


def _name_behind(row: NameRow, text: str, start: int) -> re.Match[str] | None:
    """Return the name right behind the words of a row at `start`."""
    said = row.words.match(text, start, start + _REACH)
    pattern = _NAME_JOINED if row.is_joined else _NAME_BEHIND
    return pattern.match(text, said.end(), said.end() + _REACH) if said else None


def _points_of(row: NameRow, text: str, first: int, last: int, said: int) -> int:
    """Return what the words of a row at `said` give to the name at `first:last`."""
    begins = _begins(text, first if row.is_behind else said)
    is_part_of_a_name = begins is None if row.is_behind else _GOES_ON.match(text, last) is not None
    if is_part_of_a_name:
        return 0
    # The words have a capital of their own: before a name, or with another capitalised word behind them.
    is_title = text[said : said + 2].istitle() and (not row.is_behind or _TITLE.match(text, said) is not None)
    is_unsure = begins or is_title or _is_loud(text, said)
    return row.at_the_beginning if is_unsure and not row.is_joined else row.points


def _begins(text: str, start: int) -> bool | None:
    """Tell whether a word begins a sentence or a line; None where it goes on with a longer name."""
    before = _WORD_BEFORE.search(text, max(0, start - 30), start)
    if before is None or before[1][-1] in _ENDS_A_SENTENCE or not _LETTER.search(before[1]):
        return True
    word = before[1]
    if not _CAPITALISED.fullmatch(word) or word.endswith(("'s", "\u2019s")):
        return False
    if malware_name(text[before.start(1) : start] + text[start : start + _REACH].split(maxsplit=1)[0]):
        return None
    return False if is_plain_word(word) and _begins_itself(text, before.start(1)) else None


def _begins_itself(text: str, start: int) -> bool:
    before = _WORD_BEFORE.search(text, max(0, start - 30), start)
    return before is None or before[1][-1] in _ENDS_A_SENTENCE


def _is_loud(text: str, start: int) -> bool:
    """Tell whether most words of a line have a capital, as in titles; of a long one, of those near `start`."""
    lowest = max(0, start - _LONGEST_LINE)
    first = text.rfind("\n", lowest, start) + 1 or lowest
    end = text.find("\n", start, start + _LONGEST_LINE)
    words = _WORDS.findall(text, first, end if end >= 0 else start + _LONGEST_LINE)
    return len(words) >= _FEWEST_WORDS and sum(word[0].isupper() for word in words) * 5 >= len(words) * 4
