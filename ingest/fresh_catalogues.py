"""Keeping catalogues fresh: those that the settings name are fetched once a day, through the fetch guard."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog

from ingest.catalogues import CATALOGUES, import_catalogue, is_address, locate
from ingest.fetch import FetchAllow
from ingest.work import Clock
from intel.errors import CatalogueUnreadable, ConfigurationError, IngestFailed, StoreUnavailable
from intel.store import Store

log = structlog.get_logger()

FRESH = timedelta(days=1)
_AGAIN = timedelta(hours=1)
_LOOK_SECONDS = 600.0
_FIRST_WITHIN_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """A catalogue, and where it is published."""

    name: str
    address: str


@dataclass(frozen=True, slots=True)
class FreshCatalogues:
    """Fetches what is a day old; what failed is tried again after an hour, and the former one stays until then."""

    store: Store
    wanted: Sequence[Wanted]
    allow: FetchAllow
    proxy: str | None
    clock: Clock
    _tried_at: dict[Wanted, datetime] = field(default_factory=dict)

    async def renew(self) -> list[str]:
        """Import what is due; return the names of what was imported. Raises StoreUnavailable."""
        now = self.clock()
        imported_at = {each.name: each.imported_at for each in await self.store.catalogues.all()}
        due = [one for one in self.wanted if self._is_due(one, imported_at.get(one.name), now)]
        return [one.name for one in due if await self._import(one)]

    def _is_due(self, one: Wanted, imported_at: datetime | None, now: datetime) -> bool:
        tried_at = self._tried_at.get(one)
        if tried_at is not None and now - tried_at < _AGAIN:
            return False
        return imported_at is None or now - imported_at >= FRESH

    async def _import(self, one: Wanted) -> bool:
        self._tried_at[one] = self.clock()
        try:
            found = await locate(one.address, self.allow, self.proxy)
            done = await import_catalogue(self.store, one.name, found, self.clock(), lambda read: None)
        except (IngestFailed, CatalogueUnreadable) as error:
            log.warning("a catalogue could not be fetched; the former one stays", catalogue=one.name, error=str(error))
            return False
        log.info("a catalogue was fetched", catalogue=one.name, entries=done.catalogue.entries)
        return True

    async def keep(self) -> None:
        """Do so again and again until cancelled. Of several processes the first to look mostly does it for all."""
        await asyncio.sleep(random.uniform(0, _FIRST_WITHIN_SECONDS))
        while True:
            try:
                await self.renew()
            except StoreUnavailable:
                log.info("the store is out of reach; catalogues are fetched later")
            except Exception:
                log.exception("fetching catalogues failed")
            await asyncio.sleep(_LOOK_SECONDS)


def read_wanted(parts: Sequence[str]) -> tuple[Wanted, ...]:
    """Read `name=address` parts. Raises ConfigurationError with a sentence."""
    wanted = tuple(
        Wanted(name.strip(), address.strip()) for name, _, address in (part.partition("=") for part in parts)
    )
    for one in wanted:
        if one.name not in CATALOGUES or not is_address(one.address):
            raise ConfigurationError(
                f"IOC_CATALOGUES: {one.name[:40]!r} must be written like kev=https://… (one of {', '.join(CATALOGUES)})"
            )
    return wanted
