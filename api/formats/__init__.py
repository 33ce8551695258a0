"""Ways out of a list of indicators other than JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from starlette.responses import Response

from api.formats.negotiating import negotiated
from api.formats.stix import stix_bundle
from api.formats.tables import csv_table, plain_list
from intel.records import ArticleRef, Ioc

_RENDERERS: dict[str, tuple[Callable[[Sequence[Ioc], ArticleRef | None], bytes], str, str]] = {
    "csv": (csv_table, "text/csv; charset=utf-8", "indicators.csv"),
    "stix": (stix_bundle, "application/stix+json;version=2.1", "indicators.json"),
    "txt": (lambda iocs, _: plain_list(iocs), "text/plain; charset=utf-8", "indicators.txt"),
}


# For the description of whatever answers in them too.
OTHER_FORMATS: dict[str, Any] = {
    "text/csv": {"schema": {"type": "string"}},
    "application/stix+json": {"schema": {"type": "object"}},
    "text/plain": {"schema": {"type": "string"}},
}


def render(format: Literal["csv", "stix", "txt"], iocs: Sequence[Ioc], article: ArticleRef | None = None) -> Response:
    """Indicators in that format, as a file to keep; those of an article are told with it, not with their newest one."""
    write, media_type, file_name = _RENDERERS[format]
    headers = {"Content-Disposition": f'attachment; filename="{file_name}"', "Content-Type": media_type}
    return negotiated(Response(write(iocs, article), headers=headers))
