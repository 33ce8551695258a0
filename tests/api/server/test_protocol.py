"""What one client may cost and how long it may take, on real sockets."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace

import pytest

from api.server.limits import ConnectionLimits
from tests.api.server.bounded import LARGE, QUICK, Client, Server, bounded
from tests.cases import each

GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
LONG_POST = b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nabc"
CLOSE = b"Connection: close\r\n\r\n"
CHUNKED = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
LIMIT = ConnectionLimits().head_bytes


@pytest.fixture(scope="module", params=["asyncio", "uvloop"])
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    with bounded(loop=request.param) as running:
        yield running


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.") else 0


def answered(server: Server, raw: bytes) -> bytes:
    client = server.connect()
    client.send(raw)
    answer = client.receive()
    client.close()
    return answer


def padded(size: int) -> bytes:
    """A head of that many bytes."""
    begin = GET + b"X: "
    return begin + b"a" * (size - len(begin) - len(CLOSE) - 2) + b"\r\n" + CLOSE


@pytest.mark.promise("server.head-bytes")
def test_a_head_of_64_kb_is_served_and_one_byte_more_is_431(server: Server) -> None:
    assert status(answered(server, padded(LIMIT))) == 200
    assert status(answered(server, padded(LIMIT + 1))) == 431


@pytest.mark.promise("server.head-bytes")
@each(
    "begin, endless",
    [
        (GET, b"A: b\r\n" * 2000),
        (GET + b"X: ", b"a" * 10_000),
        (GET, b"a" * 10_000),
        (b"GET /", b"a" * 10_000),
        (b"", b"\r\n" * 5_000),
        (CHUNKED + b"1;", b"a" * 10_000),
        (CHUNKED + b"0\r\n", b"A: b\r\n" * 2000),
        (CHUNKED + b"0\r\nA: ", b"a" * 10_000),
    ],
    ids=["fields", "value", "name", "target", "empty-lines", "chunk-extension", "trailers", "trailer-value"],
)
def test_what_never_ends_is_431_and_the_connection_is_closed(server: Server, begin: bytes, endless: bytes) -> None:
    client = server.connect()
    client.send(begin)
    sent = 0
    while sent < 50_000_000 and client.send(endless):
        sent += len(endless)
    assert sent < 50_000_000
    assert status(client.receive()) == 431
    assert status(answered(server, GET + CLOSE)) == 200


def test_a_head_of_too_many_fields_is_431(server: Server) -> None:
    assert status(answered(server, GET + b"a:b\r\n" * 990 + CLOSE)) == 200
    assert status(answered(server, GET + b"a:b\r\n" * 1000 + CLOSE)) == 431


def test_trailers_are_not_taken_for_fields_of_the_head(server: Server) -> None:
    client = server.connect()
    client.send(CHUNKED + b"2\r\nhi\r\n0\r\nAuthorization: Bearer stolen\r\n\r\n")
    assert b"ok" in client.receive(b"ok")
    assert server.told.bodies[-1] == b"hi"
    assert b"authorization" not in dict(server.told.headers[-1])


@each("size", [0, 1, 1023, 1024, 1025, 70_000, 3_000_000])
def test_bodies_of_any_size_arrive_whole(server: Server, size: int) -> None:
    body = bytes(number % 251 for number in range(size))
    client = server.connect()
    client.send(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % size + body)
    assert client.receive(b"ok").endswith(b"ok")
    assert server.told.bodies[-1] == body


TOO_LONG = {
    # What is sent at once, what drips on, the status that ends it, and after how many seconds.
    "silent": (b"", b"", 0, QUICK.idle_seconds),
    "empty lines": (b"", b"\r\n", 0, QUICK.idle_seconds),
    "half a head": (GET, b"", 408, QUICK.head_seconds),
    "dripping head": (GET + b"X: ", b"a", 408, QUICK.head_seconds),
    "half a body": (LONG_POST % b"/", b"", 408, QUICK.body_seconds),
    "dripping body": (LONG_POST % b"/", b"a", 408, QUICK.body_seconds),
    "dripping chunks": (CHUNKED, b"1\r\na\r\n", 408, QUICK.body_seconds),
    "idle": (GET + b"\r\n", b"", 200, QUICK.idle_seconds),
    "idle with empty lines": (GET + b"\r\n", b"\r\n", 200, QUICK.idle_seconds),
    "body after its answer": (LONG_POST % b"/refuses", b"a", 413, QUICK.body_seconds),
}


@pytest.mark.slow
@pytest.mark.promise("server.timeouts")
def test_what_takes_too_long_is_ended_in_time(server: Server) -> None:
    with ThreadPoolExecutor(len(TOO_LONG)) as threads:
        ends = {
            name: threads.submit(ended, server.connect(), begin, drip) for name, (begin, drip, *_) in TOO_LONG.items()
        }
    for name, (_, _, expected, seconds) in TOO_LONG.items():
        found, took = ends[name].result()
        assert (name, found) == (name, expected)
        assert seconds - 0.1 <= took < seconds + 1.5, name


def ended(client: Client, begin: bytes, drip: bytes) -> tuple[int, float]:
    """The status that a client which sends no more than this is given, and after how many seconds it is cut off."""
    begun = time.monotonic()
    client.send(begin)
    with ThreadPoolExecutor(1) as reader:
        answer = reader.submit(client.receive)
        while not wait([answer], 0.1).done and time.monotonic() - begun < 10:
            if drip:
                client.send(drip)
        took = time.monotonic() - begun
    return status(answer.result()), took


@pytest.mark.slow
@pytest.mark.promise("server.timeouts")
def test_an_application_that_waits_for_a_body_is_told_that_the_client_is_gone(server: Server) -> None:
    before = server.told.went_away
    client = server.connect()
    client.send(b"POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n")
    assert client.receive(b"\r\n\r\n").startswith(b"HTTP/1.1 100")
    assert status(client.receive()) == 408
    server.until(lambda: server.told.went_away == before + 1)


@pytest.mark.promise("server.unread")
@pytest.mark.parametrize("path", ["/large", "/stream"])
@pytest.mark.parametrize("piece", [0, 1], ids=["nothing", "a-byte-now-and-then"])
@pytest.mark.slow
def test_an_answer_that_is_not_read_is_cut_off(server: Server, path: str, piece: int) -> None:
    before = server.told.refused["unread_answer"]
    client = server.connect()
    client.send(b"GET " + path.encode() + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
    begun = time.monotonic()

    def look() -> bool:
        if piece:
            client.socket.recv(piece)
        return server.told.refused["unread_answer"] > before

    server.until(look)
    assert QUICK.unread_seconds - 0.1 <= time.monotonic() - begun < QUICK.unread_seconds + 20
    assert len(client.receive()) < LARGE


@pytest.mark.parametrize("path", ["/large", "/stream"])
@pytest.mark.slow
def test_unread_answers_to_pipelined_requests_are_cut_off_without_a_fault(
    server: Server, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    before = server.told.refused.copy()
    client = server.connect()
    client.send((b"GET " + path.encode() + b" HTTP/1.1\r\nHost: localhost\r\n\r\n") * 100)
    server.until(lambda: server.told.refused != before)
    assert server.told.refused - before == {"unread_answer": 1}
    assert b"HTTP/1.1 200" in client.receive()
    assert status(answered(server, GET + CLOSE)) == 200
    assert caplog.records == []


@pytest.mark.promise("server.unread")
@pytest.mark.parametrize("path", ["/large", "/stream"])
@pytest.mark.slow
def test_a_slow_reader_that_goes_on_reading_gets_the_whole_answer(path: str) -> None:
    with bounded(replace(QUICK, unread_seconds=1.0, idle_seconds=1.0)) as server:
        client = server.connect()
        client.send(b"GET " + path.encode() + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        got, begun = 0, time.monotonic()
        while piece := client.socket.recv(300_000):
            got += len(piece)
            if time.monotonic() - begun < 5:
                time.sleep(0.1)  # The reader's own slowness.
        assert got > LARGE
        assert not server.told.refused


@pytest.mark.slow
def test_thousands_of_pipelined_requests_are_answered_in_turn(server: Server) -> None:
    client = server.connect()
    threading.Thread(target=client.send, args=((GET + b"\r\n") * 5000 + GET + CLOSE,)).start()
    assert client.receive().count(b"HTTP/1.1 200") == 5001


@pytest.mark.parametrize("protocol", [b"websocket", b"h2c"])
def test_a_request_to_upgrade_is_answered_as_any_other(server: Server, protocol: bytes) -> None:
    upgrade = b"Connection: Upgrade\r\nUpgrade: " + protocol + b"\r\nSec-WebSocket-Version: 13\r\n"
    answer = answered(server, GET + upgrade + b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n" + GET + CLOSE)
    assert answer.count(b"HTTP/1.1 200") == 2


@each("raw", [b"\x16\x03\x01\x02\x00", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"CONNECT a:1 HTTP/1.1\r\n\r\n"])
def test_what_is_not_http_is_400(server: Server, raw: bytes) -> None:
    assert status(answered(server, raw)) in (0, 400)
    assert status(answered(server, GET + CLOSE)) == 200


def test_a_wrong_request_does_not_spoil_the_answer_before_it(server: Server) -> None:
    client = server.connect()
    assert status(client.ask()) == 200
    client.send(b"nonsense\r\n\r\n")
    assert status(client.receive()) == 400


def test_a_body_that_nobody_wants_is_read_no_further_than_16_mb(server: Server) -> None:
    client = server.connect()
    client.send(b"POST /refuses HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999\r\n\r\n")
    assert status(client.receive(b"ok")) == 413
    sent = 0
    while sent < 100_000_000 and client.send(b"x" * 100_000):
        sent += 100_000
    assert sent < 50_000_000


def test_the_host_of_an_absolute_target_stands_for_the_host_header(server: Server) -> None:
    answered(server, b"GET http://evil.example:81/ HTTP/1.1\r\nHost: localhost\r\n" + CLOSE)
    assert [value for name, value in server.told.headers[-1] if name == b"host"] == [b"evil.example:81"]


def test_every_slot_is_free_again_however_a_connection_ended(server: Server) -> None:
    clients = [Client(server.port) for _ in range(10)]
    for client, raw in zip(clients, (b"", GET, GET + b"\r\n", b"nonsense\r\n\r\n", CHUNKED) * 2, strict=True):
        client.send(raw)
    for client in clients:
        client.close()
    server.close()
    server.until(lambda: server.told.open == 0)
