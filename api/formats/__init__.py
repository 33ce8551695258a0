"""Ways out of a list of indicators other than JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from starlette.responses import Response

from api.formats.stix import stix_bundle
from api.formats.tables import csv_table, plain_list
from intel.records import Ioc

_RENDERERS: dict[str, tuple[Callable[[Sequence[Ioc]], bytes], str, str]] = {
    "csv": (csv_table, "text/csv; charset=utf-8", "indicators.csv"),
    "stix": (stix_bundle, "application/stix+json;version=2.1", "indicators.json"),
    "txt": (plain_list, "text/plain; charset=utf-8", "indicators.txt"),
}


def render(format: Literal["csv", "stix", "txt"], iocs: Sequence[Ioc]) -> Response:
    """Indicators in that format, as a file to keep."""
    write, media_type, file_name = _RENDERERS[format]
    headers = {"Content-Disposition": f'attachment; filename="{file_name}"', "Content-Type": media_type}
    return Response(write(iocs), headers=headers)
