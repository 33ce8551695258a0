"""`ioc export`: all indicators that match, in one format, from one state of the store."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from api.cli.running import progress_bar, say, with_store
from api.cli.searching import check_sources
from api.filters import read_filter, read_sort
from api.formats.exporting import ExportFormat, exported, to_export, writer_of
from api.parameters import read_choice
from intel.errors import ConfigurationError
from intel.query import IocQuery, parse_search
from intel.settings import Settings
from intel.store import Store
from intel.times import utc_now

# What NDJSON is called too.
_ALIASES: Mapping[str, ExportFormat] = {"jsonl": "ndjson"}


def export(format: str, q: str, filters: Mapping[str, Any], output: Path | None, *, include: str | None) -> None:
    """Write out what matches to a file or standard output; a file appears only when it is whole."""
    now, wanted = utc_now(), _ALIASES.get(format, format)
    with_warned = include is not None and "warned" in read_choice("--include", include, ("warned",))
    query = IocQuery(parse_search(q), read_filter(filters, now), sort=read_sort(filters))
    query = to_export(query, wanted, with_warned=with_warned)  # type: ignore[arg-type]  # one of the formats

    async def run(store: Store, settings: Settings) -> int:
        await check_sources(store, query.filter)
        writer = writer_of(wanted, settings.base_url, now)  # type: ignore[arg-type]  # one of the formats
        with destination(output) as out, progress_bar() as progress:
            task = progress.add_task("exporting", total=await _total(store, query))
            pieces = exported(store, query, writer, now, _here, lambda wrote: progress.advance(task, wrote))
            async with aclosing(pieces):
                async for piece in pieces:
                    out.write(piece)
            out.flush()
            return int(progress.tasks[task].completed)

    say(f"{with_store(run, reads=True)} indicators exported")


async def _total(store: Store, query: IocQuery) -> int:
    return (await store.iocs.find(replace(query, limit=1))).total or 0


async def _here(work: Callable[[], bytes]) -> bytes:
    return work()


@contextlib.contextmanager
def destination(output: Path | None) -> Iterator[BinaryIO]:
    if output is None:
        yield sys.stdout.buffer
        return
    if output.is_dir():
        raise ConfigurationError(f"{output} cannot be written: it is a folder")
    draft = output.with_name(f".{output.name}.part")
    try:
        file = draft.open("wb")
    except OSError as error:
        raise ConfigurationError(f"{output} cannot be written: {error.strerror or error}") from None
    try:
        with file:
            yield file
        draft.replace(output)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
