"""Letting go of old articles: each is written to an archive first, then removed with what only it told."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import orjson
import structlog

from ingest.work import Clock
from intel.errors import StoreUnavailable
from intel.records import Article
from intel.settings import Settings
from intel.store import Store
from intel.weekly.weeks import WEEK, week_id

log = structlog.get_logger()

# In the data folder.
ARCHIVE = "archive"
_EVERY_SECONDS = 3600.0
_FIRST_AFTER_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Retention:
    """Removes articles whose `seen_at` is more than `days` ago; `folder` keeps them, a file of lines for each week.

    What weekly roundups said stays, for it was true then. An article that a killed process had archived but not removed
    stands in the archive twice.
    """

    store: Store
    days: int
    folder: Path
    clock: Clock

    async def expire(self) -> int:
        """Let go of everything that is old by now, oldest first; return how many articles that were.

        Raises OSError where the archive cannot be written: nothing is removed then.
        """
        cutoff, gone = self.clock() - timedelta(days=self.days), 0
        for monday in reversed(await self.store.articles.weeks()):
            if monday >= cutoff:
                break
            for article in await self.store.articles.between(monday, min(monday + WEEK, cutoff)):
                gone += await self._let_go(article)
        return gone

    async def _let_go(self, outline: Article) -> bool:
        article = await self.store.articles.get(outline.id)
        if article is None:
            return False
        sightings = await self.store.articles.sightings_of(article.id)
        line = orjson.dumps({"article": article, "sightings": sightings}, option=orjson.OPT_UTC_Z) + b"\n"
        await asyncio.to_thread(_append, self.folder, f"{week_id(article.seen_at)}.ndjson", line)
        return await self.store.articles.remove(article.id, expired=True)

    async def keep(self) -> None:
        """Do so every hour until cancelled."""
        await asyncio.sleep(_FIRST_AFTER_SECONDS)
        while True:
            try:
                if gone := await self.expire():
                    log.info("old articles were archived and removed", articles=gone, older_than_days=self.days)
            except StoreUnavailable:
                log.info("the store is out of reach; old articles go later")
            except OSError as error:
                log.warning("old articles stay: the archive cannot be written", error=str(error))
            await asyncio.sleep(_EVERY_SECONDS)


def open_retention(settings: Settings, store: Store, clock: Clock) -> Retention | None:
    """Return what lets go of old articles; None where everything is kept."""
    days = settings.ioc_retention_days
    return None if days is None else Retention(store, days, settings.data_dir / ARCHIVE, clock)


def _append(folder: Path, name: str, line: bytes) -> None:
    """Add a line to a file; it is on the disk when this returns."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = os.open(folder / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(file, "ab") as opened:
        opened.write(line)
        opened.flush()
        os.fsync(file)
