"""Read the text of a Word document; the one file that knows python-docx."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from intel.errors import ArticleUnreadable
from intel.times import to_moment

if TYPE_CHECKING:
    from docx.document import Document
    from docx.table import Table

_MOST_UNPACKED: Final = 100_000_000


@dataclass(frozen=True, slots=True)
class WordText:
    """What a Word document says, a paragraph or row of a table a line, and what it says about itself."""

    text: str
    title: str
    author: str
    published_at: datetime | None


def read_word(body: bytes, most_characters: int) -> WordText:
    """Return the text of a Word document (.docx) up to about `most_characters`.

    Raises ArticleUnreadable: `word_damaged`, `word_too_large`.
    """
    # Only the processes that read such files need it.
    import docx

    try:
        unpacked = sum(each.file_size for each in zipfile.ZipFile(io.BytesIO(body)).infolist())
        if unpacked > _MOST_UNPACKED:
            raise ArticleUnreadable("word_too_large", "The Word document unpacks to more than 100 MB.")
        document = docx.Document(io.BytesIO(body))
        text = "\n".join(_up_to(most_characters, _lines(document)))
        about = document.core_properties
        made = about.created
        moment = to_moment(made if made.tzinfo else made.replace(tzinfo=UTC)) if made else None
        return WordText(text, about.title or "", about.author or "", moment)
    except ArticleUnreadable:
        raise
    except Exception:  # a damaged document raises nearly anything, from BadZipFile to KeyError
        raise ArticleUnreadable("word_damaged", "The Word document is damaged and cannot be read.") from None


def _lines(document: Document) -> Iterator[str]:
    from docx.table import Table

    for part in document.iter_inner_content():
        if isinstance(part, Table):
            yield from _rows(part)
        else:
            yield from (part.text, "")


def _rows(table: Table) -> Iterator[str]:
    for row in table.rows:
        # A cell that spans columns stands once for each of them.
        cells = dict.fromkeys(cell._tc for cell in row.cells)
        texts = (" ".join(node.text or "" for node in cell.iter("{*}t")) for cell in cells)
        yield " | ".join(texts)
    yield ""


def _up_to(most_characters: int, lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        if most_characters < 0:
            return
        most_characters -= len(line)
        yield line
