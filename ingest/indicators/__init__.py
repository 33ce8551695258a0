"""The heart: from text to indicators of compromise, pure, linear and with the reason for each."""

from ingest.indicators.document import Document, Place, Region, document_from_text
from ingest.indicators.extracting import Candidate, Extraction, Indicator, extract
from ingest.indicators.html_document import document_from_html
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
