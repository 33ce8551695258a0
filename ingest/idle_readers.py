"""Processes that have read a page and wait for the next one of the same account: to make one costs as much as a short
page. Whoever waits does so for a moment, and there are few of them: each holds the memory that its pages took.
"""

from __future__ import annotations

import asyncio
import socket
from typing import Final, NamedTuple

WAIT_SECONDS: Final = 1.0


class _Waiting(NamedTuple):
    account_id: str
    ending: asyncio.TimerHandle


class IdleReaders:
    """At most `most` processes, each by the socket that it takes jobs from; closing that ends it, as does waiting."""

    def __init__(self, most: int, wait_seconds: float = WAIT_SECONDS) -> None:
        self._most = most
        self._wait_seconds = wait_seconds
        self._waiting: dict[socket.socket, _Waiting] = {}

    def take(self, account_id: str) -> socket.socket | None:
        """Return a process that has read for this account, the last one that did; None where none waits."""
        own = [reader for reader, waiting in self._waiting.items() if waiting.account_id == account_id]
        while own:
            reader = own.pop()
            self._waiting.pop(reader).ending.cancel()
            if _says_nothing(reader):
                return reader
            reader.close()
        return None

    def put(self, account_id: str, reader: socket.socket) -> None:
        """Let a process wait for the account's next job; whoever has waited longest makes room."""
        if len(self._waiting) >= self._most:
            self._end(next(iter(self._waiting)))
        ending = asyncio.get_running_loop().call_later(self._wait_seconds, self._end, reader)
        self._waiting[reader] = _Waiting(account_id, ending)

    def close(self) -> None:
        """End all of them."""
        while self._waiting:
            self._end(next(iter(self._waiting)))

    def _end(self, reader: socket.socket) -> None:
        self._waiting.pop(reader).ending.cancel()
        reader.close()


def _says_nothing(reader: socket.socket) -> bool:
    """Tell whether a process is there still, and has not said anything that nobody asked."""
    try:
        reader.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
