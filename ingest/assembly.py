"""Puts the parts that take articles in together, for the API's process, the worker and the command line."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from ingest.feed_lists import read_list_file
from ingest.fetch import FetchAllow, Fetcher
from ingest.isolated import Isolation
from ingest.pipeline import Pipeline
from ingest.polling import keep_following, open_polling
from ingest.reading import Page, ReadPage, read_page
from ingest.submitting import Submitting
from ingest.work import SubmissionWork
from intel.settings import Settings
from intel.store import Store
from intel.times import utc_now


@dataclass(frozen=True, slots=True)
class Ingest:
    """The pipeline, and the work on submissions that uses it; `close` ends the processes that read pages."""

    pipeline: Pipeline
    work: SubmissionWork
    fetch_allow: FetchAllow
    isolation: Isolation

    async def close(self) -> None:
        await self.isolation.close()


def open_ingest(settings: Settings, store: Store, clock: Callable[[], datetime] = utc_now) -> Ingest:
    """The parts as the settings ask. Raises ConfigurationError.

    No process is started before the first page is read, or before `isolation.start` for whoever waits for pages.
    """
    allow = FetchAllow.parse(",".join(settings.ioc_fetch_allow))
    isolation = Isolation()

    async def read(page: Page) -> ReadPage:
        return await isolation.run(read_page, page)

    pipeline = Pipeline(Fetcher(allow).fetch, read, store, clock)
    return Ingest(pipeline, SubmissionWork(store, pipeline.take_url, clock), allow, isolation)


def open_following(
    settings: Settings,
    store: Store,
    ingest: Ingest,
    submitting: Submitting,
    clock: Callable[[], datetime] = utc_now,
) -> Callable[[], Awaitable[None]]:
    """What follows feeds, those in IOC_FEEDS among them, for as long as it is let run.

    Raises ConfigurationError where that file cannot be read.
    """
    listed = read_list_file(settings.ioc_feeds) if settings.ioc_feeds else ()
    polling = open_polling(store, submitting, ingest.isolation, ingest.fetch_allow, clock)
    return lambda: keep_following(polling, store, listed, ingest.fetch_allow, clock)
