"""A door before a server on this machine, which a test closes and opens again."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit


class Forwarder:
    """Passes connections on to `host:port`, unless it is closed: then those that stand break, and none is taken."""

    def __init__(self, host: str, port: int) -> None:
        self._there = (host, port)
        self._loop = asyncio.new_event_loop()
        self._server: asyncio.Server | None = None
        self._passing: set[asyncio.Task[None]] = set()
        self.port = 0
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.open()

    def open(self) -> None:
        asyncio.run_coroutine_threadsafe(self._open(), self._loop).result(10)

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(10)

    def end(self) -> None:
        self.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _open(self) -> None:
        self._server = await asyncio.start_server(self._pass, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        for task in self._passing:
            task.cancel()
        await asyncio.gather(*self._passing, return_exceptions=True)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._passing.add(task)
        try:
            there_reader, there_writer = await asyncio.open_connection(*self._there)
            with contextlib.closing(there_writer):
                await asyncio.wait(
                    (
                        asyncio.ensure_future(_pour(reader, there_writer)),
                        asyncio.ensure_future(_pour(there_reader, writer)),
                    ),
                    return_when=asyncio.FIRST_COMPLETED,
                )
        except (OSError, asyncio.CancelledError):
            pass  # the door was closed
        finally:
            self._passing.discard(task)
            writer.transport.abort()


async def _pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()


@contextmanager
def forwarding(url: str) -> Iterator[Forwarder]:
    """A door before the server at that address."""
    parts = urlsplit(url)
    made = Forwarder(parts.hostname or "127.0.0.1", parts.port or 80)
    try:
        yield made
    finally:
        made.end()
