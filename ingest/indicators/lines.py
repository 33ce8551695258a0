"""Turn the bytes of a file into one record for each indicator, as the command line prints them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ingest.body import begins_as_page, decode
from ingest.front_matter import with_plain_fields
from ingest.indicators.document import Document, document_from_text
from ingest.indicators.extracting import Extraction, extract

# More than decides whether it is a page.
_BEGINNING: Final = 70_000


def extract_lines(data: bytes) -> Iterator[dict[str, Any]]:
    """Yield each indicator of a text or web page once, in order of first appearance: `type`, `value`, `context`,
    `rule`.
    """
    return lines_of(extract(document_from_bytes(data)))


def lines_of(extraction: Extraction) -> Iterator[dict[str, Any]]:
    """Yield the indicators of an extraction in that form."""
    for indicator in extraction.indicators:
        yield {
            "type": indicator.type,
            "value": indicator.value,
            "context": extraction.sentence(indicator),
            "rule": indicator.rule,
        }


def document_from_bytes(data: bytes) -> Document:
    """Return the document in the bytes of a file: a web page if it begins as one, else a text."""
    text = decode(data, None, markup=True)
    if not begins_as_page(text[:_BEGINNING].encode(errors="replace")):
        return document_from_text(with_plain_fields(text))
    from ingest.indicators.html_document import document_from_html

    return document_from_html(text)
