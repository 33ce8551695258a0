"""The limits of connections on every way of serving, with the numbers that operators get."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.end_to_end.processes import Installation, Server, after, installed, until

pytestmark = pytest.mark.timeout(900)

WAYS = {"ioc serve": ("ioc", "serve"), "uvicorn": ("uvicorn", "api.app:create_app", "--factory")}
HALF_A_FORM = (
    b"POST /signin HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    b"Content-Length: 100\r\n\r\nemail="
)


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Installation]:
    yield from installed(tmp_path, {"IOC_RATE_LIST": "100000/minute", "IOC_METRICS_ALLOW": "127.0.0.0/8"})


@pytest.fixture(params=WAYS)
def server(request: pytest.FixtureRequest, here: Installation) -> Server:
    program, *command = WAYS[request.param]
    return here.serve(*command, program=program)


def connect(server: Server, source: str = "127.0.0.1") -> socket.socket:
    host, _, port = server.address.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), 10, source_address=(source, 0))


def resident_mb(server: Server) -> float:
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024


def health_seconds(server: Server) -> float:
    begun = time.monotonic()
    assert httpx.get(f"{server.address}/healthz", timeout=60).status_code == 200
    return time.monotonic() - begun


def received(connection: socket.socket, seconds: float = 60) -> bytes:
    """All that comes until the server closes."""
    connection.settimeout(seconds)
    got = bytearray()
    with contextlib.suppress(ConnectionResetError):
        while piece := connection.recv(65536):
            got += piece
    return bytes(got)


@pytest.mark.promise("server.every-way", "server.head-bytes")
def test_a_head_without_end_costs_nothing_and_stalls_nobody(server: Server) -> None:
    before, slowest = resident_mb(server), 0.0
    for endless in (b"A: b\r\n" * 10_000, b"a" * 100_000):
        with connect(server) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ")
            with contextlib.suppress(OSError):
                for _ in range(1000):
                    connection.sendall(endless)
            slowest = max(slowest, health_seconds(server))
            assert received(connection).startswith(b"HTTP/1.1 431")
    assert resident_mb(server) - before < 5
    assert slowest < 1


@pytest.mark.promise("server.every-way", "server.timeouts")
def test_what_trickles_in_is_ended_after_ten_or_fifteen_seconds(server: Server, here: Installation) -> None:
    cases = {
        "head": (b"GET / HTTP/1.1\r\nX: ", b"a", b"HTTP/1.1 408", 10),
        "body": (HALF_A_FORM, b"a", b"HTTP/1.1 408", 15),
        "idle": (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\r\n", b"HTTP/1.1 200", 15),
        "silent": (b"", b"", b"", 15),
    }
    wrong = []

    def look(begin: bytes, drip: bytes, answer: bytes, seconds: int) -> None:
        with connect(server) as connection:
            connection.sendall(begin)
            begun, got = time.monotonic(), bytearray()
            connection.settimeout(1)
            while time.monotonic() - begun < 60:
                with contextlib.suppress(TimeoutError):
                    piece = connection.recv(65536)
                    got += piece
                    if not piece:
                        break
                with contextlib.suppress(OSError):
                    connection.sendall(drip)
            took = time.monotonic() - begun
            if not (seconds - 0.5 < took < seconds + 30 and got.startswith(answer)):
                wrong.append((begin, took, bytes(got[:80])))

    threads = [threading.Thread(target=look, args=case) for case in cases.values()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert "Traceback" not in here.output()


@pytest.mark.promise("server.ceilings")
def test_a_service_with_few_open_files_refuses_some_and_recovers(here: Installation) -> None:
    server = here.serve(within=after("ulimit -n 128"))
    many = [connect(server) for _ in range(200)]
    try:
        until(lambda: "IOC_MOST_CONNECTIONS_PER_ADDRESS" in here.output(), "the refusals are logged")
        with connect(server, "127.0.0.2") as other:
            other.sendall(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert received(other).startswith(b"HTTP/1.1 200")
        until(lambda: httpx.get(f"{server.address}/readyz").status_code == 200, "the service recovers")
        assert 'reason="too_many_of_address"' in httpx.get(f"{server.address}/metrics").text
    finally:
        for connection in many:
            connection.close()


def test_a_client_that_goes_away_leaves_one_quiet_line(here: Installation) -> None:
    server = here.serve()
    with connect(server) as connection:
        connection.sendall(HALF_A_FORM)
        health_seconds(server)
    until(lambda: "disconnected before" in here.output(), "the line is there")
    assert "Traceback" not in here.output()
    assert here.output().count("disconnected before") == 1
