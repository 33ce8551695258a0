"""Indicators as CSV and as a plain list."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from intel.records import ArticleRef, Ioc
from intel.times import rfc3339

_COLUMNS = (
    "type", "value", "first_seen", "last_seen", "sightings", "sources", "malware", "context",
    "article_title", "article_url", "source_name",
)  # fmt: skip
# What a spreadsheet would run as a formula (some take the full-width signs too); strangers write titles and contexts.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def csv_table(iocs: Sequence[Ioc], article: ArticleRef | None = None) -> bytes:
    """One row an indicator under a header; cells that a spreadsheet would run get a leading apostrophe.

    With `article` that one stands beside each, in place of its newest; its sentence there is not known then.
    """
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(_COLUMNS)
    writer.writerows([_guarded(cell) for cell in _row(ioc, article)] for ioc in iocs)
    return out.getvalue().encode(errors="replace")


def plain_list(iocs: Sequence[Ioc]) -> bytes:
    """One value a line."""
    return "".join(f"{' '.join(ioc.value.split())}\n" for ioc in iocs).encode(errors="replace")


def _row(ioc: Ioc, article: ArticleRef | None) -> tuple[str, ...]:
    ref = article or ioc.article
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
    )


def _guarded(cell: str) -> str:
    return f"'{cell}" if cell.lstrip(" ").startswith(_FORMULA_STARTS) else cell
