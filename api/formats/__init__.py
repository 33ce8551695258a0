"""Ways out of a list of indicators other than JSON."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from types import MappingProxyType
from typing import Any, Literal, Protocol

from starlette.responses import Response

from api.annotating import Annotations, annotate
from api.formats.misp import MispEvent
from api.formats.negotiating import negotiated
from api.formats.stix import StixBundle
from api.formats.tables import CsvTable, PlainList
from api.service import Service
from api.streaming import Pieces, streamed
from intel.notes import Note
from intel.query import Page
from intel.records import Article, Ioc

Format = Literal["csv", "misp", "stix", "txt"]


class Writer(Protocol):
    """Writes indicators in one format, some at a time, with what is said of them."""

    def begin(self) -> bytes: ...
    def some(self, iocs: Sequence[Ioc], noted: Annotations) -> bytes: ...
    def end(self) -> Iterator[bytes]: ...


# Made with the address of the service, for links to its pages, and an article with the notes on it: with one they tell
# of it, without one of the newest article of each indicator.
WRITERS: Mapping[str, Callable[[str, Article | None, Sequence[Note]], Writer]] = MappingProxyType(
    {
        "csv": lambda address, article, _: CsvTable(address, article),
        "misp": MispEvent,
        "stix": StixBundle,
        "txt": lambda address, article, _: PlainList(address, article),
    }
)
_FILES: Mapping[Format, tuple[str, str]] = MappingProxyType(
    {
        "csv": ("text/csv; charset=utf-8", "indicators.csv"),
        "misp": ("application/json", "event.json"),
        "stix": ("application/stix+json;version=2.1", "indicators.json"),
        "txt": ("text/plain; charset=utf-8", "indicators.txt"),
    }
)
_TELLING_NOTES: frozenset[Format] = frozenset({"misp", "stix"})
_AT_ONCE = 50


# For the description of whatever answers in them too.
OTHER_FORMATS: dict[str, Any] = {
    "text/csv": {"schema": {"type": "string"}},
    "application/stix+json": {"schema": {"type": "object"}},
    "text/plain": {"schema": {"type": "string"}},
}


def render(format: Format, iocs: Sequence[Ioc], noted: Annotations, address: str) -> Response:
    """Answer with one page of indicators in that format, as a file to keep; `address` is the service's own."""
    writer = WRITERS[format](address, None, ())
    body = b"".join((writer.begin(), writer.some(iocs, noted), *writer.end()))
    return negotiated(Response(body, headers=_headers(format)))


async def render_article(
    format: Format,
    article: Article,
    pages: AsyncGenerator[Page[Ioc], None],
    service: Service,
    *,
    with_notes: bool = False,
) -> Response:
    """Answer with all indicators of an article in that format, written while the client reads.

    They are told with the article, not with the newest one of each; `with_notes` with what accounts wrote on it and
    them, for whoever shows a key, where the format tells it.
    """
    with_notes = with_notes and format in _TELLING_NOTES
    notes = (await service.store.notes.of([article.id])).get(article.id, ()) if with_notes else ()
    writer = WRITERS[format](service.settings.base_url, article, notes)
    headers = _headers(format) | ({"Cache-Control": "private, no-cache"} if with_notes else {})
    return negotiated(await streamed(_pieces(writer, pages, service, with_notes=with_notes), headers))


async def _pieces(
    writer: Writer, pages: AsyncGenerator[Page[Ioc], None], service: Service, *, with_notes: bool
) -> Pieces:
    yield writer.begin()
    async with aclosing(pages):
        async for page in pages:
            noted = await annotate(service.store, page.items, service.clock(), with_notes=with_notes)
            for start in range(0, len(page.items), _AT_ONCE):
                some = page.items[start : start + _AT_ONCE]
                yield await service.apart.run(lambda some=some, noted=noted: writer.some(some, noted))  # type: ignore[misc]  # mypy infers no default
    end = writer.end()
    while piece := await service.apart.run(lambda: next(end, b"")):
        yield piece


def _headers(format: Format) -> dict[str, str]:
    media_type, file_name = _FILES[format]
    return {"Content-Disposition": f'attachment; filename="{file_name}"', "Content-Type": media_type}
