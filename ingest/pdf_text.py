"""Read the text of a PDF; the one file that knows pypdf."""

from __future__ import annotations

import io
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from intel.errors import ArticleUnreadable
from intel.times import to_moment

if TYPE_CHECKING:
    import pypdf

MOST_PAGES: Final = 500


@dataclass(frozen=True, slots=True)
class PdfText:
    """What a PDF says and what it says about itself; `skipped_pages` are those beyond the limits or damaged."""

    text: str
    title: str
    author: str
    published_at: datetime | None
    skipped_pages: int


def read_pdf(body: bytes, most_characters: int) -> PdfText:
    """Return the text of a PDF's first 500 pages, up to about `most_characters`.

    Raises ArticleUnreadable: `pdf_encrypted`, `pdf_damaged`.
    """
    # Only the processes that read pages need it: it takes 14 MB.
    import pypdf

    try:
        reader = pypdf.PdfReader(io.BytesIO(body), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise ArticleUnreadable("pdf_encrypted", "The PDF is protected by a password.")
        pages, count = _pages(reader, most_characters), len(reader.pages)
        title, author, published_at = _information(reader)
    except ArticleUnreadable:
        raise
    except Exception:  # a damaged PDF makes pypdf raise nearly anything, from KeyError to RecursionError
        raise ArticleUnreadable("pdf_damaged", "The PDF is damaged and cannot be read.") from None
    read = [page for page in pages if page is not None]
    return PdfText("\n\n".join(read), title, author, published_at, count - len(read))


def _pages(reader: pypdf.PdfReader, most_characters: int) -> list[str | None]:
    pages: list[str | None] = []
    for number in range(min(len(reader.pages), MOST_PAGES)):
        if most_characters <= 0:
            break
        pages.append(_page(reader, number))
        most_characters -= len(pages[-1] or "")
    return pages


def _page(reader: pypdf.PdfReader, number: int) -> str | None:
    try:
        return reader.pages[number].extract_text()
    except Exception:  # one damaged page does not cost the others
        return None


def _information(reader: pypdf.PdfReader) -> tuple[str, str, datetime | None]:
    try:
        about = reader.metadata
        if about is None:
            return "", "", None
        created = about.creation_date
        moment = to_moment(created if created.tzinfo else created.replace(tzinfo=UTC)) if created else None
        return str(about.title or ""), str(about.author or ""), moment
    except Exception:  # an unreadable description is no reason to refuse the text
        return "", "", None
