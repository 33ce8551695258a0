"""Puts the parts that take articles in together, for the API's process, the worker and the command line."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ingest.blocking import Blocking
from ingest.feed_lists import ListedFeed, can_be_followed, read_list_file
from ingest.fetch import FetchAllow, Fetcher, FetchLimits
from ingest.isolated import Isolation
from ingest.near_duplicates import copies_among
from ingest.pipeline import Pipeline
from ingest.polling import keep_following, open_polling
from ingest.reading import Page, ReadPage, checked, limited, read_page
from ingest.second_reading import reading_twice
from ingest.submitting import Submitting
from ingest.turns import Turn, is_large
from ingest.work import SubmissionWork
from intel.errors import ConfigurationError
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
    fetch_limits: FetchLimits
    proxy: str | None

    async def close(self) -> None:
        await self.isolation.close()


def open_ingest(settings: Settings, store: Store, clock: Callable[[], datetime] = utc_now) -> Ingest:
    """The parts as the settings ask. Raises ConfigurationError.

    No process is started before the first page is read, or before `isolation.start` for whoever waits for pages.
    """
    allow = fetch_allow(settings)
    limits, isolation = fetch_limits(settings), Isolation()
    proxy = fetch_proxy(settings)
    large = Turn()

    async def read(page: Page) -> ReadPage:
        async with large.taken() if is_large(page) else contextlib.nullcontext():
            return checked(await isolation.run(read_page, page, settings.ioc_most_indicators))

    read_twice = reading_twice(read, isolation)

    async def read_within(page: Page) -> ReadPage:
        return limited(await read_twice(page), settings.ioc_most_indicators)

    async def compare(text: str, others: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
        return await isolation.run(copies_among, text, dict(others))

    fetcher = Fetcher(allow, limits, proxy=proxy, check_host=Blocking(store).check)
    pipeline = Pipeline(fetcher.fetch, read_within, store, clock, compare)
    work = SubmissionWork(store, pipeline.take_submitted, clock, limits.total_seconds)
    return Ingest(pipeline, work, allow, isolation, limits, proxy)


def fetch_allow(settings: Settings) -> FetchAllow:
    """What the settings exempt from the fetch guard. Raises ConfigurationError."""
    return FetchAllow.parse(",".join(settings.ioc_fetch_allow))


def fetch_proxy(settings: Settings) -> str | None:
    """The proxy that the settings name on purpose."""
    return settings.ioc_fetch_proxy.get_secret_value() if settings.ioc_fetch_proxy else None


def fetch_limits(settings: Settings) -> FetchLimits:
    """The limits of fetching as the settings ask."""
    return FetchLimits(
        connect_seconds=settings.ioc_fetch_connect_seconds,
        read_seconds=settings.ioc_fetch_read_seconds,
        total_seconds=settings.ioc_fetch_total_seconds,
        header_bytes=settings.ioc_fetch_header_bytes,
        body_bytes=settings.ioc_fetch_most_bytes,
        redirects=settings.ioc_fetch_redirects,
    )


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
