"""Kept HTTP/1.1 connections to one node, each with one request at a time.

A read that many ask together is little more than its way there and back, of which the client's own connections made
the largest part.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from ssl import SSLContext
from typing import Final

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

# One that was idle for longer may be closed by whoever stands between, without a word.
_IDLE_SECONDS: Final = 15.0
# A large body leaves in pieces, between which others have their turn.
_PIECE_BYTES: Final = 256 * 1024
_BODILESS: Final = ("GET", "HEAD")
_REPEATABLE: Final = ("GET", "HEAD", "PUT", "DELETE")


class Broken(Exception):
    """The connection could not be made, or ended before the whole answer was there."""


class _Connection(asyncio.Protocol):
    """One connection; once it is not `is_open` it takes no more requests."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._loop = asyncio.get_running_loop()
        self._answer: asyncio.Future[tuple[int, bytes]] | None = None
        self._room: asyncio.Future[None] | None = None
        self._is_full = self._is_head = False
        self._body: list[bytes] = []
        self.is_open = True
        self.closed: asyncio.Future[None] = self._loop.create_future()
        self.idle_since = 0.0

    async def ask(self, head: bytes, body: bytes | None, *, is_head: bool) -> tuple[int, bytes]:
        """Send a request and return the status and the body of its answer; Broken where there is none."""
        answer: asyncio.Future[tuple[int, bytes]] = self._loop.create_future()
        self._answer, self._parser, self._body, self._is_head = answer, HttpResponseParser(self), [], is_head
        try:
            if body is None or len(body) <= _PIECE_BYTES:
                self._transport.write(head if body is None else head + body)
            else:
                await self._send(head, memoryview(body))
            return await answer
        except BaseException:
            # What is still under way must not be taken for the answer to the next request.
            self.abort()
            raise
        finally:
            self._answer = None
            if answer.done() and not answer.cancelled():
                answer.exception()  # is known

    async def _send(self, head: bytes, body: memoryview) -> None:
        self._transport.write(head)
        for start in range(0, len(body), _PIECE_BYTES):
            if self._is_full:
                self._room = self._loop.create_future()
                await self._room
            self._transport.write(body[start : start + _PIECE_BYTES])
            await asyncio.sleep(0)
            if not self.is_open:
                return

    def abort(self) -> None:
        """Close at once."""
        self.is_open = False
        self._transport.abort()

    # What the transport tells.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: asyncio.Transport = transport  # type: ignore[assignment]

    def pause_writing(self) -> None:
        self._is_full = True

    def resume_writing(self) -> None:
        self._is_full = False
        if self._room is not None and not self._room.done():
            self._room.set_result(None)

    def data_received(self, data: bytes) -> None:
        if self._answer is None or self._answer.done():
            # Nobody asked.
            self.abort()
            return
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as error:
            self._fail(type(error).__name__)

    def connection_lost(self, error: Exception | None) -> None:
        self.is_open = False
        self.resume_writing()
        self._fail(type(error).__name__ if error else "it was closed")
        self._connections.lost(self)
        self.closed.set_result(None)

    def _fail(self, reason: str) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(Broken(reason))
        self.is_open = False

    # What the parser tells.

    def on_headers_complete(self) -> None:
        if self._is_head:
            # What its head announces never comes; the parser waits for it.
            self.is_open = False
            self._whole()

    def on_body(self, body: bytes) -> None:
        self._body.append(body)

    def on_message_complete(self) -> None:
        self.is_open = self.is_open and self._parser.should_keep_alive()
        self._whole()

    def _whole(self) -> None:
        if self._answer is not None and not self._answer.done():
            status, parts = self._parser.get_status_code(), self._body
            self._answer.set_result((status, parts[0] if len(parts) == 1 else b"".join(parts)))


class Connections:
    """At most `most` connections to a node, made when they are needed; `prefix` stands before every target."""

    def __init__(
        self, host: str, port: int, prefix: str, headers: Mapping[str, str], tls: SSLContext | None, most: int
    ) -> None:
        self._place = (host, port)
        self._prefix = prefix
        self._tls = tls
        self._left = most
        self._is_closed = False
        self._idle: list[_Connection] = []
        self._all: set[_Connection] = set()
        self._waiting: deque[asyncio.Future[None]] = deque()
        name = f"[{host}]" if ":" in host else host
        told = {"host": f"{name}:{port}", "accept": "application/json", **headers}
        self._fields = "".join(f"{name}: {value}\r\n" for name, value in told.items())

    async def ask(self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]) -> tuple[int, bytes]:
        """Return the status and the body of the answer; Broken where there is none."""
        fields = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
        length = f"content-length: {len(body or b'')}\r\n" if body is not None or method not in _BODILESS else ""
        head = f"{method} {self._prefix}{target} HTTP/1.1\r\n{self._fields}{fields}{length}\r\n".encode()
        await self._turn()
        try:
            kept = self._kept()
            if kept is not None:
                try:
                    return await self._ask_over(kept, head, body, is_head=method == "HEAD")
                except Broken:
                    # It was closed while it was idle, most likely.
                    if method not in _REPEATABLE:
                        raise
            return await self._ask_over(await self._new(), head, body, is_head=method == "HEAD")
        finally:
            self._left += 1
            self._next()

    async def _ask_over(
        self, connection: _Connection, head: bytes, body: bytes | None, *, is_head: bool
    ) -> tuple[int, bytes]:
        answer = await connection.ask(head, body, is_head=is_head)
        if connection.is_open:
            connection.idle_since = asyncio.get_running_loop().time()
            self._idle.append(connection)
        else:
            connection.abort()
        return answer

    async def close(self) -> None:
        """Close all of them, also those that wait for an answer."""
        self._is_closed = True
        open = tuple(self._all)
        for connection in open:
            connection.abort()
        await asyncio.gather(*(connection.closed for connection in open))

    def lost(self, connection: _Connection) -> None:
        """Forget a connection that is closed."""
        self._all.discard(connection)
        if connection in self._idle:
            self._idle.remove(connection)

    async def _turn(self) -> None:
        """Wait until one more may ask."""
        while self._left <= 0:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            try:
                await turn
            except BaseException:
                if turn.done() and not turn.cancelled():
                    self._next()
                raise
        self._left -= 1

    def _next(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return

    def _kept(self) -> _Connection | None:
        """Return the connection that was used last, unless that is too long ago: then so it is with all others."""
        if self._idle:
            connection = self._idle.pop()
            if asyncio.get_running_loop().time() - connection.idle_since < _IDLE_SECONDS:
                return connection
            for old in (connection, *self._idle):
                old.abort()
            self._idle.clear()
        return None

    async def _new(self) -> _Connection:
        loop, (host, port) = asyncio.get_running_loop(), self._place
        try:
            _, connection = await loop.create_connection(lambda: _Connection(self), host, port, ssl=self._tls)
        except (OSError, UnicodeError) as error:
            raise Broken(type(error).__name__) from None
        self._all.add(connection)
        if self._is_closed:
            connection.abort()
            raise Broken("it was closed")
        return connection
