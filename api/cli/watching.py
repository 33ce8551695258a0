"""`ioc watch`: what is added from now on and matches, as it comes in."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import orjson

from api.annotating import Annotations, annotate
from api.cli.running import printable, say, with_store
from api.searches.asked import query_of
from intel.canonical import defang
from intel.errors import StoreUnavailable
from intel.query import IocQuery
from intel.records import Ioc
from intel.settings import Settings
from intel.store import Store
from intel.times import utc_now

_LOOK_SECONDS: Final = 1.0
_AT_ONCE: Final = 500


def watch(q: str, filters: Mapping[str, Any], *, as_json: bool) -> None:
    """Print a line for each addition until Ctrl-C: for a person, or one JSON object."""
    query = query_of(q, filters, utc_now())

    async def follow(store: Store, _: Settings) -> None:
        say("watching for new indicators (Ctrl-C stops)")
        async for found in additions(store, query):
            noted = await annotate(store, found, utc_now())
            for ioc in found:
                sys.stdout.buffer.write(orjson.dumps(noted.record(ioc)) if as_json else _line(ioc, noted).encode())
                sys.stdout.buffer.write(b"\n")
            sys.stdout.buffer.flush()

    with contextlib.suppress(KeyboardInterrupt):
        with_store(follow, reads=True)


async def additions(store: Store, query: IocQuery) -> AsyncIterator[Sequence[Ioc]]:
    """Yield what is added from now on and matches, in order, each indicator once."""
    place = await store.iocs.newest()
    while True:
        # A store that is out of reach for a while is asked again.
        with contextlib.suppress(StoreUnavailable):
            newest, more = await store.iocs.newest(), True
            while more and place.number < newest.number:
                page = await store.iocs.added(place, _AT_ONCE)
                found = await _matching(store, query, page.ids)
                place, more = page.next, page.more
                if found:
                    yield found
        await asyncio.sleep(_LOOK_SECONDS)


async def _matching(store: Store, query: IocQuery, ids: tuple[str, ...]) -> list[Ioc]:
    if not ids:
        return []
    found = {ioc.id: ioc for ioc in (await store.iocs.find(replace(query, ids=ids, limit=len(ids)))).items}
    return [found[id] for id in ids if id in found]


def _line(ioc: Ioc, noted: Annotations) -> str:
    cells = [ioc.type, defang(ioc.type, ioc.value), noted.age(ioc).status, ", ".join(ioc.malware[:5])]
    cells += [ioc.article.title, ioc.article.source_label]
    return "  ".join(printable(cell) for cell in cells if cell)
