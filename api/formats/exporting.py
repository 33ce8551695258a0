"""Whole exports: all indicators of a list or search in one format, written while they are read.

What blocks or detects (`BLOCKING`) leaves out what stands on a warning list, unless that is asked for.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import Final, Literal

import orjson

from api.annotating import Annotations, annotate
from api.filters import chosen
from api.formats import Writer
from api.formats.blocking import HostsFile, PolicyZone, SuricataRules
from api.formats.misp import MispEvent
from api.formats.stix import StixBundle
from api.formats.tables import CsvTable, PlainList
from intel.query import IocQuery
from intel.records import Ioc
from intel.store import Store

ExportFormat = Literal["ndjson", "csv", "txt", "stix", "misp", "suricata", "rpz", "hosts"]
Run = Callable[[Callable[[], bytes]], Awaitable[bytes]]

BLOCKING: Final = frozenset({"txt", "suricata", "rpz", "hosts"})
_AT_ONCE: Final = 50
_TEXT: Final = "text/plain; charset=utf-8"
# Media type and ending of the file's name.
FILES: Final[Mapping[ExportFormat, tuple[str, str]]] = MappingProxyType(
    {
        "ndjson": ("application/x-ndjson", "ndjson"),
        "csv": ("text/csv; charset=utf-8", "csv"),
        "txt": (_TEXT, "txt"),
        "stix": ("application/stix+json;version=2.1", "stix.json"),
        "misp": ("application/json", "misp.json"),
        "suricata": (_TEXT, "rules"),
        "rpz": (_TEXT, "rpz"),
        "hosts": (_TEXT, "hosts"),
    }
)


class NdjsonLines:
    """Writes one record a line, whole or with some of its members."""

    def __init__(self, fields: Sequence[str]) -> None:
        self._fields = fields

    def begin(self) -> bytes:
        return b""

    def some(self, iocs: Sequence[Ioc], noted: Annotations) -> bytes:
        return b"".join(orjson.dumps(record) + b"\n" for record in chosen(noted.records(iocs), self._fields))

    def end(self) -> Iterator[bytes]:
        return iter(())


def writer_of(format: ExportFormat, address: str, now: datetime, fields: Sequence[str] = ()) -> Writer:
    """Return what writes a format; `address` is the service's own, `fields` are the members of NDJSON records."""
    writers: dict[ExportFormat, Callable[[], Writer]] = {
        "ndjson": lambda: NdjsonLines(fields),
        "csv": lambda: CsvTable(address),
        "txt": lambda: PlainList(address),
        "stix": lambda: StixBundle(address),
        "misp": lambda: MispEvent(address),
        "suricata": lambda: SuricataRules(address, now),
        "rpz": lambda: PolicyZone(address, now),
        "hosts": lambda: HostsFile(address, now),
    }
    return writers[format]()


def file_name(format: ExportFormat, now: datetime) -> str:
    """Return the name of an export's file."""
    return f"iocs-{now:%Y%m%dT%H%MZ}.{FILES[format][1]}"


def to_export(query: IocQuery, format: ExportFormat, *, with_warned: bool) -> IocQuery:
    """Return the query for what an export holds: what blocks holds nothing that stands on a warning list, unless it is
    asked for.
    """
    only = query.filter
    if format not in BLOCKING or with_warned or "warned" in only.exclude:
        return query
    return replace(query, filter=replace(only, exclude=(*only.exclude, "warned")))


async def exported(
    store: Store, query: IocQuery, writer: Writer, now: datetime, run: Run, told: Callable[[int], None] = lambda _: None
) -> AsyncGenerator[bytes, None]:
    """Yield an export piece by piece; `run` makes each, `told` hears how many indicators were written."""
    yield writer.begin()
    async with aclosing(store.iocs.stream(query)) as stream:
        async for batch in stream:
            noted = await annotate(store, batch, now, with_notes=True)
            # Lists may have changed since indicators were marked by them.
            left = [ioc for ioc in batch if not noted.cautions(ioc)] if "warned" in query.filter.exclude else batch
            for start in range(0, len(left), _AT_ONCE):
                some = left[start : start + _AT_ONCE]
                yield await run(lambda some=some, noted=noted: writer.some(some, noted))  # type: ignore[misc]  # mypy infers no default
            told(len(left))
    end = writer.end()
    while piece := await run(lambda: next(end, b"")):
        yield piece
