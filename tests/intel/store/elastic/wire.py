"""A wire between a store and the real server that a test can cut, stall or rob of its answers."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit


@dataclass(slots=True)
class Wire:
    """Passes bytes on, unless it is `cut`, `stalled` (answers never come), or has no `requests_left`.

    The next requests to `canned_path` get the `canned` answers instead of the server's. Answers to requests for
    `late_path` come only once `late` is set.
    """

    address: str
    url: str = ""
    cut: bool = False
    stalled: bool = False
    answers_to_lose: int = 0
    requests_left: int | None = None
    heads: list[str] = field(default_factory=list)
    canned: list[tuple[int, bytes]] = field(default_factory=list)
    canned_path: str = "/"
    late_path: str = ""
    late: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection of the store."""
        parts = urlsplit(self.address)
        if self.cut:
            await _close(writer)
            return
        upstream, downstream = await asyncio.open_connection(parts.hostname, parts.port)
        passing = [self._requests(reader, downstream, writer), self._answers(upstream, writer)]
        tasks = [asyncio.create_task(one) for one in passing]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(_close(downstream), _close(writer), *tasks, return_exceptions=True)

    async def _requests(
        self, reader: asyncio.StreamReader, server: asyncio.StreamWriter, store: asyncio.StreamWriter
    ) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                text = head.decode()
                length = next(
                    (int(line[15:]) for line in text.lower().split("\r\n") if line[:15] == "content-length:"), 0
                )
                body = await reader.readexactly(length)
                if self.cut or self._spent():
                    return
                self.heads.append(text)
                path = text.split(" ", 2)[1]
                if self.canned and self.canned_path in path:
                    store.write(_answer(*self.canned.pop(0)))
                    continue
                if self.late_path and self.late_path in path:
                    await self.late.wait()
                server.write(head + body)
                await server.drain()

    def _spent(self) -> bool:
        if self.requests_left is None:
            return False
        self.requests_left -= 1
        return self.requests_left < 0

    async def _answers(self, server: asyncio.StreamReader, store: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await server.read(65_536):
                if self.stalled:
                    continue
                if self.answers_to_lose:
                    self.answers_to_lose -= 1
                    return
                if self.cut:
                    return
                store.write(data)
                await store.drain()


def _answer(status: int, body: bytes) -> bytes:
    head = f"HTTP/1.1 {status} said\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def _close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()


@asynccontextmanager
async def wire_to(address: str) -> AsyncIterator[Wire]:
    """A wire to the server at `address`, on a free port of loopback."""
    wire = Wire(address)
    connections: set[asyncio.Task[None]] = set()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.add(asyncio.create_task(wire.serve(reader, writer)))

    server = await asyncio.start_server(connected, "127.0.0.1", 0, limit=2**22)
    wire.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield wire
    finally:
        server.close()
        if connections:
            _, open = await asyncio.wait(connections, timeout=10)
            assert not open, "a store was not closed before its wire"
