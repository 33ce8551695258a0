"""Find the indicators of compromise in a text, each with the reason for it: pure and linear."""

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
