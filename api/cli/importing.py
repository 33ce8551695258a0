"""`ioc import`: articles from files, folders, archives, MISP events and STIX bundles."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from api.cli.running import print_json, print_table, progress_bar, say, with_store
from ingest.assembly import Ingest, open_ingest
from ingest.body import article_type
from ingest.bundles import read_bundle
from ingest.files import FoundFile, count_found, found_files
from intel.errors import IngestFailed, IocError
from intel.ids import article_id, content_identity
from intel.records import IOC_TYPES, Article
from intel.settings import Settings
from intel.store import Store
from intel.times import utc_now

# Reading is done by processes of their own, of which there are as many as cores.
_AT_ONCE = 4
_LONGEST_TABLE = 40


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of a file, or of one article in it; `reason` says why it failed. `status`: done, known, failed."""

    path: str
    status: str
    title: str | None = None
    article_id: str | None = None
    ioc_count: int | None = None
    ioc_counts: dict[str, int] = field(default_factory=dict)
    ioc_dropped: int = 0
    reason: str | None = None


def import_paths(paths: Sequence[Path], source: str | None, *, again: bool, as_json: bool) -> int:
    """Exit status 1 where a file could not be read; the others are taken in all the same.

    What was imported before is left alone unless `again`: so the same command goes on where it was stopped.
    """
    results: list[Imported] = []

    async def run(store: Store, settings: Settings) -> None:
        ingest = open_ingest(settings, store)
        try:
            importing = Importing(store, ingest, source, settings.ioc_most_indicators, again)
            with progress_bar() as progress:
                task = progress.add_task("importing", total=await count_found(ingest.isolation, paths))
                async for imported in importing.all(paths):
                    results.extend(imported)
                    progress.advance(task)
        finally:
            await ingest.close()

    try:
        with_store(run)
    except KeyboardInterrupt:
        _report(results, as_json=as_json)
        say("stopped; the same command goes on from here")
        return 1
    if not results:
        kinds = "HTML, text, Markdown, PDF, MISP or STIX file, nor an archive of them"
        raise IocError(f"there is nothing to import: no {kinds} in " + ", ".join(map(str, paths)))
    _report(results, as_json=as_json)
    return 1 if any(result.status == "failed" for result in results) else 0


@dataclass(frozen=True, slots=True)
class Importing:
    """Takes files in, a few at once; results come in the order of the files."""

    store: Store
    ingest: Ingest
    source: str | None
    most_indicators: int
    again: bool

    async def all(self, paths: Sequence[Path]) -> AsyncIterator[list[Imported]]:
        """Yield what became of every file."""
        under_way = list[asyncio.Task[list[Imported]]]()
        try:
            async with contextlib.aclosing(found_files(self.ingest.isolation, paths)) as files:
                async for file in files:
                    under_way.append(asyncio.create_task(self._taken(file)))
                    if len(under_way) >= _AT_ONCE:
                        yield await under_way.pop(0)
            while under_way:
                yield await under_way.pop(0)
        finally:
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)

    async def _taken(self, file: FoundFile) -> list[Imported]:
        try:
            if isinstance(file.body, IngestFailed):
                raise file.body
            if not self.again and (known := await self._known(file.body)):
                return [_row(file.path, "known", known)]
            return [_row(file.path, "done", article) for article in await self._articles(file.body)]
        except IngestFailed as error:
            return [Imported(file.path, "failed", reason=error.detail)]

    async def _known(self, body: bytes) -> Article | None:
        identity = content_identity(body)
        known = await self.store.articles.id_of(identity)
        return await self.store.articles.get(known or article_id(identity))

    async def _articles(self, body: bytes) -> list[Article]:
        pipeline, isolation = self.ingest.pipeline, self.ingest.isolation
        if body[:64].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["):
            read = await isolation.run(read_bundle, body, self.source, utc_now(), self.most_indicators)
            articles = [await pipeline.take_read(each) for each in read[:-1]]
            # Only when its last article is in is the file known.
            return [*articles, await pipeline.take_read(read[-1], content_identity(body))]
        content_type = article_type(None, body)
        if content_type is None:
            raise IngestFailed("unsupported_content_type", "The file is no HTML, text, Markdown or PDF.")
        return [await pipeline.take_file(body, content_type, self.source)]


def _row(path: str, status: str, article: Article) -> Imported:
    counts = {kind: article.ioc_counts[kind] for kind in IOC_TYPES if article.ioc_counts.get(kind)}
    return Imported(path, status, article.title, article.id, article.ioc_count, counts, article.ioc_dropped)


def _report(results: Sequence[Imported], *, as_json: bool) -> None:
    if as_json:
        print_json({"items": [asdict(result) for result in results], "summary": _summary(results)})
    else:
        shown = (
            [result for result in results if result.status == "failed"] if len(results) > _LONGEST_TABLE else results
        )
        rows = [(_name(r.path), r.status, r.ioc_count or 0, r.reason or r.title or "") for r in shown]
        if rows:
            print_table("Imported", ("file", "status", "indicators", "article"), rows)
    for line in _sentences(results):
        say(line)


def _name(path: str) -> str:
    """Return the file's own name, and its place in an archive."""
    outer, bang, inner = path.partition("!")
    return Path(outer).name + bang + inner


def _summary(results: Sequence[Imported]) -> dict[str, object]:
    counts: Counter[str] = Counter()
    for result in results:
        counts.update(result.ioc_counts if result.status == "done" else {})
    status = Counter(result.status for result in results)
    return {
        **{name: status[name] for name in ("done", "known", "failed")},
        "ioc_counts": {kind: counts[kind] for kind in IOC_TYPES if counts[kind]},
        "ioc_dropped": sum(result.ioc_dropped for result in results if result.status == "done"),
    }


def _sentences(results: Sequence[Imported]) -> Iterator[str]:
    summary = _summary(results)
    files = len({result.path for result in results})
    well = len({result.path for result in results if result.status != "failed"})
    yield f"{well} of {files} files imported"
    if summary["known"]:
        yield f"{summary['known']} of them were known already; --again reads such files again"
    counts = summary["ioc_counts"]
    if isinstance(counts, dict) and counts:
        yield "indicators: " + ", ".join(f"{kind} {number:,}" for kind, number in counts.items())
    if summary["ioc_dropped"]:
        yield f"{summary['ioc_dropped']:,} indicators were beyond the limit of an article and are not stored"
