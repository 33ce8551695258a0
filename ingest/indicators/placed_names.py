"""Find names of malware by the field, column or list that they stand in: `Family: Brackwater`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from ingest.indicators.late import late
from ingest.indicators.piece_search import Places
from ingest.indicators.plain_words import is_plain_word
from ingest.indicators.vocabulary import pieces
from intel.names import malware_name

# What stands in every label: looked for as it stands.
PIECES: Final = tuple(pieces("placed", "roots").split("|"))
_LABELS: Final = pieces("placed", "labels")
_LABEL: Final = late(rf"(?i:{_LABELS})")
_FIELD: Final = late(
    rf"[ \t>*_`\"'|\u2022\u25cf\u25a0\u30fb\u3010\[-]{{0,8}}(?i:{_LABELS})[*_`\"'\u3011\] ]{{0,4}}"
    r"(?:[:\uff1a=]|\t|[ ]?\|)[ \t*_`\"']{0,4}(?P<value>[^\n\t|]{2,160})"
)
_SENTENCES: Final = late("[\u3002\uff1b]")
_ROW_OF_DASHES: Final = late(r"[ \t|:+=-]{3,}\n")
_SEPARATORS: Final = ("\t", "|", ";", ",")
_BETWEEN_VALUES: Final = late(
    r"\s*(?:[,;&\u3001\uff0c\uff1b\u00b7]|\s(?:and|or|y|e|et|und|oder|и|та|ve|i|og|och|en)\s)\s*"
)
_AROUND: Final = " \t*_`\"'\u201c\u201d\u300c\u300d\u00ab\u00bb[]<>#"
_IN_BRACKETS: Final = late(r"\s*[(\uff08\[][^()\uff08\uff09\[\]]{0,60}[)\uff09\]]\s*\Z")
_KIND_AT_END: Final = late(rf"\s(?i:{pieces('placed', 'kinds')})\Z")
_VALUE: Final = late(
    r"(?=[^\s]{0,24}[A-Z])[A-Za-z0-9][A-Za-z0-9_+-]{2,24}(?: (?:[A-Z][A-Za-z0-9_+-]{1,20}|[0-9](?:\.[0-9])?|v[0-9]))?"
    r"|[\u0400-\u04ff]{4,20}|[\u30a0-\u30ff\u3400-\u9fff]{2,8}|[\uac00-\ud7a3]{2,8}"
)
_NOT_A_VALUE: Final = late(
    r"(?i)[0-9a-f]{16,}|(?:cve|t[0-9]|ta[0-9]|apt|unc|uac|storm)[-_ ]?[0-9].*|[0-9_+-]+|sha-?[0-9]+|md5"
)
_WORD: Final = late(r"[ _-]")
_ITEM: Final = late(r"[ \t]{0,8}(?:[-*\u2022\u25cf\u2013\u30fb+]|[0-9]{1,2}[.)])[ \t]+(?P<item>[^\n]{2,120})")
_ENDS_AN_ITEM: Final = late(r"\s?[:\uff1a(\uff08]|\s[\u2013\u2014-]{1,2}\s")
_ANNOUNCED: Final = late(r"[:\uff1a][*_ ]{0,4}\Z|\A\s{0,3}(?:#|\*\*|==)")
_NO_LIST: Final = late(
    r"(?i)\b(?:victims?|targets?|countr(?:y|ies)|sectors?|tools?|groups?|actors?|vendors?|files?|paths?|domains?|hosts?"
    r"|indicators?|iocs?|hashes|samples?|names? of (?:files|tasks))\b"
)
_AROUND_A_TITLE: Final = " \t#*=_:\uff1a"
_FEWEST_ITEMS: Final = 2
_LONGEST_LINE: Final = 400
_LONGEST_TITLE: Final = 100
_MOST_ROWS: Final = 150
_MOST_PLACES: Final = 300


def names_placed(text: str, places: Places) -> Iterator[str]:
    """Yield the names in fields, columns and lists that a label calls malware.

    `places`: where the `PIECES` stand.
    """
    asked: set[int] = set()
    for place in sorted(chain.from_iterable(places.get(root, ())[:_MOST_PLACES] for root in PIECES)):
        first = text.rfind("\n", max(0, place - _LONGEST_LINE), place) + 1
        if first in asked:
            continue
        asked.add(first)
        end = text.find("\n", place, place + _LONGEST_LINE)
        line = text[first : end if end >= 0 else place + _LONGEST_LINE]
        yield from _names_of_line(text, first, line)


def _names_of_line(text: str, first: int, line: str) -> Iterator[str]:
    below = first + len(line) + 1
    cells, separator, column = _head(line)
    if cells and _is_first_row(text, first, below, cells, separator):
        yield from _names_of_column(text, below, separator, column)
    elif fields := [field for part in _SENTENCES.split(line) if (field := _FIELD.match(part))]:
        for field in fields:
            yield from _names_of_value(field["value"])
    elif len(line) <= _LONGEST_TITLE and _ANNOUNCED.search(line) and not _NO_LIST.search(line):
        yield from _names_of_list(text, below, is_sure=_LABEL.fullmatch(line.strip(_AROUND_A_TITLE)) is not None)


def _head(line: str) -> tuple[Sequence[str], str, int]:
    """Return the cells of the head of a table, what parts them and the column that is labelled malware, or none."""
    bare = line.strip("|")
    for separator in _SEPARATORS:
        if separator not in bare:
            continue
        cells = [cell.strip(_AROUND) for cell in bare.split(separator)]
        for column, cell in enumerate(cells):
            if _LABEL.fullmatch(cell):
                return cells, separator, column
    return (), "", 0


def _is_first_row(text: str, first: int, below: int, cells: Sequence[str], separator: str) -> bool:
    """Tell whether the cells of a row are the heads of columns."""
    if _ROW_OF_DASHES.match(text, below):
        return True
    above = text[text.rfind("\n", max(0, first - _LONGEST_LINE), max(0, first - 1)) + 1 : max(0, first - 1)]
    if separator in above:
        return False
    under = text[below : below + _LONGEST_LINE].partition(separator)[0].strip(_AROUND)
    return len(cells) > 2 or is_plain_word(cells[1]) or malware_name(under) is not None


def _names_of_column(text: str, start: int, separator: str, column: int) -> Iterator[str]:
    for _ in range(_MOST_ROWS):
        end = text.find("\n", start, start + _LONGEST_LINE)
        row = text[start : end if end >= 0 else start + _LONGEST_LINE]
        cells = row.strip("|").split(separator)
        if len(cells) <= column or len(cells) < 2:
            return
        yield from _names_of_value(cells[column])
        if end < 0:
            return
        start = end + 1


def _names_of_list(text: str, start: int, *, is_sure: bool) -> Iterator[str]:
    """Yield the items of a list that are names, if one of them is known or the title says nothing else."""
    found: list[str] = []
    for _ in range(_MOST_ROWS):
        if text.startswith("\n", start) and not found:
            start += 1
        item = _ITEM.match(text, start)
        if item is None:
            break
        found += _names_of_value(_ENDS_AN_ITEM.split(item["item"], maxsplit=1)[0])
        start = item.end() + 1
    if (is_sure and len(found) >= _FEWEST_ITEMS) or any(malware_name(name) for name in found):
        yield from found


def _names_of_value(value: str) -> Iterator[str]:
    for part in _BETWEEN_VALUES.split(value.strip()):
        name = _KIND_AT_END.sub("", _IN_BRACKETS.sub("", part).strip(_AROUND))
        if (
            _VALUE.fullmatch(name)
            and not _NOT_A_VALUE.fullmatch(name)
            and not any(map(is_plain_word, _WORD.split(name)))
        ):
            yield name
