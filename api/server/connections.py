"""Counts the open connections of one process and checks each of them twice a second."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Protocol

import structlog

from api.server.limits import ConnectionLimits
from api.server.refusals import TOO_MANY, TOO_MANY_OF_ADDRESS, Refusal

_LOOK_SECONDS = 0.5
_QUIET_SECONDS = 10.0

log = structlog.get_logger()


class Connection(Protocol):
    """One client's connection; `address` is what its connections are counted by, None where they are not."""

    address: str | None

    def look(self, now: float) -> None:
        """End the connection if it takes longer than it may."""


class Connections:
    """Admits connections up to the limits, ends those that take too long, and reports refusals.

    `observe` gets the number of open connections, `refused` the reason of each refusal; the log has one line a reason
    in ten seconds.
    """

    def __init__(
        self,
        limits: ConnectionLimits,
        *,
        observe: Callable[[int], None] = lambda _: None,
        refused: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.limits = limits
        self._observe = observe
        self._refused = refused
        self._open: set[Connection] = set()
        self._by_address: Counter[str] = Counter()
        self._unreported: dict[Refusal, tuple[int, str | None]] = {}
        self._quiet_until: dict[Refusal, float] = {}
        self._next_look: asyncio.TimerHandle | None = None

    def admit(self, connection: Connection) -> Refusal | None:
        """Count a new connection, or say why there is no room for it."""
        refusal = self._no_room_for(connection.address)
        if refusal is not None:
            self.report(refusal, connection.address)
            return refusal
        self._open.add(connection)
        if connection.address is not None:
            self._by_address[connection.address] += 1
        self._observe(len(self._open))
        self._look_again()
        return None

    def release(self, connection: Connection) -> None:
        """Free the slot of a connection that has ended; a connection that was refused has none."""
        if connection not in self._open:
            return
        self._open.remove(connection)
        if connection.address is not None:
            self._by_address[connection.address] -= 1
            if not self._by_address[connection.address]:
                del self._by_address[connection.address]
        self._observe(len(self._open))

    def report(self, refusal: Refusal, address: str | None) -> None:
        """Count a refusal for the metrics and for the next line of the log."""
        self._refused(refusal.reason)
        self._unreported[refusal] = (self._unreported.get(refusal, (0, None))[0] + 1, address)
        self._look_again()

    def _no_room_for(self, address: str | None) -> Refusal | None:
        if len(self._open) >= self.limits.connections:
            return TOO_MANY
        if address is not None and self._by_address[address] >= self.limits.connections_per_address:
            return TOO_MANY_OF_ADDRESS
        return None

    def _look_again(self) -> None:
        if self._next_look is None and (self._open or self._unreported):
            self._next_look = asyncio.get_running_loop().call_later(_LOOK_SECONDS, self._look)

    def _look(self) -> None:
        now = asyncio.get_running_loop().time()
        self._next_look = None
        self._look_again()
        for connection in tuple(self._open):
            connection.look(now)
        for refusal in tuple(self._unreported):
            self._log(refusal, now)

    def _log(self, refusal: Refusal, now: float) -> None:
        if now >= self._quiet_until.get(refusal, now):
            times, address = self._unreported.pop(refusal)
            self._quiet_until[refusal] = now + _QUIET_SECONDS
            log.warning(refusal.log, times=times, last_address=address, open=len(self._open))
