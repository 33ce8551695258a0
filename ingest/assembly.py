"""Puts the parts that take articles in together, for the API's process, the worker and the command line."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ingest.blocking import Blocking
from ingest.copies import Compare
from ingest.feed_lists import ListedFeed, can_be_followed, read_list_file
from ingest.fetch import FetchAllow, Fetcher, FetchLimits
from ingest.fresh_catalogues import FreshCatalogues, read_wanted
from ingest.handed_in import HandedIn
from ingest.isolated import Isolation
from ingest.near_duplicates import copies_among
from ingest.observing import Observer, Unobserved
from ingest.pipeline import Pipeline, Read
from ingest.polling import keep_following, open_polling
from ingest.reading import Page, ReadPage, checked, is_large, limited, read_page
from ingest.reading_many import ReadMany
from ingest.saving_together import SavingTogether
from ingest.second_extractor import reading_twice
from ingest.submitting import Submitting
from ingest.work import SubmissionWork
from intel.errors import ConfigurationError
from intel.ids import OPERATOR
from intel.records import Article, Submission
from intel.settings import Settings
from intel.store import Store
from intel.times import utc_now

# A step makes Elasticsearch write and open a segment of each index, which costs as much as a dozen articles; on SQLite
# what the articles of a step name alike is looked up and written once: of twelve in a step each costs two thirds of
# what one of four does. The next step begins so long after the last one at the earliest, and later where few pages wait
# of those under way.
_SERVED_PAUSE_SECONDS, _SERVED_PATIENCE_SECONDS = 1.0, 1.0
_EMBEDDED_PAUSE_SECONDS, _EMBEDDED_PATIENCE_SECONDS = 0.0, 1.5


@dataclass(frozen=True, slots=True)
class Ingest:
    """The pipeline, and the work on submissions that uses it; `close` ends the processes that read pages.

    `read_many` reads the operator's own files.
    """

    pipeline: Pipeline
    read_many: ReadMany
    work: SubmissionWork
    fetch_allow: FetchAllow
    isolation: Isolation
    fetch_limits: FetchLimits
    proxy: str | None
    saving: SavingTogether

    async def close(self) -> None:
        await self.saving.close()
        await self.isolation.close()


def open_ingest(
    settings: Settings,
    store: Store,
    clock: Callable[[], datetime] = utc_now,
    observer: Observer | None = None,
    isolation: Isolation | None = None,
) -> Ingest:
    """Return the parts as the settings ask; `observer` is told how articles fare. Raises ConfigurationError.

    No process is started before the first page is read, or before `isolation.start` for whoever waits for pages.
    """
    allow = fetch_allow(settings)
    limits, isolation = fetch_limits(settings), isolation or Isolation()
    proxy = fetch_proxy(settings)
    fetcher = Fetcher(allow, limits, proxy=proxy, check_host=Blocking(store).check)

    async def save_new(page: ReadPage) -> Article | None:
        return await saving(page)

    def pipeline_for(account_id: str) -> Pipeline:
        read, compare = _readers(isolation, account_id, settings.ioc_most_indicators)
        return Pipeline(fetcher.fetch, read, store, clock, compare, observer or Unobserved(), save_new)

    async def take_submitted(submission: Submission) -> Article:
        pipeline = pipeline_for(submission.account_id)
        if submission.file_id is not None:
            return await HandedIn(store, pipeline, isolation, settings.ioc_most_indicators).take(submission)
        with saving.page_under_way():
            return await pipeline.take_submitted(submission)

    work = SubmissionWork(store, take_submitted, clock, limits.total_seconds)
    pipeline = pipeline_for(OPERATOR)
    # Of whichever accounts: copies are told in the operator's share of the isolation.
    saving = SavingTogether(
        pipeline.take_new,
        _SERVED_PAUSE_SECONDS if settings.served else _EMBEDDED_PAUSE_SECONDS,
        _SERVED_PATIENCE_SECONDS if settings.served else _EMBEDDED_PATIENCE_SECONDS,
    )
    read_many = ReadMany(isolation, pipeline.read, settings.ioc_most_indicators)
    return Ingest(pipeline, read_many, work, allow, isolation, limits, proxy, saving)


def _readers(isolation: Isolation, account_id: str, most_indicators: int) -> tuple[Read, Compare]:
    """Return what reads and compares an account's pages, in its share of the isolation."""

    async def read_once(page: Page) -> ReadPage:
        large = is_large(page)
        return checked(await isolation.run(read_page, page, most_indicators, account_id=account_id, is_large=large))

    read_twice = reading_twice(read_once, isolation, account_id)

    async def read(page: Page) -> ReadPage:
        return limited(await read_twice(page), most_indicators)

    async def compare(text: str, others: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
        return await isolation.run(copies_among, text, dict(others), account_id=account_id)

    return read, compare


def fetch_allow(settings: Settings) -> FetchAllow:
    """Return the exemptions from the fetch guard that the settings name. Raises ConfigurationError."""
    return FetchAllow.parse(",".join(settings.ioc_fetch_allow))


def fetch_proxy(settings: Settings) -> str | None:
    """Return the proxy that the settings name on purpose."""
    return settings.ioc_fetch_proxy.get_secret_value() if settings.ioc_fetch_proxy else None


def fetch_limits(settings: Settings) -> FetchLimits:
    """Return the limits of fetching as the settings ask."""
    return FetchLimits(
        connect_seconds=settings.ioc_fetch_connect_seconds,
        read_seconds=settings.ioc_fetch_read_seconds,
        total_seconds=settings.ioc_fetch_total_seconds,
        header_bytes=settings.ioc_fetch_header_bytes,
        body_bytes=settings.ioc_fetch_most_bytes,
        redirects=settings.ioc_fetch_redirects,
    )


def open_catalogues(
    settings: Settings, store: Store, ingest: Ingest, clock: Callable[[], datetime] = utc_now
) -> tuple[Callable[[], Awaitable[None]], ...]:
    """Return what keeps the catalogues in IOC_CATALOGUES fresh; nothing where none are named. ConfigurationError."""
    wanted = read_wanted(settings.ioc_catalogues)
    return (FreshCatalogues(store, wanted, ingest.fetch_allow, ingest.proxy, clock).keep,) if wanted else ()


def open_following(
    settings: Settings,
    store: Store,
    ingest: Ingest,
    submitting: Submitting,
    clock: Callable[[], datetime] = utc_now,
) -> Callable[[], Awaitable[None]]:
    """Return what follows feeds, those in IOC_FEEDS among them, for as long as it is let run.

    Raises ConfigurationError where that file cannot be read or names no feed that can be followed.
    """
    listed = _listed(settings.ioc_feeds, ingest.fetch_allow) if settings.ioc_feeds else ()
    polling = open_polling(
        store, submitting, ingest.isolation, ingest.fetch_allow, clock, ingest.fetch_limits, ingest.proxy
    )
    return lambda: keep_following(polling, store, listed, ingest.fetch_allow, clock)


def _listed(path: Path, allow: FetchAllow) -> tuple[ListedFeed, ...]:
    try:
        listed = read_list_file(path)
    except ConfigurationError as error:
        raise ConfigurationError(f"IOC_FEEDS: {error}") from None
    if listed and not any(can_be_followed(one, allow) for one in listed):
        raise ConfigurationError(f"IOC_FEEDS: {path} names no feed; write one address a line, or give OPML")
    return listed
