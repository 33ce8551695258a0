"""What comes over a socket and no well-behaved client sends: refused or answered, never a server error."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.api.running import GENEROUS
from tests.api.serving import serving
from tests.cases import each

_SILENCE_SECONDS = 2.0


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    folder: Path = tmp_path_factory.mktemp("wire")
    with serving(
        folder, "domain evil.example", ioc_rate_key="100000/second", ioc_allowed_hosts="ioc.example", **GENEROUS
    ) as started:
        yield started


def sent(address: str, raw: bytes) -> bytes:
    """All that the server answers to these bytes until it closes or waits for more."""
    host, _, port = address.removeprefix("http://").partition(":")
    answer = bytearray()
    with socket.create_connection((host, int(port)), 10) as connection:
        connection.sendall(raw)
        connection.settimeout(_SILENCE_SECONDS)
        with contextlib.suppress(ConnectionResetError, TimeoutError):
            while piece := connection.recv(65536):
                answer += piece
    return bytes(answer)


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.") else 0


LINES = (
    b"GET /api/v1/iocs?q=" + b"a" * 1_000_000,
    b"GET /api/v1/iocs?" + b"q=a&" * 100_000,
    b"GET /api/v1/iocs?" + b"%00=%00&" * 1000,
    b"GET /api/v1/iocs?q=%ff%fe%fd",
    b"GET /api/v1/iocs?q=%",
    b"GET /api/v1/iocs?q=\xff\xfe",
    b"GET /api/v1/iocs?limit=" + b"9" * 10_000,
    b"GET /api/v1/iocs?since=" + b"0" * 10_000,
    b"GET /api/v1/%ff%fe",
    b"GET /api/v1/iocs/" + b"%2e%2e%2f" * 5000,
    b"GET /api/v1/../../etc/passwd",
    b"GET /static/../../../etc/passwd",
    b"GET /static/%2e%2e/%2e%2e/secret_key",
    b"GET /static/swagger/..%2f..%2f..%2fpyproject.toml",
    b"GET //api/v1/iocs",
    b"GET http://evil.example/api/v1/iocs",
    b"GET *",
    b"OPTIONS *",
    b"CONNECT evil.example:443",
    b"GET /api/v1/weekly/%00",
    b"POST /api/v1/submit",
    b"HEAD /api/v1/iocs",
)


@pytest.mark.promise("errors.never-5xx")
@each("line", LINES, ids=lambda line: line[:32].decode("latin-1"))
def test_no_request_line_is_a_server_error(service: tuple[str, str], line: bytes) -> None:
    answer = sent(service[0], line + b" HTTP/1.1\r\nHost: ioc.example\r\nConnection: close\r\n\r\n")
    assert status(answer) < 500, answer[:300]
    assert answer or len(line) > 65_536
    assert b"root:" not in answer and b"[project]" not in answer
    assert httpx.get(f"{service[0]}/healthz").status_code == 200


END = b"\r\nConnection: close\r\n\r\n"
HEADERS = (
    b"Authorization: Bearer " + b"a" * 100_000,
    b"Authorization: \xff\xfe",
    b"Authorization:",
    b"X-Forwarded-For: " + b"1.2.3.4, " * 5000,
    b"Content-Length: -1",
    b"Content-Length: 5\r\nContent-Length: 6",
    b"Content-Length: 10\r\nTransfer-Encoding: chunked",
    b"Transfer-Encoding: nonsense",
    b"Cookie: " + b"a=b; " * 5000,
    b"Range: bytes=0-0,-1",
    b"Accept-Encoding: gzip;q=x",
    b"Expect: 100-continue",
    b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x",
    b"Host: a\r\nHost: b",
)


@pytest.mark.promise("errors.never-5xx")
@each("header", HEADERS, ids=lambda header: header[:32].decode("latin-1"))
def test_no_header_is_a_server_error(service: tuple[str, str], header: bytes) -> None:
    for line in (b"GET /api/v1/iocs", b"POST /api/v1/submit"):
        answer = sent(service[0], line + b" HTTP/1.1\r\nHost: ioc.example\r\n" + header + END)
        assert status(answer) < 500, answer[:300]
    assert httpx.get(f"{service[0]}/healthz").status_code == 200


def test_two_authorization_headers_are_401(service: tuple[str, str]) -> None:
    address, key = service
    header = f"Authorization: Bearer {key}\r\n".encode()
    for headers, expected in ((header, 200), (header + header, 401), (header + b"authorization: x\r\n", 401)):
        raw = b"GET /api/v1/iocs HTTP/1.1\r\nHost: ioc.example\r\nConnection: close\r\n" + headers + b"\r\n"
        assert status(sent(address, raw)) == expected


def test_head_has_no_body_and_the_connection_goes_on(service: tuple[str, str]) -> None:
    with httpx.Client(base_url=service[0], headers={"Accept-Encoding": "identity"}) as client:
        for _ in range(3):
            head, get = client.head("/api/v1/iocs"), client.get("/api/v1/iocs")
            assert (head.status_code, head.content) == (200, b"")
            assert head.headers["content-length"] == get.headers["content-length"] == str(len(get.content))


@pytest.mark.promise("errors.payload-too-large")
def test_a_chunked_body_over_256_kb_is_413(service: tuple[str, str]) -> None:
    address, key = service
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    pieces = (b" " * 10_000 for _ in range(40))
    answer = httpx.post(f"{address}/api/v1/iocs/lookup", headers=headers, content=pieces)
    assert (answer.status_code, answer.json()["code"]) == (413, "payload_too_large")
