"""`/bulk`: which of many pasted values are known."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from starlette.responses import Response

from api.annotating import annotate
from api.web.exports import export, is_format
from api.web.visit import Visit
from ingest.indicators import document_from_text, extract
from intel.canonical import LONGEST_NAME, readings
from intel.exact import exact_values
from intel.ids import ioc_id
from intel.records import Ioc

MOST_VALUES = 50
_LONGEST_TEXT = 200_000
_MOST_NAMES = 200

Readings = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Pasted:
    """One pasted value: as it was written, and every (type, value) that it may mean."""

    written: str
    readings: Readings


@dataclass(frozen=True, slots=True)
class Result:
    """A pasted value and what is stored of it."""

    pasted: Pasted
    found: tuple[Ioc, ...]


async def show(visit: Visit) -> Response:
    return visit.page("bulk.html", text="", results=None, left_out=0, totals=None)


async def look_up(visit: Visit) -> Response:
    text = visit.form.get("values", "")[:_LONGEST_TEXT]
    pasted = await asyncio.to_thread(read, text)
    pasted += await _coined(visit, text, pasted)
    results = await _find(visit, pasted[:MOST_VALUES])
    found = [ioc for result in results for ioc in result.found]
    if is_format(format := visit.form.get("format", "")):
        return await export(visit, format, list(dict.fromkeys(found)))
    return visit.page(
        "bulk.html",
        text=text,
        results=results,
        noted=await annotate(visit.service.store, found, visit.service.clock()),
        left_out=max(0, len(pasted) - MOST_VALUES),
        totals=None if all(result.found for result in results) else await visit.service.store.totals(),
    )


def read(text: str) -> tuple[Pasted, ...]:
    """Return the values of a list, one a line, or the indicators of a text; each once."""
    pasted: dict[Readings, Pasted] = {}
    prose: list[str] = []
    for line in text.splitlines():
        pieces = [line.strip()] if readings(line) else [piece.strip() for piece in line.replace(";", ",").split(",")]
        if all(readings(piece) for piece in pieces if piece):
            for piece in filter(None, pieces):
                pasted.setdefault(readings(piece), Pasted(piece, readings(piece)))
        else:
            prose.append(line)
    for indicator in extract(document_from_text("\n".join(prose))).indicators:
        named = ((indicator.type, indicator.value),)
        if not any(named[0] in known for known in pasted):
            pasted[named] = Pasted(indicator.spelling, named)
    return tuple(pasted.values())


async def _coined(visit: Visit, text: str, pasted: Sequence[Pasted]) -> tuple[Pasted, ...]:
    """Return the malware names among the pieces that read as nothing else: no list has them, an article does."""
    pieces = (piece.strip() for line in text.splitlines() for piece in line.replace(";", ",").split(","))
    unread = (piece for piece in dict.fromkeys(pieces) if len(piece) <= LONGEST_NAME and not readings(piece))
    found = await exact_values(visit.service.store.iocs, filter(None, islice(unread, _MOST_NAMES)))
    known = {named for each in pasted for named in each.readings}
    return tuple(Pasted(piece, named) for piece, named in found.items() if named and known.isdisjoint(named))


async def _find(visit: Visit, pasted: Sequence[Pasted]) -> list[Result]:
    ids = {named: ioc_id(*named) for each in pasted for named in each.readings}
    found = await visit.service.store.iocs.get_many(list(ids.values()))
    return [Result(each, tuple(found[ids[named]] for named in each.readings if ids[named] in found)) for each in pasted]
