"""Ways out of a list of indicators other than JSON."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from types import MappingProxyType
from typing import Any, Literal, Protocol

from starlette.responses import Response

from api.apart import Apart
from api.formats.negotiating import negotiated
from api.formats.stix import StixBundle
from api.formats.tables import CsvTable, PlainList
from api.streaming import Pieces, streamed
from intel.query import Page
from intel.records import ArticleRef, Ioc

Format = Literal["csv", "stix", "txt"]


class Writer(Protocol):
    """Writes indicators in one format, some at a time."""

    def begin(self) -> bytes: ...
    def some(self, iocs: Sequence[Ioc]) -> bytes: ...
    def end(self) -> Iterator[bytes]: ...


# With an article they tell of it, without one of the newest article of each indicator.
WRITERS: Mapping[str, Callable[[ArticleRef | None], Writer]] = MappingProxyType(
    {"csv": CsvTable, "stix": StixBundle, "txt": PlainList}
)
_FILES: Mapping[Format, tuple[str, str]] = MappingProxyType(
    {
        "csv": ("text/csv; charset=utf-8", "indicators.csv"),
        "stix": ("application/stix+json;version=2.1", "indicators.json"),
        "txt": ("text/plain; charset=utf-8", "indicators.txt"),
    }
)
_AT_ONCE = 50


# For the description of whatever answers in them too.
OTHER_FORMATS: dict[str, Any] = {
    "text/csv": {"schema": {"type": "string"}},
    "application/stix+json": {"schema": {"type": "object"}},
    "text/plain": {"schema": {"type": "string"}},
}


def render(format: Format, iocs: Sequence[Ioc]) -> Response:
    """Answer with one page of indicators in that format, as a file to keep."""
    writer = WRITERS[format](None)
    return negotiated(Response(b"".join((writer.begin(), writer.some(iocs), *writer.end())), headers=_headers(format)))


async def render_article(
    format: Format, article: ArticleRef, pages: AsyncGenerator[Page[Ioc], None], apart: Apart
) -> Response:
    """Answer with all indicators of an article in that format, written while the client reads.

    They are told with the article, not with the newest one of each.
    """
    return negotiated(await streamed(_pieces(WRITERS[format](article), pages, apart), _headers(format)))


async def _pieces(writer: Writer, pages: AsyncGenerator[Page[Ioc], None], apart: Apart) -> Pieces:
    yield writer.begin()
    async with aclosing(pages):
        async for page in pages:
            for start in range(0, len(page.items), _AT_ONCE):
                some = page.items[start : start + _AT_ONCE]
                yield await apart.run(lambda some=some: writer.some(some))  # type: ignore[misc]  # mypy infers no default
    end = writer.end()
    while piece := await apart.run(lambda: next(end, b"")):
        yield piece


def _headers(format: Format) -> dict[str, str]:
    media_type, file_name = _FILES[format]
    return {"Content-Disposition": f'attachment; filename="{file_name}"', "Content-Type": media_type}
