"""Indicators as CSV and as a plain list."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from api.annotating import Annotations
from api.web.addresses import ioc_path
from intel.records import Article, Ioc
from intel.times import rfc3339

_COLUMNS = (
    "type", "value", "first_seen", "last_seen", "sightings", "sources", "malware", "context",
    "article_title", "article_url", "source_name", "status", "warnings", "false_positives", "permalink", "tlp",
)  # fmt: skip
# What a spreadsheet would run as a formula (some take the full-width signs too); strangers write titles and contexts.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


class CsvTable:
    """Writes one row an indicator under a header; cells that a spreadsheet would run get a leading apostrophe.

    With `article` that one stands beside each, in place of its newest; its sentence there is not known then.
    """

    def __init__(self, address: str, article: Article | None = None) -> None:
        self._address = address
        self._article = article.ref if article else None

    def begin(self) -> bytes:
        return _lines([_COLUMNS])

    def some(self, iocs: Sequence[Ioc], noted: Annotations) -> bytes:
        return _lines([_guarded(cell) for cell in self._row(ioc, noted)] for ioc in iocs)

    def end(self) -> Iterator[bytes]:
        return iter(())

    def _row(self, ioc: Ioc, noted: Annotations) -> tuple[str, ...]:
        ref = self._article or ioc.article
        return (
            ioc.type,
            ioc.value,
            rfc3339(ioc.first_seen),
            rfc3339(ioc.last_seen),
            str(ioc.sightings),
            str(ioc.sources),
            "; ".join(ioc.malware),
            ioc.context if ref.id == ioc.article.id else "",
            ref.title,
            ref.url or "",
            ref.source_name,
            noted.age(ioc).status,
            "; ".join(caution.list for caution in noted.cautions(ioc)),
            str(noted.votes(ioc)),
            self._address + ioc_path(ioc.type, ioc.value),
            ioc.tlp or "",
        )


class PlainList:
    """Writes one value a line."""

    def __init__(self, _address: str, _article: Article | None = None) -> None:
        return

    def begin(self) -> bytes:
        return b""

    def some(self, iocs: Sequence[Ioc], _noted: Annotations) -> bytes:
        return "".join(f"{' '.join(ioc.value.split())}\n" for ioc in iocs).encode(errors="replace")

    def end(self) -> Iterator[bytes]:
        return iter(())


def csv_bytes(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """Return a table as CSV in which no cell is a formula."""
    return _lines([columns, *([_guarded(cell) for cell in row] for row in rows)])


def _lines(rows: Iterable[Sequence[str]]) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue().encode(errors="replace")


def _guarded(cell: str) -> str:
    return f"'{cell}" if cell.lstrip(" ").startswith(_FORMULA_STARTS) else cell
