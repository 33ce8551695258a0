"""`ioc import` and `ioc submit`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console

from api import views
from api.cli.running import print_json, print_table, progress_bar, say, with_store
from ingest.assembly import open_ingest
from ingest.body import article_type
from ingest.queue.embedded import EmbeddedQueue
from ingest.queue.port import Queue
from ingest.queue.redis import ArqQueue
from ingest.submitting import Submitting
from ingest.work import sweep
from intel.errors import IngestFailed, IocError
from intel.ids import account_id
from intel.records import Submission
from intel.settings import Settings
from intel.store import Store
from intel.times import utc_now

# Submissions from the command line belong to the account that the first start makes.
_OPERATOR = account_id("admin@localhost")
_LARGEST_FILE = 50_000_000
_POLL_SECONDS = 0.3
_SUFFIXES = frozenset({".html", ".htm", ".xhtml", ".txt", ".md", ".markdown", ".pdf"})


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of one file; `reason` says why it failed."""

    path: str
    status: str
    title: str | None = None
    article_id: str | None = None
    ioc_count: int | None = None
    reason: str | None = None


def import_paths(paths: Sequence[Path], source: str | None, *, as_json: bool) -> int:
    """Exit status 1 where a file could not be read; the others are taken in all the same."""
    files = list(_files(paths))
    if not files:
        raise IocError(
            "there is nothing to import: no HTML, text, Markdown or PDF file in " + ", ".join(map(str, paths))
        )

    async def run(store: Store, settings: Settings) -> list[Imported]:
        return await _import_all(store, settings, files, source)

    results = with_store(run)
    if as_json:
        print_json({"items": [asdict(result) for result in results]})
    else:
        rows = [(Path(r.path).name, r.status, r.ioc_count or 0, r.reason or r.title or "") for r in results]
        print_table("Imported", ("file", "status", "indicators", "article"), rows)
    failed = sum(result.status == "failed" for result in results)
    say(f"{len(results) - failed} of {len(results)} files imported")
    return 1 if failed else 0


def _files(paths: Iterable[Path]) -> Iterable[Path]:
    for path in paths:
        if path.is_dir():
            for folder, folders, names in os.walk(path):
                folders.sort()
                yield from (Path(folder, name) for name in sorted(names) if Path(name).suffix.lower() in _SUFFIXES)
        elif path.is_file():
            yield path
        else:
            raise IocError(f"{path} is no file or folder")


async def _import_all(store: Store, settings: Settings, files: Sequence[Path], source: str | None) -> list[Imported]:
    ingest = open_ingest(settings, store)
    results = []
    try:
        with progress_bar() as progress:
            for path in progress.track(files, description="importing"):
                try:
                    body, content_type = _read(path)
                    article = await ingest.pipeline.take_file(body, content_type, source)
                    results.append(Imported(str(path), "done", article.title, article.id, article.ioc_count))
                except IngestFailed as error:
                    results.append(Imported(str(path), "failed", reason=error.detail))
    finally:
        await ingest.close()
    return results


def _read(path: Path) -> tuple[bytes, str]:
    """A file's bytes and media type. Raises IngestFailed where it is nothing that can be read as an article."""
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise IngestFailed("body_too_large", f"The file is larger than {_LARGEST_FILE // 1_000_000} MB.")
        body = path.read_bytes()
    except OSError as error:
        raise IngestFailed("unreadable_file", f"The file cannot be read ({error.strerror}).") from None
    content_type = article_type(None, body)
    if content_type is None:
        raise IngestFailed("unsupported_content_type", "The file is no HTML, text, Markdown or PDF.")
    return body, content_type


def submit_url(url: str, source: str | None, *, wait: bool, as_json: bool) -> int:
    """Exit status 1 where the submission failed."""

    async def run(store: Store, settings: Settings) -> Submission:
        return await _submit(store, settings, url, source, wait=wait)

    with Console(stderr=True).status("reading the article …"):
        submission = with_store(run)
    if as_json:
        print_json(views.submission(submission))
    else:
        say(_sentence(submission))
    return 1 if submission.status == "failed" else 0


async def _submit(store: Store, settings: Settings, url: str, source: str | None, *, wait: bool) -> Submission:
    """Embedded, this process reads the article itself, unless a running service is quicker to claim it."""
    ingest = open_ingest(settings, store)
    redis = settings.redis_address
    queue: Queue = ArqQueue(redis) if redis else EmbeddedQueue(ingest.work.read)
    sweeping = asyncio.create_task(sweep(store, queue, utc_now))
    try:
        submission = await Submitting(store, queue, ingest.fetch_allow, utc_now).submit(_OPERATOR, url, source)
        while wait and not submission.ended:
            await asyncio.sleep(_POLL_SECONDS)
            submission = await store.submissions.get(submission.id) or submission
        return submission
    finally:
        sweeping.cancel()
        await asyncio.gather(sweeping, return_exceptions=True)
        await queue.close()
        await ingest.close()


def _sentence(submission: Submission) -> str:
    if submission.status == "done":
        return f"done: {submission.ioc_count} indicators in article {submission.article_id}"
    if submission.status == "failed":
        return f"failed ({submission.reason}): {submission.detail}"
    return f"accepted as {submission.id}; a running service or worker reads it"
