"""A proxy that the operator named on purpose."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from ingest.fetch import FetchAllow, Fetcher
from intel.errors import IngestFailed
from tests.cases import each
from tests.ingest.fetch.asking import Names
from tests.ingest.fetch.web import ARTICLE

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(ARTICLE) + ARTICLE


class NoNames:
    """A network in which no name of the internet can be resolved."""

    async def __call__(self, host: str) -> list[str]:
        raise OSError("no name server")


@asynccontextmanager
async def proxy(answer: bytes = ANSWER) -> AsyncIterator[tuple[str, list[bytes]]]:
    """A proxy that gives the same answer to everything; its address and the heads of what it was asked."""
    asked: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}", asked
    finally:
        server.close()


async def test_a_page_is_asked_for_through_the_proxy_by_its_name() -> None:
    async with proxy() as (address, asked):
        fetcher = Fetcher(FetchAllow(), resolver=Names(blog_example_org=[["93.184.216.34"]]), proxy=f"http://{address}")
        page = await fetcher.fetch("http://blog.example.org/report?x=1")
    assert page.body == ARTICLE
    assert asked[0].startswith(b"GET http://blog.example.org:80/report?x=1 HTTP/1.1\r\n")
    assert b"host: blog.example.org\r\n" in asked[0].lower()


async def test_https_is_tunnelled_and_the_proxy_gets_its_password() -> None:
    async with proxy(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n") as (address, asked):
        fetcher = Fetcher(FetchAllow(), resolver=NoNames(), proxy=f"http://me:se%20cret@{address}")
        with pytest.raises(IngestFailed) as failed:
            await fetcher.fetch("https://blog.example.org/report")
    assert failed.value.reason == "proxy_refused"
    assert asked[0].startswith(b"CONNECT blog.example.org:443 HTTP/1.1\r\n")
    assert base64.b64encode(b"me:se cret") in asked[0]
    assert "secret" not in failed.value.detail and "127.0.0" not in failed.value.detail


async def test_names_that_only_the_proxy_knows_are_left_to_it() -> None:
    async with proxy() as (address, asked):
        fetcher = Fetcher(FetchAllow(), resolver=NoNames(), proxy=f"http://{address}")
        assert (await fetcher.fetch("http://blog.example.org/report")).body == ARTICLE
    assert len(asked) == 1


@pytest.mark.promise("promises.public-addresses-only")
@each(
    ("url", "reason"),
    [
        ("http://10.0.0.1/", "blocked_address"),
        ("http://[::1]/", "blocked_address"),
        ("http://localhost/", "local_name"),
        ("http://inner.example.org/", "blocked_address"),
        ("http://blog.example.org:8080/", "blocked_port"),
    ],
)
async def test_the_guard_stands_before_the_proxy(url: str, reason: str) -> None:
    names = Names(inner_example_org=[["93.184.216.34", "10.0.0.7"]], blog_example_org=[["93.184.216.34"]])
    async with proxy() as (address, asked):
        with pytest.raises(IngestFailed) as failed:
            await Fetcher(FetchAllow(), resolver=names, proxy=f"http://{address}").fetch(url)
    assert (failed.value.reason, asked) == (reason, [])


async def test_a_redirect_through_the_proxy_is_checked_too() -> None:
    moved = b"HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n"
    async with proxy(moved) as (address, asked):
        with pytest.raises(IngestFailed) as failed:
            await Fetcher(FetchAllow(), resolver=NoNames(), proxy=f"http://{address}").fetch("http://blog.example.org/")
    assert (failed.value.reason, len(asked)) == ("blocked_address", 1)


async def test_a_proxy_that_is_not_there_is_worth_another_try() -> None:
    with pytest.raises(IngestFailed) as failed:
        await Fetcher(FetchAllow(), resolver=NoNames(), proxy="http://127.0.0.1:1").fetch("http://blog.example.org/")
    assert (failed.value.reason, failed.value.retryable) == ("connect_failed", True)
