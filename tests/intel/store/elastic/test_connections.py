"""Connections to a node: whole answers however they come, and none that belongs to another request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from intel.store.elastic.connections import Broken, Connections
from tests.cases import each

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

pytestmark = pytest.mark.asyncio


@asynccontextmanager
async def asking(serve: Serve, most: int = 4) -> AsyncIterator[Connections]:
    """Connections to a server that serves each of them so."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0, limit=2**24)
    connections = Connections("127.0.0.1", server.sockets[0].getsockname()[1], "", {}, None, most)
    try:
        yield connections
    finally:
        await connections.close()
        server.close()


async def request(reader: asyncio.StreamReader) -> tuple[str, bytes]:
    """The next request: its head and its body."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    lengths = [line[15:] for line in head.split("\r\n") if line.startswith("content-length:")]
    return head, await reader.readexactly(int(lengths[0]) if lengths else 0)


def told(body: bytes, status: str = "200 OK", more: str = "") -> bytes:
    return f"HTTP/1.1 {status}\r\n{more}content-length: {len(body)}\r\n\r\n".encode() + body


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while True:
        head, body = await request(reader)
        writer.write(told(b"" if head.startswith("HEAD") else body or head.split(" ")[1].encode()))


async def test_one_connection_serves_what_is_asked_one_after_the_other() -> None:
    made: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        made.append(writer)
        await echo(reader, writer)

    async with asking(serve) as connections:
        for number in range(3):
            assert await connections.ask("GET", f"/{number}", None, {}) == (200, f"/{number}".encode())
    assert len(made) == 1


async def test_requests_at_the_same_time_get_their_own_answers_over_a_bounded_number_of_connections() -> None:
    open, most = 0, 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal open, most
        open += 1
        most = max(most, open)
        await echo(reader, writer)

    async with asking(serve, most=3) as connections:
        answers = await asyncio.gather(*(connections.ask("GET", f"/{number}", None, {}) for number in range(30)))
    assert [body for _, body in answers] == [f"/{number}".encode() for number in range(30)]
    assert most == 3


async def test_a_large_body_and_a_large_answer_are_whole() -> None:
    body = bytes(range(256)) * 20_000
    async with asking(echo) as connections:
        assert await connections.ask("POST", "/", body, {}) == (200, body)


async def test_an_answer_may_come_in_chunks() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await request(reader)
            for piece in (
                b"HTTP/1.1 200 OK\r\ntransfer-enc",
                b"oding: chunked\r\n\r\n3\r\nab",
                b"c\r\n2\r\nde\r\n0\r\n\r\n",
            ):
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0)

    async with asking(serve) as connections:
        assert [await connections.ask("GET", "/", None, {}) for _ in range(2)] == [(200, b"abcde")] * 2


async def test_the_answer_to_head_has_no_body_and_the_next_request_its_own_answer() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head, _ = await request(reader)
            whole = told(b"not for HEAD", "405 No")
            writer.write(whole[: whole.index(b"not")] if head.startswith("HEAD") else whole)

    async with asking(serve) as connections:
        assert await connections.ask("HEAD", "/", None, {}) == (405, b"")
        assert await connections.ask("GET", "/", None, {}) == (405, b"not for HEAD")


@each("answer", [b"", b"no http\r\n\r\n", b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf"])
async def test_what_is_no_whole_answer_is_none(answer: bytes) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request(reader)
        writer.write(answer)

    async with asking(serve) as connections:
        with pytest.raises(Broken):
            await connections.ask("POST", "/", b"{}", {})


@each(("method", "is_repeated"), [("GET", True), ("PUT", True), ("POST", False)])
async def test_what_may_be_sent_twice_is_sent_anew_where_a_kept_connection_was_closed(
    method: str, is_repeated: bool
) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request(reader)
        writer.write(told(b"first"))
        await request(reader)

    async with asking(serve) as connections:
        assert await connections.ask("GET", "/", None, {}) == (200, b"first")
        if is_repeated:
            assert await connections.ask(method, "/", b"{}", {}) == (200, b"first")
        else:
            with pytest.raises(Broken):
                await connections.ask(method, "/", b"{}", {})


async def test_who_gives_up_leaves_no_answer_for_the_next() -> None:
    asked, may_answer = asyncio.Event(), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head, _ = await request(reader)
            if "/slow" in head:
                asked.set()
                await may_answer.wait()
            writer.write(told(head.split(" ")[1].encode()))

    async with asking(serve, most=1) as connections:
        waiting = asyncio.create_task(connections.ask("GET", "/slow", None, {}))
        await asked.wait()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        may_answer.set()
        assert await connections.ask("GET", "/next", None, {}) == (200, b"/next")


async def test_an_answer_that_ends_its_connection_is_followed_by_another_connection() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request(reader)
        writer.write(told(b"last", more="connection: close\r\n"))

    async with asking(serve) as connections:
        assert [await connections.ask("POST", "/", b"{}", {}) for _ in range(2)] == [(200, b"last")] * 2


async def test_closing_ends_what_waits_for_an_answer() -> None:
    asked = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request(reader)
        asked.set()
        await reader.read()

    async with asking(serve) as connections:
        waiting = asyncio.create_task(connections.ask("POST", "/", b"{}", {}))
        await asked.wait()
        await connections.close()
        with pytest.raises(Broken):
            await waiting


async def test_nobody_there_is_no_answer() -> None:
    async with asking(echo) as connections:
        pass
    with pytest.raises(Broken):
        await connections.ask("GET", "/", None, {})
