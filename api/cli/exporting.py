"""`ioc export`: every indicator, page by page."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import orjson

from api.annotating import annotate
from api.cli.running import progress_bar, say, with_store
from api.formats import WRITERS, Writer
from intel.query import IocFilter, IocQuery
from intel.records import Ioc
from intel.settings import Settings
from intel.store import Store
from intel.times import utc_now

_PAGE = 500


def export(format: str, type: str | None, output: Path | None) -> None:
    """Write every indicator (of a type) to a file or standard output; a file appears only when it is whole."""

    async def run(store: Store, settings: Settings) -> int:
        writer = WRITERS[format](settings.base_url, None) if format in WRITERS else None
        with _destination(output) as out:
            return await _write(
                store, IocQuery(filter=IocFilter(types=(type,) if type else ()), limit=_PAGE), writer, out
            )

    written = with_store(run, reads=True)
    say(f"{written} indicators exported")


@contextlib.contextmanager
def _destination(output: Path | None) -> Iterator[BinaryIO]:
    if output is None:
        yield sys.stdout.buffer
        return
    draft = output.with_name(f".{output.name}.part")
    with draft.open("wb") as file:
        yield file
    draft.replace(output)


async def _write(store: Store, query: IocQuery, writer: Writer | None, out: BinaryIO) -> int:
    count = 0
    if writer is not None:
        out.write(writer.begin())
    with progress_bar() as progress:
        task = progress.add_task("exporting", total=None)
        async for page, total in _pages(store, query):
            progress.update(task, total=total, advance=len(page))
            noted = await annotate(store, page, utc_now())
            if writer is not None:
                out.write(writer.some(page, noted))
            else:
                out.write(b"".join(orjson.dumps(record) + b"\n" for record in noted.records(page)))
            count += len(page)
    if writer is not None:
        out.writelines(writer.end())
    out.flush()
    return count


async def _pages(store: Store, query: IocQuery) -> AsyncIterator[tuple[tuple[Ioc, ...], int | None]]:
    total = None
    while True:
        page = await store.iocs.find(query)
        total = page.total if page.total is not None else total
        yield page.items, total
        if page.next is None:
            return
        query = replace(query, after=page.next)
