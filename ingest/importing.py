"""Taking in files: read in other processes some way ahead of what is being saved, and saved several at once.

What is under way is bounded in files and bytes, so that memory does not grow with the import. What a killed import had
not saved is read again by the next one; a file is known once its last article is saved.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePath
from typing import Any, Final

from ingest.assembly import Ingest
from ingest.body import file_type
from ingest.bundles import read_bundle
from ingest.files import FoundFile
from ingest.handed_in import is_json
from ingest.published import date_in_name
from ingest.reading import Page, ReadPage
from ingest.saving_together import Load
from intel.errors import IngestFailed
from intel.ids import article_id, content_identity
from intel.records import Article
from intel.store import Store
from intel.tlp import Tlp

# Read by one process, one file after the other: many enough to be worth it, few enough to wait in memory.
_MOST_FILES: Final = 256
_MOST_BYTES: Final = 500_000
# The first ones are smaller, each half of the next one, so that saving begins while most is still unread.
_FIRST_BYTES: Final = 30_000
# One portion is saved from while the others are read.
_PORTIONS_UNDER_WAY: Final = 3


@dataclass(frozen=True, slots=True)
class TakenFile:
    """What became of a file: the articles in it, known before or taken in now, or why there are none."""

    path: str
    articles: tuple[Article, ...] = ()
    was_known: bool = False
    refusal: IngestFailed | None = None


@dataclass(frozen=True, slots=True)
class _ReadFile:
    """A file on its way: what it came to already, or what was read in it and is to be saved."""

    taken: TakenFile
    pages: tuple[ReadPage, ...] = ()


@dataclass(frozen=True, slots=True)
class Importing:
    """Takes files in, each as strict as `tlp` at least; those that are known already are left alone unless `again`.

    `saves_at_once`: a store on another server works on one of them while the next is made.
    """

    store: Store
    ingest: Ingest
    source: str | None
    most_indicators: int
    again: bool
    published_at: datetime | None = None
    saves_at_once: int = 1
    tlp: Tlp | None = None

    async def all(self, files: AsyncIterator[FoundFile]) -> AsyncGenerator[TakenFile, None]:
        """Yield what became of every file, in their order. Raises StoreUnavailable."""
        saving = deque[asyncio.Task[list[TakenFile]]]()
        try:
            async with aclosing(self._loads(files)) as loads:
                async for load in loads:
                    saving.append(asyncio.create_task(self._saved(load)))
                    if len(saving) == self.saves_at_once:
                        for taken in await saving.popleft():
                            yield taken
            while saving:
                for taken in await saving.popleft():
                    yield taken
        finally:
            await _cancelled(saving)

    async def _saved(self, files: Sequence[_ReadFile]) -> list[TakenFile]:
        articles: list[Article] = []
        for step in _steps(files):
            articles += await self.ingest.pipeline.take_many(step)
        saved = iter(articles)
        return [
            replace(file.taken, articles=tuple(next(saved) for _ in file.pages)) if file.pages else file.taken
            for file in files
        ]

    async def _loads(self, files: AsyncIterator[FoundFile]) -> AsyncGenerator[list[_ReadFile], None]:
        """Yield what is saved together: what has been read by the time it is asked for, something at least."""
        under_way, read = deque[asyncio.Task[list[_ReadFile]]](), deque[_ReadFile]()
        try:
            async with aclosing(_portions(files)) as portions:
                async for portion in portions:
                    under_way.append(asyncio.create_task(self._read(portion)))
                    while len(under_way) >= _PORTIONS_UNDER_WAY:
                        yield await _load(under_way, read)
            while under_way or read:
                yield await _load(under_way, read)
        finally:
            await _cancelled(under_way)

    async def _read(self, files: Sequence[FoundFile]) -> list[_ReadFile]:
        known = [None] * len(files) if self.again else await self._known(files)
        begun = [self._begun(file, article) for file, article in zip(files, known, strict=True)]
        read = iter(await self.ingest.read_many([page for page in begun if isinstance(page, Page)]))
        results: list[_ReadFile] = []
        for file, each in zip(files, begun, strict=True):
            if isinstance(each, _ReadFile):
                results.append(each)
            else:
                found = next(read) if isinstance(each, Page) else await self._bundle(each)
                results.append(self._result(file.path, found))
        return results

    async def _known(self, files: Sequence[FoundFile]) -> list[Article | None]:
        """Return the article of each file that is known already."""
        identities = [content_identity(file.body) if isinstance(file.body, bytes) else "" for file in files]
        led = await self.store.articles.ids_of(identities)
        ids = [led.get(identity) or article_id(identity) for identity in identities]
        articles = await self.store.articles.get_many(ids)
        return [articles.get(id) for id in ids]

    def _begun(self, file: FoundFile, known: Article | None) -> _ReadFile | Page | bytes:
        """Return what a file came to without being read, or the page or the bundle to read."""
        if isinstance(file.body, IngestFailed):
            return self._result(file.path, file.body)
        if known is not None:
            return _ReadFile(TakenFile(file.path, (known,), was_known=True))
        if is_json(file.body):
            return file.body
        content_type = file_type(file.body)
        if content_type is None:
            kinds = "The file is no HTML, text, Markdown, PDF, Word or EML."
            return self._result(file.path, IngestFailed("unsupported_content_type", kinds))
        named = date_in_name(PurePath(file.path).name)
        now = self.ingest.pipeline.clock()
        return Page(file.body, content_type, None, None, self.source, now, self.published_at, named)

    def _result(self, path: str, read: ReadPage | tuple[ReadPage, ...] | IngestFailed) -> _ReadFile:
        if isinstance(read, IngestFailed):
            return _ReadFile(TakenFile(path, refusal=read))
        pages = (read,) if isinstance(read, ReadPage) else read
        stated = self.source is not None
        return _ReadFile(
            TakenFile(path), tuple(replace(page.restricted(self.tlp), source_stated=stated) for page in pages)
        )

    async def _bundle(self, body: bytes) -> tuple[ReadPage, ...] | IngestFailed:
        now = self.ingest.pipeline.clock()
        reading = self.ingest.isolation.run(read_bundle, body, self.source, now, self.most_indicators)
        try:
            *first, last = await reading
        except IngestFailed as refusal:
            return refusal
        # Only when its last article is in is the file known.
        return (*first, replace(last, addresses=(*last.addresses, content_identity(body))))


async def _load(under_way: deque[asyncio.Task[list[_ReadFile]]], read: deque[_ReadFile]) -> list[_ReadFile]:
    """Take files that are read: no more than are saved together, and all that need not be waited for."""
    taken, load = list[_ReadFile](), Load()
    while not load.is_full and len(taken) < _MOST_FILES:
        if read:
            taken.append(read.popleft())
            load.add(*taken[-1].pages)
        elif under_way and (not taken or under_way[0].done()):
            read.extend(await under_way.popleft())
        else:
            break
    return taken


async def _cancelled(tasks: Collection[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _portions(files: AsyncIterator[FoundFile]) -> AsyncGenerator[list[FoundFile], None]:
    portion: list[FoundFile] = []
    size, most = 0, _FIRST_BYTES
    async for file in files:
        length = len(file.body) if isinstance(file.body, bytes) else 0
        if portion and (size + length > most or len(portion) == _MOST_FILES):
            yield portion
            portion, size, most = [], 0, min(2 * most, _MOST_BYTES)
        portion.append(file)
        size += length
    if portion:
        yield portion


def _steps(files: Sequence[_ReadFile]) -> Iterator[list[ReadPage]]:
    """Yield what is saved in one step after the other; the last article of a file never before the others are in."""
    step, load = list[ReadPage](), Load()
    for file in files:
        for place, page in enumerate(file.pages):
            ends_the_file = place > 0 and place == len(file.pages) - 1
            if step and (ends_the_file or load.is_full):
                yield step
                step, load = [], Load()
            step.append(page)
            load.add(page)
    if step:
        yield step
