"""An article and the records of its indicators as JSON, written while the client reads."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import Any

import orjson

from api.annotating import annotate
from api.service import Service
from api.streaming import Pieces
from intel.query import Page, Position
from intel.records import Article, Ioc
from intel.store.walking import pages_of

# The indicators that an article by id shows, and that a page of them may have.
MOST_RECORDS = 1_000
# So many are read from the store at once, and so many records made in one go.
READ_AT_ONCE = 250
_WRITTEN_AT_ONCE = 50
_CHARACTERS_AT_ONCE = 16_384


class ArticleRecords:
    """The first `most` records of an article's indicators from `after` on; `next` is known when they are written."""

    def __init__(self, service: Service, article_id: str, most: int, after: Position | None = None) -> None:
        self.next: Position | None = None
        self._service = service
        self._pages = pages_of(service.store.articles, article_id, READ_AT_ONCE, most, after)

    async def pieces(self) -> Pieces:
        """Yield the members of a JSON array, some at a time."""
        comma = b""
        async with aclosing(self._pages) as pages:
            async for page in pages:
                self.next = page.next
                async for piece in self._written(page):
                    yield comma + piece
                    comma = b","

    async def _written(self, page: Page[Ioc]) -> AsyncGenerator[bytes, None]:
        noted = await annotate(self._service.store, page.items, self._service.clock())
        for start in range(0, len(page.items), _WRITTEN_AT_ONCE):
            some = page.items[start : start + _WRITTEN_AT_ONCE]
            yield await self._service.apart.run(lambda some=some: orjson.dumps(noted.records(some))[1:-1])  # type: ignore[misc]  # mypy infers no default


async def article_pieces(service: Service, article: Article, shown: dict[str, Any]) -> Pieces:
    """Yield an article as JSON: what is shown of it, its text, and the first records of its indicators."""
    yield orjson.dumps(shown)[:-1] + b',"text":"'
    for piece in text_pieces(article.text or ""):
        yield piece
    yield b'","iocs":['
    async with aclosing(ArticleRecords(service, article.id, MOST_RECORDS).pieces()) as records:
        async for piece in records:
            yield piece
    yield b"]}"


def text_pieces(text: str) -> Iterator[bytes]:
    """Yield what stands between the quotes of a JSON string, some at a time."""
    for start in range(0, len(text), _CHARACTERS_AT_ONCE):
        yield orjson.dumps(text[start : start + _CHARACTERS_AT_ONCE])[1:-1]
