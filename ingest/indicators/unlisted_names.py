"""Find names of malware that no list has by what is said beside them, in points: `infected with Reedpipe`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, islice
from typing import Final, NamedTuple

from ingest.indicators.edges import Edge
from ingest.indicators.evidence import Evidence
from ingest.indicators.late import late
from ingest.indicators.name_rows import NameRow, name_rows, part, points_enough, points_least, sign, words_of_sign
from ingest.indicators.piece_search import Places, start_of_word
from ingest.indicators.plain_words import is_known_word, is_of_a_people, is_plain_word
from ingest.indicators.verdict import sum_of
from intel.names import malware_name, malware_names, spelling_key
from intel.refanging import places_of

PIECES: Final = tuple(dict.fromkeys(chain.from_iterable(row.pieces for row in name_rows())))

_LABELLED: Final = "stands in a field, column or list of malware"
_IN_SERIES: Final = "stands in a series of malware"
_NOTHING: Final[Evidence] = (0, "")
_MOST_PLACES: Final = 200
_MOST_OF_A_NAME: Final = 10
_MOST_NAMES: Final = 200
_MOST_LOOKED_AT: Final = 100
_REACH: Final = 70
_REACH_AHEAD: Final = 120
_REACH_OF_A_TOPIC: Final = 400
_REACH_OF_A_TITLE: Final = 160
_LONGEST_COMPOUND: Final = 16
_LONGEST_LINE: Final = 160
_FEWEST_WORDS: Final = 3

_OF_CODE: Final = frozenset("$_./\\@")
# `$code-font-family: `, behind what is no compound.
_IN_CODE: Final = late(r"[a-z0-9_-]-\Z")
_COMPOUND: Final = late(r"(?<![\w-])[a-z]{2,14}-\Z")
# `Trojan Horse Detected`: what goes on with a capital is the beginning of something longer.
_GOES_ON: Final = late(rf"[\"'*_`]{{0,2}} (?!(?i:{part('kinds')})\b)[A-Z]")
_KIND: Final = late(rf"(?i:{part('kinds')}|{part('kinds_of_german')})")
# `a Stolen Backdoor Rising Again`.
_TITLE: Final = late(r"\w+ [A-Z][a-z]")
_LETTER: Final = late(r"[^\W\d_]")
_MAY_BEGIN_A_NAME: Final = late(r"[^\W\d_a-zà-öø-ÿа-яё]|[\"'`\u2018\u201c\u201e\u00ab\u300c\u300a\u300e]")
_WORD_BEFORE: Final = late(
    r"([\w'\u2019.-]*[\w.:!?)])[\"'*_`\u201c\u00ab(\[]{0,3}[^\S\n][\"'*_`\u2018\u201c\u201e\u00ab]{0,3}\Z"
)
_ENDS_A_SENTENCE: Final = frozenset(".!?:")
_CAPITALISED: Final = late(r"[A-Z][\w-]+")
_WORDS: Final = late(r"[A-Za-z][\w'\u2019-]{3,}")
_TWO_CAPITALS: Final = late(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]|[A-Z0-9]{6}|[A-Za-z][0-9][A-Za-z]")
_LAST_OF_A_NAME: Final = late(r"\b([A-Z][A-Za-z0-9]{2,20})[ -]\Z")
_FIRST_WORD: Final = late(r"[A-Za-z]{3,12}\b")
# `SOC104`, `INC-2231`: the number of a case.
_OF_A_CASE: Final = late(r"[A-Z]{2,8}[-_]?[0-9]{2,6}")
_MALWARE: Final = late(f"(?i:{part('malware')})")
_OF_A_SAMPLE: Final = late(f"(?i:{part('samples')})")
_REACH_OF_A_SAMPLE: Final = 250
_NOT_MALWARE: Final = late(f"(?i:{part('not_malware')})")
# `the group behind the malware`: it is the group that gets the name.
_WITH: Final = late(
    r"[^.!?]{0,20} (?:behind|using|us(?:es|ed)|deploy\w*|operat\w*|of|with|hinter|derrière|detrás|dietro|за)"
    r" [^.!?]{0,12}"
)


class _Mention(NamedTuple):
    """A name beside which a row speaks, where it stands, and what that gives."""

    name: str
    start: int
    points: int


def unlisted_names(
    text: str, places: Places, labelled: Iterable[str], in_series: Iterable[str] = ()
) -> dict[str, list[Evidence]]:
    """Return the names for which enough is said in a text with what speaks for each, in the order of the rows.

    `places`: where the `PIECES` stand; `labelled`: names that a field, column or list calls malware; `in_series`: those
    that stand beside names of malware.
    """
    said: dict[str, dict[str, Evidence]] = {}
    again: dict[str, None] = {}
    starts: dict[tuple[str, str], int] = {}
    for name in labelled:
        said.setdefault(name, {})[_LABELLED] = sign(_LABELLED)
    for name in in_series:
        said.setdefault(name, {})[_IN_SERIES] = sign(_IN_SERIES)
    for group in _groups():
        for row, mention in _mentions(text, places, group):
            _note(said.setdefault(mention.name, {}), row, mention.points)
            if (
                mention.points == row.points
                and starts.setdefault((mention.name, row.id), mention.start) != mention.start
            ):
                again[mention.name] = None
    weighed = ((name, _evidence(text, name, found, again)) for name, found in islice(said.items(), _MOST_NAMES))
    return {name: evidence for name, evidence in weighed if sum_of(evidence) >= points_enough()}


def _note(said: dict[str, Evidence], row: NameRow, points: int) -> None:
    """Add to what was said of a name what a row says, unless one of its group said as much."""
    if points > said.get(row.group, _NOTHING)[0]:
        said[row.group] = points, row.id


class _Group:
    """Rows that are found by the same `pieces`: each place of one is looked at once for all of them.

    `before` and `behind` tell which of them what stands right there rules out.
    """

    def __init__(self, pieces: tuple[str, ...], rows: list[NameRow]) -> None:
        self.pieces = pieces
        self.before, self.behind = Edge(is_before=True), Edge(is_before=False)
        self.rows = [
            (
                row,
                self.behind.bit_of(row.said.pattern),
                self.before.bit_of(row.before.pattern if row.before else r"\Z"),
            )
            for row in rows
        ]


@cache
def _groups() -> tuple[_Group, ...]:
    found: dict[tuple[str, ...], list[NameRow]] = {}
    for row in name_rows():
        found.setdefault(row.pieces, []).append(row)
    return tuple(_Group(pieces, rows) for pieces, rows in found.items())


def _mentions(text: str, places: Places, group: _Group) -> Iterator[tuple[NameRow, _Mention]]:
    asked = -1
    times: dict[tuple[str, str], int] = {}
    standing = [piece for piece in group.pieces if piece in places]
    for place in chain.from_iterable(places[piece][:_MOST_PLACES] for piece in standing):
        start = _start_of_words(text, place)
        beside = text[start - 1 : start]
        if start == asked or beside in _OF_CODE or (beside == "-" and _IN_CODE.search(text, max(0, start - 2), start)):
            continue
        asked = start
        behind = group.behind.at(text, start)
        before = behind and group.before.at(text, start)
        rows = [row for row, said, led in group.rows if behind & said and before & led] if before else ()
        for row, mention in _said_at(text, start, rows) if rows else ():
            key = mention.name, row.id
            times[key] = times.get(key, 0) + 1
            if times[key] <= _MOST_OF_A_NAME:
                yield row, mention


def _start_of_words(text: str, place: int) -> int:
    """Return where the word begins of which a piece stands there, or the compound: `info-stealer`."""
    start = start_of_word(text, place) if text[place].isalpha() else place
    if text[start - 1 : start] != "-":
        return start
    compound = _COMPOUND.search(text, max(0, start - _LONGEST_COMPOUND), start)
    return compound.start() if compound else start


def _said_at(text: str, start: int, rows: Sequence[NameRow]) -> Iterator[tuple[NameRow, _Mention]]:
    """Yield the rows whose words begin at `start`, each with the name beside them."""
    first = max(0, start - _REACH)
    line = text.rfind("\n", first, start) + 1 or first
    before = text[line:start]
    holds_name = _MAY_BEGIN_A_NAME.search(before) is not None
    for row in rows:
        if row.across:
            first = max(0, start - _REACH_OF_A_TITLE)
            yield from _named_by(row, text, first, text[first:start], start)
        elif holds_name or not row.is_behind:
            yield from _named_by(row, text, line, before, start)


def _named_by(row: NameRow, text: str, first: int, before: str, start: int) -> Iterator[tuple[NameRow, _Mention]]:
    """Yield a row with the name that its words at `start` stand beside, if they do; `before` begins at `first`."""
    if row.until and start > row.until:
        return
    said = row.said.match(text, start, start + _REACH_AHEAD)
    if said is None:
        return
    led = row.before.search(before) if row.before else None
    if row.before and led is None:
        return
    if row.is_behind:
        assert led is not None  # noqa: S101 - a row whose words stand behind has the name before them
        name, at, end = led["name"], first + led.start("name"), first + led.end("name")
    else:
        name, at, end = said["name"], said.start("name"), said.end("name")
        if _ends_a_name(text, before, start):
            return
    families = [found["family"] for found in (led, said) if found and "family" in found.re.groupindex]
    if _has_what_it_asks(row, text, start, end, (*families, name) if row.listed else families) and (
        not row.of_malware or _is_of_malware(text, start, at, end)
    ):
        yield row, _Mention(name, at, _points_of(row, text, at, end, start))


def _has_what_it_asks(row: NameRow, text: str, start: int, end: int, listed: Iterable[str]) -> bool:
    """Tell whether a row has what else it asks for: its line, names of the lists, a sample nearby."""
    if row.line and not row.line.search(_line_around(text, start)):
        return False
    if any(spelling_key(name) not in malware_names().families for name in listed):
        return False
    near = max(0, start - _REACH_OF_A_SAMPLE), end + _REACH_AHEAD
    return not row.of_a_sample or _OF_A_SAMPLE.search(text, *near) is not None


def _ends_a_name(text: str, before: str, start: int) -> bool:
    """Tell whether the kind of malware at `start` ends a name of the lists: `WarZone RAT`, before `OALABS`."""
    word, kind = _LAST_OF_A_NAME.search(before), _FIRST_WORD.match(text, start)
    return word is not None and kind is not None and spelling_key(word[1] + kind[0]) in malware_names().families


def _line_around(text: str, place: int) -> str:
    first = text.rfind("\n", max(0, place - _LONGEST_LINE), place) + 1 or max(0, place - _LONGEST_LINE)
    end = text.find("\n", place, place + _LONGEST_LINE)
    return text[first : end if end >= 0 else place + _LONGEST_LINE]


def _is_of_malware(text: str, said: int, at: int, end: int) -> bool:
    """Tell whether the words around a name that somebody gives speak of a kind of malware, and not of a group."""
    between = text[said:at] if at > said else ""
    if _NOT_MALWARE.search(between):
        return False
    if _MALWARE.search(between):
        return True
    before = text[max(0, min(said, at) - _REACH_OF_A_TOPIC) : min(said, at)]
    kinds, others = list(_MALWARE.finditer(before)), list(_NOT_MALWARE.finditer(before))
    if kinds and (not others or others[-1].start() < kinds[-1].start()):
        return not others or _WITH.fullmatch(before, others[-1].end(), kinds[-1].start()) is None
    return not others and _MALWARE.search(text, end, end + _REACH_AHEAD // 2) is not None


def _evidence(text: str, name: str, said: dict[str, Evidence], again: dict[str, None]) -> list[Evidence]:
    """Return what was said of a name, with what its spelling says; nothing where that cannot be enough."""
    evidence = [*said.values()]
    if sum_of(evidence) < points_least() or _OF_A_CASE.fullmatch(name):
        return []
    if _LABELLED not in said:
        if any(map(is_known_word, name.split("-"))):
            return [*evidence, sign("known word, product or vendor")]
        if is_of_a_people(name):
            evidence.append(sign("ends as names of peoples do"))
    if malware_name(name) is None:
        evidence += _of_its_spelling(name)
    if name in again:
        evidence.append(sign("said of it again"))
    proper = sign("written as a name within a sentence")
    if points_enough() - proper[0] <= sum_of(evidence) < points_enough() and _is_proper(text, name):
        evidence.append(proper)
    is_family = spelling_key(name) in malware_names().families
    if sum_of(evidence) >= points_enough() and not is_family and is_written_small(text, name):
        evidence.append(sign("written small as well"))
    return evidence


def _of_its_spelling(name: str) -> Iterator[Evidence]:
    if _TWO_CAPITALS.search(name):
        yield sign("made-up spelling")
        if words_of_sign("ends in a kind of malware").search(name):
            yield sign("ends in a kind of malware")
    elif words_of_sign("ends as adjectives do").search(name):
        yield sign("ends as adjectives do")


def is_written_small(text: str, name: str) -> bool:
    """Tell whether a name stands in small letters too, as a word of a sentence: then it is one."""
    if name == name.lower():
        return False
    for place in islice(places_of(text, name.lower()), _MOST_LOOKED_AT):
        before, after = text[max(0, place - 1) : place], text[place + len(name) : place + len(name) + 1]
        if (not before or before in " \n(\"'") and (not after or after in " \n,.;:)\"'"):
            return True
    return False


def _is_proper(text: str, name: str) -> bool:
    """Tell whether a word that comes again stands in the middle of a sentence with its capital."""
    places = list(islice(places_of(text, name), _MOST_LOOKED_AT // 5))
    if not name[0].isascii():
        return len(places) > 1  # letters without capitals
    return len(places) > 1 and any(_begins(text, place) is False and not _is_loud(text, place) for place in places)


def _points_of(row: NameRow, text: str, first: int, last: int, said: int) -> int:
    """Return what the words of a row at `said` give to the name at `first:last`."""
    if not row.is_behind and _GOES_ON.match(text, last):
        return 0
    if row.points == row.at_the_beginning:
        return row.points
    begins = _begins(text, first if row.is_behind else said)
    if row.is_behind and begins is None:
        return 0
    # The words have a capital of their own: before a name, or with another capitalised word behind them.
    is_title = text[said : said + 2].istitle() and (not row.is_behind or _TITLE.match(text, said) is not None)
    return row.at_the_beginning if begins or is_title or _is_loud(text, said) else row.points


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
    is_apart = is_plain_word(word) and (_begins_itself(text, before.start(1)) or _KIND.fullmatch(word))
    return False if is_apart else None


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
