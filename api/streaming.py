"""Answers that are made while the client reads them: one piece at a time is held, however long they are."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from types import MappingProxyType

import structlog
from starlette.requests import ClientDisconnect
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

log = structlog.get_logger()

Pieces = AsyncGenerator[bytes, None]

JSON: Mapping[str, str] = MappingProxyType({"Content-Type": "application/json"})
# In the scope of a request whose answer goes out without its body.
HEAD_ONLY = "ioc.head_only"

# What a server buffers for one connection anyway.
_SENT_WHOLE_BYTES = 64 * 1024


async def streamed(pieces: Pieces, headers: Mapping[str, str]) -> Response:
    """Answer with the pieces, each made when the client has taken the one before.

    A short answer is sent whole, with its length. An error in making the beginning is raised here, so that it is
    answered like any other; one that comes later breaks the connection off, which tells the client that the answer is
    not complete.
    """
    beginning = bytearray()
    async for piece in pieces:
        beginning += piece
        if len(beginning) > _SENT_WHOLE_BYTES:
            return _Streamed(bytes(beginning), pieces, headers)
    return Response(bytes(beginning), headers=headers)


async def within(seconds: float, pieces: Pieces) -> Pieces:
    """Yield the pieces; break the answer off where the client has not taken all of them by then."""
    ends = time.monotonic() + seconds
    async with aclosing(pieces):
        async for piece in pieces:
            if time.monotonic() > ends:
                log.info("an answer was broken off: its client reads it too slowly", seconds=seconds)
                raise ClientDisconnect
            yield piece


class _Streamed(StreamingResponse):
    """Closes what makes the pieces when the client has all of them, or goes away."""

    def __init__(self, beginning: bytes, pieces: Pieces, headers: Mapping[str, str]) -> None:
        self._pieces = pieces
        super().__init__(_joined(beginning, pieces), headers=headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with aclosing(self._pieces):
            if scope.get(HEAD_ONLY):
                await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
                await send({"type": "http.response.body", "body": b""})
            else:
                await super().__call__(scope, receive, send)


async def _joined(beginning: bytes, pieces: Pieces) -> Pieces:
    yield beginning
    del beginning
    async for piece in pieces:
        await asyncio.sleep(0)  # a client that reads fast would keep all others waiting
        yield piece
