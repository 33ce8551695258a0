"""`/export`: all indicators of a list or search, in one format."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from api.answers import problems
from api.filters import Asked, filtered, read_fields
from api.formats.exporting import FILES, ExportFormat, exported, file_name, to_export, writer_of
from api.limits.policy import access
from api.parameters import SearchParameter, read_choice
from api.routes.iocs import read_asked
from api.service import service_of
from api.streaming import streamed, within

router = APIRouter(tags=["indicators"])

# The state of the store that an export is read from is held for it: no reader may hold it for ever.
LONGEST_SECONDS = 1_800.0

_DESCRIBED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "All that match, as a file; an answer that breaks off is not whole.",
        "content": {
            media_type.partition(";")[0]: {"schema": {"type": "object" if "json" in media_type else "string"}}
            for media_type, _ in FILES.values()
        },
    },
    **problems(422),
}
FormatParameter = Annotated[ExportFormat | None, Query(description="the format of the file; ndjson by default")]
IncludeParameter = Annotated[
    str | None,
    Query(
        description="`warned`: what stands on a warning list too, in txt, suricata, rpz and hosts", examples=["warned"]
    ),
]


@router.get("/export", summary="All indicators of a list or search as a file", responses=_DESCRIBED)
@access(key=True, export=True, scopes=("export",))
@filtered
async def export_iocs(
    request: Request,
    q: SearchParameter = None,
    format: FormatParameter = None,
    include: IncludeParameter = None,
    *,
    filters: Asked,
) -> Response:
    service, wanted = service_of(request), format or "ndjson"
    now = service.clock()
    with_warned = include is not None and "warned" in read_choice("include", include, ("warned",))
    query, _ = await read_asked(service.store, {"q": q, "value": None, **filters}, now)
    writer = writer_of(wanted, service.settings.base_url, now, read_fields(filters))
    pieces = exported(service.store, to_export(query, wanted, with_warned=with_warned), writer, now, service.apart.run)
    disposition = f'attachment; filename="{file_name(wanted, now)}"'
    return await streamed(
        within(LONGEST_SECONDS, pieces), {"Content-Type": FILES[wanted][0], "Content-Disposition": disposition}
    )
