"""Extends uvicorn's httptools protocol with limits on what one client can cost and how long it can take."""

from __future__ import annotations

import asyncio
import contextlib
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from socket import IPPROTO_TCP, SO_LINGER, SOL_SOCKET
from typing import Any
from urllib.parse import urlsplit

from httptools import HttpParserError, HttpParserUpgrade
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.protocols.utils import get_remote_addr

from api.limits.client_address import UNKNOWN, Network, client_address, is_trusted
from api.server.connections import Connections
from api.server.refusals import (
    BODY_TIMEOUT,
    BODY_UNWANTED,
    HEAD_TIMEOUT,
    HEAD_TOO_LARGE,
    MALFORMED,
    UNREAD,
    Refusal,
)

# The parser is fed in small pieces: whatever a client sends, it makes few objects before they are counted.
_PIECE_BYTES = 1024
# Fed at once; then other connections have their turn.
_TURN_BYTES = 32 * 1024
_DISCARDED_WHILE_CLOSING = 1024 * 1024
# struct tcp_info of Linux: bytes that the other side has acknowledged.
_TCP_INFO, _ACKNOWLEDGED = 11, slice(120, 128)
_RESET = struct.pack("ii", 1, 0)


class _Incoming(Enum):
    """What is being received."""

    NOTHING = 1
    HEAD = 2
    BODY = 3
    REFUSED = 4


class _TooManyFields(Exception):
    """A head has more fields than it may."""


@dataclass(frozen=True, slots=True)
class _Mark:
    at: float
    taken: int


class _Flow(FlowControl):
    """Notes whether the application can take more, and tells the protocol, which alone pauses the transport."""

    def __init__(self, transport: asyncio.Transport, changed: Callable[[], None]) -> None:
        super().__init__(transport)
        self._changed = changed

    def pause_reading(self) -> None:
        self.read_paused = True
        self._changed()

    def resume_reading(self) -> None:
        self.read_paused = False
        self._changed()


