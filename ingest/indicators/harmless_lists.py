"""Find the lists and columns whose label calls what they hold no indicators: `Not IOCs:`, `| Legitimate domain |`."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import cache, partial
from itertools import chain, pairwise
from typing import Final, NamedTuple

from ingest.indicators.late import late
from ingest.indicators.piece_search import PieceSearch
from ingest.indicators.required_pieces import required_pieces
from ingest.indicators.spoken import Spoken
from ingest.indicators.vocabulary import pieces, table
from intel.refanging import DOT

HARMLESS_LIST: Final = "listed as no indicator"

_HARMLESS: Final = late(pieces("lists", "harmless"))
_VICTIM: Final = late(rf"(?:{pieces('lists', 'victims')})[:\uff1a]?")
# What goes on in the next line: `gale.example\u3001`.
_GOES_ON: Final = late(r"[,\uff0c\u3001]\s{0,3}\Z")
_POSING: Final = late(pieces("lists", "posing"))
_ACCUSED: Final = late(f"{pieces('lists', 'accused')}|{_POSING.pattern}")
_HARMLESS_SAID: Final = Spoken(table("lists", "harmless"), "")
_ABUSED: Final = late(pieces("lists", "abused"))
_FILES: Final = late(pieces("lists", "files"))
_LONGEST_LABEL: Final = 140
_LONGEST_TITLE: Final = 80
_LONGEST_ITEM: Final = 400
_MOST_LINES: Final = 300
_MOST_LABELS: Final = 100
_MOST_WORDS_OF_AN_ITEM: Final = 10
_MOST_WORDS_OF_A_HEAD: Final = 3
_FEWEST_CELLS: Final = 2
_MARKUP: Final = " \t*_`>"
_LINE: Final = late(
    r"(?P<indent>[ \t]*+)"
    r"(?P<marker>\*(?=\s?[^\s*])|[-+\u2022\u00b7\u25cf\u30fb\u2013](?=\s?\S)|\d{1,3}[.)](?= )|\|"
    r"|#{1,6}(?= )|={2,6}(?= ))?"
    r"(?P<said>[^\n]*+)"
)
_UNDERLINE: Final = late(r"-{3,}|={3,}|~{3,}")
_FENCE: Final = "```"
_COLONS: Final = (":", "\uff1a")
_END_OF_A_SENTENCE: Final = late(r"(?<=\w[.!?]) (?=[^\W\d_])")
# `falsepositives: [gale-post.com]`
_LABELLED: Final = late(r"(?P<label>[^:\uff1a.]{3,60})(?::(?=[\s\[\"'(])|\uff1a)\s*(?P<values>.+)")
_END_OF_VALUES: Final = late(r"[;\uff1b]|[.](?=\s|\Z)")
# A host, a number or a hash, which no title of a list holds.
_VALUE: Final = late(rf"\w(?:\.|{DOT}+)\w|://|@|[0-9a-fA-F]{{32}}")
_CELL_ENDS: Final = late(r"[\t|]")


class _Line(NamedTuple):
    start: int
    end: int
    indent: int
    marker: str
    said: str
    is_fence: bool

    @property
    def is_heading(self) -> bool:
        return self.marker[:1] in ("#", "=")

    @property
    def is_empty(self) -> bool:
        return not (self.said or self.marker)

    @property
    def has_value(self) -> bool:
        return _VALUE.search(self.said) is not None


class HarmlessLists:
    """The stretches of one text that a label calls no indicators."""

    def __init__(self, text: str) -> None:
        found = sorted(set(_stretches(text)))
        self._starts = [start for start, _, _ in found]
        self._stretches = found

    @property
    def are_any(self) -> bool:
        """Whether the text has such a list."""
        return bool(self._stretches)

    def hold(self, position: int, *, is_file: bool) -> bool:
        """Tell whether a place belongs to such a list or column; `is_file`: the hash of a file stands there, which is
        harmless also where an attack uses it as it is.
        """
        index = bisect_right(self._starts, position) - 1
        if index < 0:
            return False
        _, end, of_files = self._stretches[index]
        return position < end and (is_file or not of_files)


def _stretches(text: str) -> Iterator[tuple[int, int, bool]]:
    if "\n" not in text:
        return  # a label says something of what stands below it
    places = sorted(chain.from_iterable(_needed().places(text.lower()).values()))
    past, left = -1, _MOST_LABELS
    for place in places:
        if place <= past or not left:
            continue
        label = _line_at(text, text.rfind("\n", 0, place) + 1)
        past = label.end
        parted = _cells(text, label) if _CELL_ENDS.search(text, label.start, label.end) else []
        cells = (label.said, *(text[start:end].strip(_MARKUP) for start, end in parted))
        if any(_VICTIM.fullmatch(cell.lower()) for cell in cells):
            yield from _of_victims(text, label)
            continue
        label = label._replace(said=_END_OF_A_SENTENCE.split(label.said)[-1])
        if len(label.said) > _LONGEST_LABEL or not _HARMLESS_SAID.search(label.said.lower()):
            continue
        left -= 1
        if _CELL_ENDS.search(text, label.start, label.end):
            if _CELL_ENDS.search(text, text.rfind("\n", 0, max(0, label.start - 1)) + 1, label.start) is None:
                yield from ((start, end, False) for start, end in _columns(text, label))
        elif _is_label(text, label) and (calls_harmless(label.said) or _calls_files_harmless(label.said)):
            of_files = not calls_harmless(label.said)
            yield from ((start, end, of_files) for start, end in _items(text, label))
        elif (beside := _LABELLED.match(label.said)) and calls_harmless(beside["label"]):
            yield from _values_beside(text, label, beside["values"])


def _values_beside(text: str, line: _Line, values: str) -> Iterator[tuple[int, int, bool]]:
    """Yield the stretch of the values behind a label on its own line: `False positives: gale-post.com`."""
    values = _END_OF_VALUES.split(values)[0]
    words = [word for word in values.split() if _VALUE.search(word) is None]
    if not values.strip() or _ACCUSED.search(values.lower()) or len(words) > _MOST_WORDS_OF_AN_ITEM:
        return
    start = text.find(values, line.start, line.end)
    if start < 0:
        return
    yield start, start + len(values), False
    for below in _lines_below(text, line) if _GOES_ON.search(text, line.start, line.end) else ():
        if not below.has_value or below.said.endswith(_COLONS) or len(below.said.split()) > _MOST_WORDS_OF_AN_ITEM:
            return
        yield below.start, below.end, False
        if _GOES_ON.search(text, below.start, below.end) is None:
            return


def _of_victims(text: str, line: _Line) -> Iterator[tuple[int, int, bool]]:
    """Yield a row that is about a victim, or the list below the heading of victims."""
    if _CELL_ENDS.search(text, line.start, line.end) is None:
        if _is_label(text, line):
            yield from ((start, end, False) for start, end in _items(text, line))
    elif line.has_value or _CELL_ENDS.search(text, text.rfind("\n", 0, max(0, line.start - 1)) + 1, line.start):
        yield line.start, line.end, False
    else:
        cells = [text[start:end].strip(_MARKUP).lower() for start, end in _cells(text, line)]
        columns = [index for index, cell in enumerate(cells) if _VICTIM.fullmatch(cell)]
        for row in map(partial(_cells, text), _lines_below(text, line)):
            if len(row) < _FEWEST_CELLS:
                return
            yield from ((*row[column], False) for column in columns if column < len(row))


@cache
def _needed() -> PieceSearch:
    said = (*table("lists", "harmless").values(), *table("lists", "victims").values())
    return PieceSearch(chain.from_iterable(map(required_pieces, said)))


def calls_harmless(label: str) -> bool:
    """Tell whether a label calls what stands below it no indicators."""
    said = label.lower()
    return _HARMLESS.search(said) is not None and _ACCUSED.search(said) is None


def _calls_files_harmless(label: str) -> bool:
    """Tell whether a label speaks of harmless files that an attack uses as they are."""
    said = label.lower()
    return _FILES.search(said) is not None and calls_harmless(_ABUSED.sub("", said))


def only_looks_harmless(label: str) -> bool:
    """Tell whether a label speaks of what poses as something harmless: `Domains posing as legitimate:`."""
    said = label.lower()
    return _HARMLESS.search(said) is not None and _POSING.search(said) is not None


def _line_at(text: str, start: int) -> _Line:
    end = text.find("\n", start)
    match = _LINE.match(text, start, min(len(text) if end < 0 else end, start + _LONGEST_ITEM))
    indent, marker, said = match.groups(default="") if match else ("", "", "")
    is_fence = said.startswith(_FENCE)
    return _Line(start, len(text) if end < 0 else end, len(indent), marker, said.strip(_MARKUP), is_fence)


def _lines_below(text: str, label: _Line) -> Iterator[_Line]:
    end = label.end
    for _ in range(_MOST_LINES):
        if end >= len(text):
            return
        line = _line_at(text, end + 1)
        yield line
        end = line.end


def _is_label(text: str, line: _Line) -> bool:
    """Tell whether a line announces what stands below it: it ends with a colon, or is a title above a list."""
    if line.said.endswith(_COLONS) or line.is_heading:
        return True
    if line.marker or line.has_value or len(line.said) > _LONGEST_TITLE or line.said[-1:] in ".,;":
        return False
    first = next((below for below in _lines_below(text, line) if not below.is_empty), None)
    if first is None:
        return False
    return first.is_fence or _is_an_item(first) or _UNDERLINE.fullmatch(first.said) is not None


def _is_an_item(line: _Line) -> bool:
    return bool(line.marker) or (line.has_value and len(line.said.split()) <= 2)


def _items(text: str, label: _Line) -> Iterator[tuple[int, int]]:
    """Yield the lines of the list under a label."""
    first: _Line | None = None
    after_blank = in_fence = False
    for line in _lines_below(text, label):
        if line.is_fence:
            if first is not None:
                return
            in_fence = True
        elif line.is_empty or (first is None and _UNDERLINE.fullmatch(line.said)):
            after_blank = True
        elif not in_fence and _ends_a_list(line, label, first, after_blank=after_blank):
            return
        else:
            first, after_blank = first or line, False
            if _ACCUSED.search(line.said.lower()) is None:
                yield line.start, line.end


def _ends_a_list(line: _Line, label: _Line, first: _Line | None, *, after_blank: bool) -> bool:
    """Tell whether a line no longer belongs to the list under a label, whose first item is `first`."""
    if line.is_heading or (label.marker and not label.is_heading and line.indent <= label.indent):
        return True
    if not line.marker and (not line.has_value or len(line.said.split()) > _MOST_WORDS_OF_AN_ITEM):
        return True
    if line.said.endswith(_COLONS) and not line.has_value and (first is None or line.indent <= first.indent):
        return True
    if first is None:
        return False
    if _kind(line.marker) != _kind(first.marker):
        return True
    return after_blank and not line.marker and not label.is_heading


def _kind(marker: str) -> str:
    return "1" if marker[:1].isdigit() else marker


def _columns(text: str, head: _Line) -> Iterator[tuple[int, int]]:
    """Yield the cells of the columns of a table whose head calls them harmless."""
    cells = _cells(text, head)
    columns = [index for index, (start, end) in enumerate(cells) if _heads_harmless(text[start:end])]
    if head.has_value or not columns:
        return
    for line in _lines_below(text, head):
        row = _cells(text, line)
        if len(row) < _FEWEST_CELLS:
            return
        yield from (row[column] for column in columns if column < len(row))


def _heads_harmless(cell: str) -> bool:
    return len(cell.split()) <= _MOST_WORDS_OF_A_HEAD and calls_harmless(cell)


def _cells(text: str, line: _Line) -> list[tuple[int, int]]:
    edges = [line.start, *(edge.end() for edge in _CELL_ENDS.finditer(text, line.start, line.end)), line.end + 1]
    return [(start, end - 1) for start, end in pairwise(edges)]
