"""Clients that ask for long answers and never read them: no more is made for them than one piece."""

from __future__ import annotations

import gc
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest

from api import streaming
from api.routes.export import LONGEST_SECONDS
from intel.ids import article_id
from intel.store.sqlite.articles import SqliteArticles
from intel.store.sqlite.connection import _Query
from tests.api.running import GENEROUS
from tests.api.serving import serving

pytestmark = pytest.mark.slow

_INDICATORS = 20_000
_CLIENTS = 8
_PATIENCE_SECONDS = 60


@pytest.fixture
def service(tmp_path: Path) -> Iterator[str]:
    values = (f"domain d{n}.{'long-name.' * 16}example" for n in range(_INDICATORS))
    with serving(tmp_path, *values, **GENEROUS) as (address, _):
        yield address


@pytest.mark.promise("formats.streamed")
@pytest.mark.parametrize("format", ["csv", "stix"])
@pytest.mark.slow
def test_an_export_that_nobody_reads_is_not_made(service: str, format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = 0
    found = SqliteArticles.iocs_of

    async def counted(self: SqliteArticles, *arguments: object) -> object:
        nonlocal pages
        pages += 1
        return await found(self, *arguments)  # type: ignore[arg-type]  # passed on as they came

    monkeypatch.setattr(SqliteArticles, "iocs_of", counted)
    path = f"/api/v1/articles/{article_id('https://news.example/report')}?format={format}"
    with ExitStack() as stack:
        for _ in range(_CLIENTS):
            unread = stack.enter_context(asked(service, path))
            assert unread.recv(12) == b"HTTP/1.1 200"
        made = settled(lambda: pages)
        # Eighty would be the whole of it for each; the kernel takes up to 4 MB for each as well.
        assert made <= _CLIENTS * 60
        answer = httpx.get(f"{service}/healthz")
        assert answer.status_code == 200
    whole = httpx.get(service + path, timeout=_PATIENCE_SECONDS)
    assert whole.text.count("long-name.example") >= _INDICATORS


@pytest.mark.promise("export.slow-readers")
def test_an_export_that_is_read_too_slowly_is_broken_off_and_gives_the_store_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(streaming, "time", SimpleNamespace(monotonic=lambda: now[0]))
    closed = threading.Event()
    close = _Query.close

    def noted(self: _Query) -> None:
        close(self)
        closed.set()

    values = (f"domain d{n}.{'long-name.' * 16}example" for n in range(_INDICATORS))
    with serving(tmp_path, *values, **GENEROUS) as (address, key):
        monkeypatch.setattr(_Query, "close", noted)
        with asked(address, "/api/v1/export", f"Authorization: Bearer {key}\r\n") as slow:
            assert slow.recv(12) == b"HTTP/1.1 200"
            now[0] = LONGEST_SECONDS + 1
            read = b""
            while piece := slow.recv(65_536):
                read += piece
        assert closed.wait(_PATIENCE_SECONDS)
        assert not read.endswith(b"0\r\n\r\n") and read.count(b"long-name.example") < _INDICATORS
        headers = {"Authorization": f"Bearer {key}"}
        assert httpx.get(f"{address}/api/v1/export?type=ip", headers=headers).status_code == 200


def test_what_lasts_as_long_as_the_service_is_not_collected_in_the_midst_of_requests(tmp_path: Path) -> None:
    with serving(tmp_path) as (address, _):
        assert httpx.get(f"{address}/healthz", timeout=_PATIENCE_SECONDS).is_success
        assert gc.get_freeze_count() > 10_000
    assert gc.get_freeze_count() == 0


def test_no_thread_that_computes_holds_requests_back_for_long(tmp_path: Path) -> None:
    usual = sys.getswitchinterval()
    with serving(tmp_path) as (address, _):
        assert httpx.get(f"{address}/healthz", timeout=_PATIENCE_SECONDS).is_success
        assert sys.getswitchinterval() < 0.001
    assert sys.getswitchinterval() == usual


def asked(address: str, path: str, header: str = "") -> socket.socket:
    """A connection with a small window that has asked for a path."""
    host, _, port = address.removeprefix("http://").partition(":")
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(_PATIENCE_SECONDS)
    connection.connect((host, int(port)))
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\n{header}\r\n".encode())
    return connection


def settled(count: Callable[[], int]) -> int:
    """What a number is once it has not risen for a second."""
    last, since = count(), time.monotonic()
    end = since + _PATIENCE_SECONDS
    while time.monotonic() < min(end, since + 1):
        time.sleep(0.02)
        if count() != last:
            last, since = count(), time.monotonic()
    return last
