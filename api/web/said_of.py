"""What articles say of an indicator elsewhere than in its sentence: in their titles, and beside it in their tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import lru_cache
from typing import Final

from ingest.indicators import document_from_text, extract
from intel.records import Article, ArticleRef
from intel.text_blocks import Block, read_blocks

# Heads of columns that say what an indicator is or does.
_TELLING: Final = frozenset(
    [
        "role",
        "type",
        "kind",
        "purpose",
        "description",
        "comment",
        "comments",
        "note",
        "notes",
        "remark",
        "remarks",
        "function",
        "usage",
        "port",
        "ports",
        "protocol",
        "file",
        "filename",
        "name",
        "stage",
        "component",
    ]
)
_MOST_NOTES: Final = 3
_LONGEST_NOTE: Final = 80
_LONGEST_CELL: Final = 400
_LONGEST_TEXT: Final = 200_000
_MOST_TITLES: Final = 10
_LONGEST_TITLE: Final = 300
_SPELLINGS: Final = (
    ("[.]", "."),
    ("(.)", "."),
    ("[dot]", "."),
    ("[:]", ":"),
    ("[at]", "@"),
    ("[@]", "@"),
    ("hxxp", "http"),
)


def families_in_titles(titles: Iterable[str]) -> tuple[str, ...]:
    """Return the malware families of those titles that name exactly one, in their order."""
    found: dict[str, None] = {}
    for title in list(dict.fromkeys(titles))[:_MOST_TITLES]:
        found |= dict.fromkeys(family_in_title(title))
    return tuple(found)


@lru_cache(maxsize=4096)
def family_in_title(title: str) -> tuple[str, ...]:
    """Return the malware family of a title that names exactly one, else nothing."""
    candidates = extract(document_from_text(title[:_LONGEST_TITLE])).candidates()
    named = {one.value for one in candidates if one.kept and one.type == "malware"}
    return tuple(named) if len(named) == 1 else ()


def articles_headed(names: Set[str], articles: Iterable[ArticleRef]) -> Iterator[ArticleRef]:
    """Yield the articles whose titles name exactly one malware family, by one of its names."""
    written = [name.casefold() for name in names]
    for article in articles:
        title = article.title.casefold()
        # A plain search first: reading a title as extraction does takes a hundred times as long.
        if any(name in title for name in written) and not names.isdisjoint(family_in_title(article.title)):
            yield article


def notes_in_tables(article: Article, value: str) -> tuple[tuple[str, str], ...]:
    """Return what the row of a value says under heads such as `Role`, `Port` or `File`: (head, cell), at most three."""
    text = article.text or ""
    if not article.structure or len(text) > _LONGEST_TEXT:
        return ()
    spelt = re.compile(rf"(?<![\w.-]){re.escape(value.casefold())}(?::([0-9]{{1,5}}))?(?![\w-]|\.\w)")
    notes: dict[str, str] = {}
    for block in read_blocks(article.structure, len(text)):
        if block.kind == "table" and block.level:
            _read_table(block, text, spelt, notes)
    return tuple(notes.items())[:_MOST_NOTES]


def _read_table(block: Block, text: str, spelt: re.Pattern[str], notes: dict[str, str]) -> None:
    heads = _cells(block, block.level - 1, text)
    for place in range(block.level, len(block.rows)):
        cells = _cells(block, place, text)
        met = [match for cell in cells if (match := spelt.search(_refanged(cell)))]
        if not met:
            continue
        if met[0][1]:
            notes.setdefault("Port", met[0][1])
        for head, cell in zip(heads, cells, strict=False):
            if cell and not spelt.search(_refanged(cell)) and not _TELLING.isdisjoint(head.casefold().split()):
                notes.setdefault(head[:_LONGEST_NOTE], cell[:_LONGEST_NOTE])


def _cells(block: Block, place: int, text: str) -> Sequence[str]:
    return [" ".join(text[start : min(end, start + _LONGEST_CELL)].split()) for start, end in block.rows[place]]


def _refanged(cell: str) -> str:
    cell = cell.casefold()
    for spelling, plain in _SPELLINGS:
        cell = cell.replace(spelling, plain)
    return cell
