"""The lease on rebuilding the indices: one process at a time, for as long as it renews it."""

from __future__ import annotations

import asyncio
import secrets
import time

from intel.errors import StoreUnavailable
from intel.store.elastic.index import Found, Index

_LEASE_ID = "reindex"
_LEASE_SECONDS = 60.0
_RENEW_SECONDS = 5.0


class Lease:
    """The lease, held by nobody yet."""

    def __init__(self, leases: Index) -> None:
        self._leases = leases
        self._holder = secrets.token_hex(8)
        self._renewed = 0.0
        self._renewing = asyncio.Lock()

    async def take(self) -> None:
        """Take the lease or extend it; raise StoreUnavailable if another process holds it."""
        async with self._renewing:
            if not await self._put(await self._leases.get(_LEASE_ID)):
                raise StoreUnavailable("the indices are being rebuilt by another process")
            self._renewed = time.monotonic()

    async def keep(self) -> None:
        """Renew the lease, if that is due."""
        if time.monotonic() - self._renewed > _RENEW_SECONDS:
            await self.take()

    async def take_over(self) -> bool:
        """Take a lease that its holder did not give back in time; return False if there is none."""
        found = await self._leases.get(_LEASE_ID)
        if found is None or not 0 < found.source["until"] < _now():
            return False
        return await self._put(found)

    async def give_back(self) -> None:
        """Give the lease back, so that the next process may begin."""
        found = await self._leases.get(_LEASE_ID)
        if found is not None and found.source["holder"] == self._holder:
            await self._leases.replace(found, {**found.source, "until": 0})

    async def _put(self, found: Found | None) -> bool:
        document = {"holder": self._holder, "until": _now() + int(_LEASE_SECONDS * 1000)}
        if found is None:
            return await self._leases.create(_LEASE_ID, document) is not None
        if found.source["holder"] != self._holder and found.source["until"] > _now():
            return False
        return await self._leases.replace(found, document) is not None


def _now() -> int:
    return int(time.time() * 1000)
