"""Find the indicators of compromise in a text, each with the reason for it: pure and linear."""

from __future__ import annotations

from ingest.indicators.document import Document, Place, Region, document_from_text
from ingest.indicators.extracting import Candidate, Extraction, Indicator, extract
from ingest.indicators.lines import extract_lines

__all__ = [
    "Candidate",
    "Document",
    "Extraction",
    "Indicator",
    "Place",
    "Region",
    "document_from_html",
    "document_from_text",
    "extract",
    "extract_lines",
]


def document_from_html(html: str, url: str | None = None, main_text: str | None = None) -> Document:
    """Return the text of a page with its places, as `html_document` does.

    What reads pages is loaded with the first of them: a command that reads a text starts without it.
    """
    from ingest.indicators import html_document

    return html_document.document_from_html(html, url, main_text)
