"""A small application behind our protocol on a real socket, with limits that a test can wait for."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from ipaddress import ip_network
from typing import Any

import uvicorn
import uvloop

from api.server.connections import Connections
from api.server.limits import ConnectionLimits
from api.server.taking_over import take_over

QUICK = ConnectionLimits(
    connections=40,
    connections_per_address=20,
    head_seconds=1,
    body_seconds=1.5,
    idle_seconds=1.5,
    unread_seconds=1.5,
    closing_seconds=1,
)
LARGE = 30_000_000
_PATIENCE_SECONDS = 60.0


@dataclass
class Told:
    """What the server told of its connections and its application of its clients."""

    open: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    bodies: list[bytes] = field(default_factory=list)
    headers: list[list[tuple[bytes, bytes]]] = field(default_factory=list)
    went_away: int = 0

    def opened(self, number: int) -> None:
        self.open = number

    def refuse(self, reason: str) -> None:
        self.refused[reason] += 1


class Client:
    """One connection to the server."""

    def __init__(self, port: int, source: str = "127.0.0.1") -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), 10, source_address=(source, 0))

    def send(self, data: bytes) -> bool:
        """Whether the server still took it."""
        try:
            self.socket.sendall(data)
        except OSError:
            return False
        return True

    def receive(self, until: bytes = b"", seconds: float = _PATIENCE_SECONDS) -> bytes:
        """All that comes until the server closes, or until these bytes have come."""
        got = bytearray()
        self.socket.settimeout(seconds)
        try:
            while not (until and until in got):
                piece = self.socket.recv(65536)
                if not piece:
                    break
                got += piece
        except ConnectionResetError:
            pass
        return bytes(got)

    def ask(self, path: str = "/", more: bytes = b"") -> bytes:
        """The answer to a small request; the connection stays open."""
        self.send(b"GET " + path.encode() + b" HTTP/1.1\r\nHost: localhost\r\n" + more + b"\r\n")
        return self.receive(b"ok")

    def close(self) -> None:
        self.socket.close()


class Server:
    """A running server; `connect` opens connections that end with it."""

    def __init__(self, port: int, told: Told) -> None:
        self.port = port
        self.told = told
        self._clients: list[Client] = []

    def connect(self, source: str = "127.0.0.1") -> Client:
        client = Client(self.port, source)
        self._clients.append(client)
        return client

    def until(self, look: Callable[[], bool]) -> None:
        end = time.monotonic() + _PATIENCE_SECONDS
        while not look():
            assert time.monotonic() < end, self.told
            time.sleep(0.05)

    def close(self) -> None:
        for client in self._clients:
            client.close()


@contextmanager
def bounded(
    limits: ConnectionLimits = QUICK, *, trusted: Sequence[str] = (), loop: str = "asyncio"
) -> Iterator[Server]:
    """The server in a thread of its own."""
    told = Told()
    config = uvicorn.Config(_app(told), log_config=None, access_log=False, lifespan="off")
    config.load()
    connections = Connections(limits, observe=told.opened, refused=told.refuse)
    take_over(config, connections, [ip_network(network) for network in trusted])
    running = uvicorn.Server(config)
    factory = uvloop.new_event_loop if loop == "uvloop" else None
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listening:
        server = Server(listening.getsockname()[1], told)
        thread = threading.Thread(target=_run, args=(running, listening, factory))
        thread.start()
        try:
            server.until(lambda: running.started)
            yield server
        finally:
            server.close()
            running.should_exit = True
            thread.join(_PATIENCE_SECONDS)


def _run(
    server: uvicorn.Server, listening: socket.socket, factory: Callable[[], asyncio.AbstractEventLoop] | None
) -> None:
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(server.serve([listening]))


def _app(told: Told) -> Any:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        told.headers.append(list(scope["headers"]))
        body = b""
        if scope["path"] == "/refuses":
            await _answer(send, 413, b"ok")
            return
        while scope["method"] == "POST":
            message = await receive()
            if message["type"] == "http.disconnect":
                told.went_away += 1
                return
            body += message["body"]
            if not message["more_body"]:
                break
        told.bodies.append(body)
        if scope["path"] == "/stream":
            await _stream(send)
        else:
            await _answer(send, 200, b"x" * LARGE if scope["path"] == "/large" else b"ok")

    return app


async def _answer(send: Any, status: int, body: bytes) -> None:
    length = str(len(body)).encode()
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-length", length)]})
    await send({"type": "http.response.body", "body": body})


async def _stream(send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(LARGE // 50_000):
        await send({"type": "http.response.body", "body": b"x" * 50_000, "more_body": True})
    await send({"type": "http.response.body", "body": b"ok"})
