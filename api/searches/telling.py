"""Put the parts together that tell the receivers of saved searches, for the API's process and the worker."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime

from api.searches.delivering import Delivering
from api.searches.mail import Mailer
from api.searches.matching import Matching
from ingest.assembly import Ingest
from ingest.fetch import Poster
from intel.settings import Settings
from intel.store import Store
from intel.times import utc_now

_LONGEST_SECONDS = 15.0


def open_telling(
    settings: Settings, store: Store, ingest: Ingest, clock: Callable[[], datetime] = utc_now
) -> Callable[[], Awaitable[None]]:
    """Return what tells receivers for as long as it is let run."""
    limits = replace(ingest.fetch_limits, total_seconds=min(_LONGEST_SECONDS, ingest.fetch_limits.total_seconds))
    mailer = Mailer(settings) if settings.ioc_smtp_host else None
    matching = Matching(store, clock, settings.base_url, sends_mail=mailer is not None)
    poster = Poster(ingest.fetch_allow, limits, proxy=ingest.proxy)
    delivering = Delivering(store, poster, mailer, clock, settings.base_url)

    async def tell() -> None:
        await asyncio.gather(matching.follow(), delivering.follow())

    return tell