class BoundedProtocol(HttpToolsProtocol):
    """Serves one connection within the limits of its `Connections`; `trusted` proxies are not counted by address."""

    def __init__(self, connections: Connections, trusted: Sequence[Network], **given: Any) -> None:
        super().__init__(**given)
        # An upgrade would leave these bounds behind, and nothing here speaks WebSocket.
        self.ws_protocol_class = None
        self.address: str | None = None
        self._registry = connections
        self._limits = connections.limits
        self._trusted = trusted
        self._incoming = _Incoming.NOTHING
        self._deadline: float | None = None
        self._held = bytearray()
        self._feeding = False
        self._next_turn: asyncio.Handle | None = None
        self._answering: RequestResponseCycle | None = None
        self._advanced = False
        self._fruitless_bytes = 0
        self._discarded_bytes = 0
        self._mark: _Mark | None = None

    # What the transport tells.

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        peer = get_remote_addr(transport)
        if peer is not None and not is_trusted(peer[0], self._trusted):
            address = client_address(peer[0], (), ())
            self.address = None if address == UNKNOWN else address
        refusal = self._registry.admit(self)
        if refusal is not None:
            self.transport = transport
            transport.write(refusal.answer())
            transport.close()
            return
        super().connection_made(transport)
        self.flow = _Flow(transport, self._settle)
        self._expect(_Incoming.NOTHING, self._limits.idle_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        self._registry.release(self)
        self._held.clear()
        self._disconnect()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._incoming is _Incoming.REFUSED:
            self._discard(len(data), _DISCARDED_WHILE_CLOSING)
            return
        self._held += data
        self._take_turn()

    # Feeding the parser.

    def _take_turn(self) -> None:
        """Feed the parser up to its share of a turn, unless the application or an earlier request must come first."""
        self._next_turn = None
        self._feeding = True
        fed = 0
        while self._held and fed < _TURN_BYTES and not self._must_wait():
            fed += self._feed()
        self._feeding = False
        self._settle()

    def _must_wait(self) -> bool:
        return self.flow.read_paused or bool(self.pipeline) or self.transport.is_closing()

    def _settle(self) -> None:
        """Resume reading if nothing is held back; otherwise schedule the next turn."""
        if self._feeding or self.transport.is_closing():
            return
        if self._held or self.flow.read_paused:
            self.transport.pause_reading()
        else:
            self.transport.resume_reading()
        if self._held and self._next_turn is None and not self._must_wait():
            self._next_turn = self.loop.call_soon(self._take_turn)

    def _feed(self) -> int:
        """Feed one piece and return its size.

        Bytes that complete no head, body data or chunk header count towards the limit of the head.
        """
        room = self._limits.head_bytes - self._fruitless_bytes
        if room <= 0:
            self._refuse(HEAD_TOO_LARGE)
            return 0
        piece = bytes(self._held[: min(_PIECE_BYTES, room)])
        del self._held[: len(piece)]
        self._advanced = False
        try:
            self.parser.feed_data(piece)
        except HttpParserUpgrade as upgrade:
            # The request is answered as if it had not asked; what follows is the next one.
            self._held[:0] = piece[upgrade.args[0] :]
        except HttpParserError as error:
            self._refuse(HEAD_TOO_LARGE if isinstance(error.__context__, _TooManyFields) else MALFORMED)
        self._fruitless_bytes = 0 if self._advanced else self._fruitless_bytes + len(piece)
        return len(piece)

    # What the parser tells.

    def on_message_begin(self) -> None:
        self._expect(_Incoming.HEAD, self._limits.head_seconds)
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._incoming is not _Incoming.HEAD:
            return  # A trailer: nobody reads those, and the head is complete.
        if len(self.headers) >= self._limits.head_fields:
            raise _TooManyFields
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._advanced = True
        self._prefer_the_target()
        super().on_headers_complete()
        self._expect(_Incoming.BODY, self._limits.body_seconds)

    def on_chunk_header(self) -> None:
        self._advanced = True

    def on_body(self, body: bytes) -> None:
        self._advanced = True
        super().on_body(body)
        if self.cycle.response_complete:
            self._discard(len(body), self._limits.discarded_bytes)

    def on_message_complete(self) -> None:
        self._advanced = True
        self._discarded_bytes = 0
        super().on_message_complete()
        self._expect(_Incoming.NOTHING, None if self._is_answering() else self._limits.idle_seconds)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answering = cycle
        super()._start_asgi_task(cycle, app)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        # uvicorn's own timer begins anew with every byte.
        self._unset_keepalive_if_required()
        if self._incoming is _Incoming.NOTHING and not self._is_answering():
            self._expect(_Incoming.NOTHING, self._limits.idle_seconds)
        self._settle()

    def _prefer_the_target(self) -> None:
        """Let the host of an absolute target stand for `Host` (RFC 9112, 3.2.2)."""
        if self.url.startswith(b"/") or b"://" not in self.url:
            return
        host = urlsplit(self.url).netloc.rpartition(b"@")[2]
        self.headers[:] = [(b"host", host), *(field for field in self.headers if field[0] != b"host")]

    # Time.

    def _expect(self, incoming: _Incoming, seconds: float | None) -> None:
        self._incoming = incoming
        self._deadline = None if seconds is None else self.loop.time() + seconds

    def look(self, now: float) -> None:
        """End the connection if the client takes longer than it may."""
        if self._is_unread(now):
            self._registry.report(UNREAD, self.address)
            self._reset()
        elif self._deadline is not None and now >= self._deadline:
            self._expire(now)

    def _expire(self, now: float) -> None:
        if self._incoming is _Incoming.REFUSED:
            self._reset()
        elif self._is_our_turn():
            self._deadline = now + self._limits.idle_seconds
        elif self._incoming is _Incoming.HEAD:
            self._refuse(HEAD_TIMEOUT)
        elif self._incoming is _Incoming.BODY:
            self._refuse(BODY_TIMEOUT)
        else:
            self.transport.close()

    def _is_our_turn(self) -> bool:
        """Return whether the client waits for us: to take what it sent, to say 100 Continue, or to send the rest."""
        if self._held or self.flow.read_paused:
            return True
        if self._incoming is _Incoming.BODY:
            return self._is_answering() and self.cycle.waiting_for_100_continue
        return self._incoming is _Incoming.NOTHING and self.transport.get_write_buffer_size() > 0

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _is_unread(self, now: float) -> bool:
        """Return whether the client has read too little of a waiting answer for too long."""
        if not self.transport.get_write_buffer_size():
            self._mark = None
            return False
        taken, mark = self._taken(), self._mark
        if mark is None or taken >= mark.taken + self._limits.unread_bytes:
            mark = _Mark(now, taken)
        self._mark = _Mark(mark.at, min(mark.taken, taken))
        return now - mark.at >= self._limits.unread_seconds

    def _taken(self) -> int:
        """Return how many bytes the client has taken, counted from an arbitrary start."""
        try:
            told = self.transport.get_extra_info("socket").getsockopt(IPPROTO_TCP, _TCP_INFO, _ACKNOWLEDGED.stop)
            return int(struct.unpack("=Q", told[_ACKNOWLEDGED])[0])
        except (AttributeError, OSError, struct.error):
            # Not Linux, or not TCP: what left our own buffer.
            return -self.transport.get_write_buffer_size()

    # Refusing.

    def _refuse(self, refusal: Refusal) -> None:
        self._registry.report(refusal, self.address)
        self._held.clear()
        if self._may_answer():
            self.transport.write(refusal.answer())
            self._hang_up()
        elif self._is_answering():
            self._reset()
        else:
            self._hang_up()

    def _may_answer(self) -> bool:
        """Return whether the client would take an answer now for the one to the refused request."""
        if self._incoming is _Incoming.BODY:
            return not self.cycle.response_started and not self.pipeline
        return not self._is_answering()

    def _hang_up(self) -> None:
        """Stop sending, but read on briefly: closing while the client still sends would lose it the answer."""
        self._disconnect()
        self._discarded_bytes = 0
        self._expect(_Incoming.REFUSED, self._limits.closing_seconds)
        if self.transport.can_write_eof():
            self.transport.write_eof()
            self.transport.resume_reading()
        else:
            self.transport.close()

    def _disconnect(self) -> None:
        """Tell the application that the client is gone; uvicorn tells so only to the newest of pipelined requests."""
        self.pipeline.clear()
        cycle = self._answering
        if cycle is not None and not cycle.response_complete:
            cycle.disconnected = True
            cycle.waiting_for_100_continue = False
            cycle.message_event.set()

    def _discard(self, number: int, most: int) -> None:
        self._discarded_bytes += number
        if self._discarded_bytes <= most:
            return
        if self._incoming is _Incoming.REFUSED:
            self._reset()
        else:
            self._refuse(BODY_UNWANTED)

    def _reset(self) -> None:
        """Close at once and drop what the kernel still holds for the client."""
        with contextlib.suppress(AttributeError, OSError):
            self.transport.get_extra_info("socket").setsockopt(SOL_SOCKET, SO_LINGER, _RESET)
        self._disconnect()
        self.transport.abort()
