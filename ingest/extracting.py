"""What would be found in a text, a page or a PDF that is handed in and not kept: the work behind `POST /extract`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ingest import body as bodies
from ingest.front_matter import with_plain_fields
from ingest.indicators import Document, document_from_text, extract
from ingest.isolated import Isolation
from intel.canonical import defang
from intel.errors import ArticleUnreadable

# The media types that can be read; JSON's `text` counts as plain text.
READABLE: Final = (bodies.PLAIN, bodies.HTML, bodies.PDF)


@dataclass(frozen=True, slots=True)
class Handed:
    """What was handed in: its bytes, one of READABLE, and the charset that it was declared with."""

    body: bytes
    content_type: str
    charset: str | None = None


@dataclass(frozen=True, slots=True)
class FoundIoc:
    """One indicator in it; `context` is the sentence it stands in first, `rule` the one that kept it."""

    type: str
    value: str
    defanged: str
    context: str
    rule: str


@dataclass(frozen=True, slots=True)
class FoundIocs:
    """All of them in order of first appearance; `dropped` more were found beyond the limit."""

    items: tuple[FoundIoc, ...]
    dropped: int


def find_iocs(handed: Handed, most_indicators: int) -> FoundIocs:
    """Find the indicators in what was handed in. Raises ArticleUnreadable."""
    extraction = extract(_document(handed), most_indicators=most_indicators)
    items = tuple(
        FoundIoc(one.type, one.value, defang(one.type, one.value), extraction.sentence(one), one.rule)
        for one in extraction.indicators
    )
    return FoundIocs(items, extraction.dropped)


async def find_apart(isolation: Isolation, handed: Handed, most_indicators: int, account_id: str) -> FoundIocs:
    """Run `find_iocs` in a process that can be killed, in the account's share. Raises IngestFailed."""
    large = bodies.is_large_body(handed.body, handed.content_type)
    return await isolation.run(find_iocs, handed, most_indicators, account_id=account_id, is_large=large)


def _document(handed: Handed) -> Document:
    # In a process apart, as pages are read.
    from ingest.article_text import read_article
    from ingest.indicators.html_document import document_from_html

    if handed.content_type == bodies.PDF:
        return document_from_text(read_article(handed.body, bodies.PDF, None, None).text)
    # What is pasted as text may be cut out of a page.
    markup = handed.content_type == bodies.HTML or bodies.begins_as_page(handed.body)
    text = bodies.decode(handed.body, handed.charset, markup=markup)
    if bodies.is_noise(text):
        raise ArticleUnreadable("no_text", "This is no text, whatever it is declared as.")
    return document_from_html(text) if markup else document_from_text(with_plain_fields(text))
