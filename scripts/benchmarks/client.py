"""A small HTTP/1.1 client with kept connections, so that little of what is measured is the client itself."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from .measuring import CONNECTIONS

_CHUNKED = re.compile(rb"\r\ntransfer-encoding: *chunked\r\n", re.IGNORECASE)
_LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]+)\r\n", re.IGNORECASE)


class UnexpectedAnswer(Exception):
    """An answer that is no success, or that this client cannot read; the text begins with its status."""


@dataclass(slots=True)
class Client:
    """Asks one server over `connections` kept connections, which `connect` opens."""

    address: str
    connections: int = CONNECTIONS
    _idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = field(default_factory=list)

    async def connect(self) -> None:
        for _ in range(self.connections):
            self._idle.append(await self._open())

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        parts = urlsplit(self.address)
        return await asyncio.open_connection(parts.hostname, parts.port)

    def request(self, method: str, path: str, headers: Mapping[str, str] | None = None, body: bytes = b"") -> bytes:
        """Return a request ready to be sent any number of times."""
        all_headers = {"Host": urlsplit(self.address).netloc, "Content-Length": str(len(body)), **(headers or {})}
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in all_headers.items())]
        return "\r\n".join([*lines, "", ""]).encode() + body

    async def ask(self, request: bytes) -> bytes:
        """Return the body of the answer. UnexpectedAnswer where its status is not 2xx."""
        connection = self._idle.pop()
        try:
            head = await _sent(connection, request)
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            if getattr(error, "partial", b""):
                raise
            connection[1].close()  # by the server, as it was idle for long
            connection = await self._open()
            head = await _sent(connection, request)
        body = await _read_body(connection[0], head)
        if head[9:10] != b"2":
            raise UnexpectedAnswer(f"{head[9:12].decode()}: {body[:300].decode(errors='replace')}")
        self._idle.append(connection)
        return body

    def close(self) -> None:
        while self._idle:
            self._idle.pop()[1].close()


async def _sent(connection: tuple[asyncio.StreamReader, asyncio.StreamWriter], request: bytes) -> bytes:
    """Send a request; return the head of the answer."""
    connection[1].write(request)
    return await connection[0].readuntil(b"\r\n\r\n")


async def _read_body(reader: asyncio.StreamReader, head: bytes) -> bytes:
    if length := _LENGTH.search(head):
        return await reader.readexactly(int(length[1]))
    if not _CHUNKED.search(head):
        raise UnexpectedAnswer(f"{head[9:12].decode()}: no length")
    chunks = []
    while size := int(await reader.readuntil(b"\r\n"), 16):
        chunks.append((await reader.readexactly(size + 2))[:-2])
    await reader.readuntil(b"\r\n")
    return b"".join(chunks)
