"""`/selection`: the indicators that were ticked in a list, as text to copy or as a file."""

from __future__ import annotations

from typing import Final

from starlette.responses import PlainTextResponse, Response

from api.problems import Problem
from api.web.exports import export, is_format
from api.web.visit import Visit, private
from intel.canonical import defang
from intel.records import Ioc

MOST_SELECTED: Final = 100
_FORMATS: Final = "txt, defanged, csv, stix or misp"


async def show(visit: Visit) -> Response:
    """Answer with the ticked indicators in the order of the page."""
    ids = list(dict.fromkeys(visit.request.query_params.getlist("id")))
    if not ids:
        raise Problem(422, "invalid_parameter", "No indicator is selected. Tick some rows of a list first.")
    if len(ids) > MOST_SELECTED:
        raise Problem(422, "invalid_parameter", f"At most {MOST_SELECTED} indicators can be selected at a time.")
    found = await visit.service.store.iocs.get_many(ids)
    selected = [found[id] for id in ids if id in found]
    if (format := visit.query.get("format", "txt")) == "defanged":
        return private(PlainTextResponse(_defanged(selected)))
    if not is_format(format):
        raise Problem(422, "invalid_parameter", f"format must be {_FORMATS}.")
    return await export(visit, format, selected)


def _defanged(iocs: list[Ioc]) -> str:
    return "".join(f"{' '.join(defang(ioc.type, ioc.value).split())}\n" for ioc in iocs)
