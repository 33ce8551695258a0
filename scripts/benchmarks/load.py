"""Loads one HTTP server over kept connections, from a process of its own; the same for every side that is compared.

Usage: python -m scripts.benchmarks.load. Reads one JSON object: `address` (host, port), `connections`, `seconds`, and
`requests`, each the text of a whole request, which are sent in turn. Prints one: `per_second`, `p50_ms` and `p99_ms`,
and `failed`, how many answers were no 2xx.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from typing import Any, cast

import uvloop

_LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]+)\r\n", re.IGNORECASE)
_CHUNKED = re.compile(rb"\r\ntransfer-encoding: *chunked\r\n", re.IGNORECASE)
_LAST_CHUNK = b"0\r\n\r\n"


class Run:
    """What all connections of one measurement share."""

    def __init__(self, requests: list[bytes], seconds: float) -> None:
        self.requests: Iterator[bytes] = itertools.cycle(requests)
        self.ends = time.perf_counter() + seconds
        self.latencies: list[float] = []
        self.failed = 0


class Connection(asyncio.Protocol):
    """Sends a request as soon as the answer to the one before it is whole, until the time is over."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._received = b""
        self._whole = 0  # bytes of the answer, once its head tells; -1 where it comes in chunks
        self._sent_at = 0.0
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's are none by their class
        self._send()

    def data_received(self, data: bytes) -> None:
        self._received = self._received + data if self._received else data
        if not self._whole:
            self._whole = _length(self._received)
        if data.endswith(_LAST_CHUNK) if self._whole < 0 else 0 < self._whole <= len(self._received):
            self._answered()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self._run.failed += 1
            self.done.set_result(None)

    def _send(self) -> None:
        self._received, self._whole = b"", 0
        self._sent_at = time.perf_counter()
        self._transport.write(next(self._run.requests))

    def _answered(self) -> None:
        now = time.perf_counter()
        self._run.latencies.append(now - self._sent_at)
        self._run.failed += self._received[9:10] != b"2"
        if now < self._run.ends:
            self._send()
        else:
            self.done.set_result(None)
            self._transport.close()


def _length(received: bytes) -> int:
    """Return how long an answer is with its head; 0 as long as nobody knows, -1 where it comes in chunks."""
    end = received.find(b"\r\n\r\n")
    if end < 0:
        return 0
    if found := _LENGTH.search(received, 0, end + 2):
        return end + 4 + int(found[1])
    return -1 if _CHUNKED.search(received, 0, end + 2) else end + 4


async def measure(asked: dict[str, Any]) -> dict[str, float]:
    """Return what one run comes to."""
    host, port = asked["address"]
    loop = asyncio.get_running_loop()
    begun, run = time.perf_counter(), Run([request.encode() for request in asked["requests"]], asked["seconds"])
    made = [await loop.create_connection(lambda: Connection(run), host, port) for _ in range(asked["connections"])]
    await asyncio.gather(*(connection.done for _, connection in made))
    taken = sorted(run.latencies)
    return {
        "per_second": len(taken) / (time.perf_counter() - begun),
        "p50_ms": _percentile(taken, 50),
        "p99_ms": _percentile(taken, 99),
        "failed": run.failed,
    }


def _percentile(ordered: list[float], percent: int) -> float:
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)] * 1000 if ordered else 0.0


def load(address: str, requests: list[str], connections: int, seconds: float) -> dict[str, float]:
    """Load `host:port` from a process of its own, and return what that run came to."""
    host, _, port = address.rpartition(":")
    asked = {"address": [host, int(port)], "connections": connections, "seconds": seconds, "requests": requests}
    command = [sys.executable, "-m", "scripts.benchmarks.load"]
    done = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, check=True, timeout=600)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def request(address: str, path: str, body: object = None, **headers: str) -> str:
    """Return the text of a whole request: GET, or POST with a body of JSON."""
    text = "" if body is None else json.dumps(body)
    given = {"Host": address, **{name.replace("_", "-"): value for name, value in headers.items()}}
    if body is not None:
        given |= {"Content-Type": "application/json", "Content-Length": str(len(text))}
    lines = [
        f"{'GET' if body is None else 'POST'} {path} HTTP/1.1",
        *(f"{name}: {each}" for name, each in given.items()),
    ]
    return "\r\n".join([*lines, "", text])


def answers(port: int, path: str) -> bool:
    """Tell whether a server on the loopback answers 200."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        sys.stdout.write(json.dumps(runner.run(measure(json.load(sys.stdin)))) + "\n")
