"""Turn the bytes of a file into one record for each indicator, as the command line prints them."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Any, Final

from ingest.indicators.document import Document, document_from_text
from ingest.indicators.extracting import Extraction, extract
from ingest.indicators.html_document import document_from_html

_PAGE: Final = re.compile(
    r"(?i)\A[\s\ufeff]*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--.{0,2000}?-->\s*)*<(?:!doctype\s+html|html|head|body|table|ul|ol|dl|div|p|article|section|main|h[1-6]|blockquote|figure|pre)\b",
    re.DOTALL,
)
_CHARSET: Final = re.compile(rb"(?i)<meta[^>]{0,200}charset=[\"']?\s*([a-z0-9_.:-]{2,40})")
_NO_ENCODINGS_OF_PAGES: Final = ("utf-16", "utf-32", "utf-7", "unicode", "raw-unicode", "idna", "punycode", "undefined")
_MARKED: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


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
    text = decoded(data)
    return document_from_html(text) if _PAGE.match(text) else document_from_text(text)


def decoded(data: bytes) -> str:
    """Decode the text of a file: by its byte-order mark, its `<meta charset>`, as UTF-8, else as Windows-1252."""
    for mark, encoding in _MARKED:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, errors="replace")
    declared = _CHARSET.search(data, 0, 4096)
    for encoding in ("utf-8", _encoding_of_pages(declared[1].decode("ascii")) if declared else "windows-1252"):
        try:
            return data.decode(encoding)
        except (LookupError, ValueError):
            continue
    return data.decode("windows-1252", errors="replace")


def _encoding_of_pages(name: str) -> str:
    """Return the encoding that a page declares, unless no page that says so in ASCII can be in it."""
    try:
        codec = codecs.lookup(name).name
    except (LookupError, ValueError):
        return "windows-1252"
    return "windows-1252" if codec.startswith(_NO_ENCODINGS_OF_PAGES) else codec
