from __future__ import annotations

import asyncio
import gzip
import time
import zlib
from datetime import UTC, datetime

import pytest

from ingest.fetch import Fetcher, FetchLimits
from intel.errors import FetchFailed
from tests.cases import each
from tests.ingest.fetch.asking import LOOPBACK, failure, fetch
from tests.ingest.fetch.web import ARTICLE, Web


async def test_a_page_comes_back_with_its_type_charset_and_bytes(web: Web) -> None:
    url = web.page("/a", ARTICLE, 'ETag: "v1"', kind="Text/HTML; Charset=ISO-8859-2")
    page = await fetch(url + "#part")
    assert page.body == ARTICLE
    assert (page.status, page.content_type, page.charset) == (200, "text/html", "iso-8859-2")
    assert (page.url, page.final_url, page.redirects) == (url + "#part", url, ())
    assert page.headers == {"etag": '"v1"'}


async def test_a_request_says_who_asks_and_carries_no_credentials(web: Web) -> None:
    await fetch(web.page("/a", ARTICLE, "Set-Cookie: a=b"))
    await fetch(web.url("/a"))
    head = web.requests[1].lower()
    assert b"host: 127.0.0.1:%d" % web.port in head
    assert b"user-agent: ioc-intelligence" in head
    assert b"cookie" not in head
    assert b"authorization" not in head


async def test_a_proxy_in_the_environment_is_not_used(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert (await fetch(web.page("/a"))).body == ARTICLE


@pytest.mark.parametrize(("coding", "packed"), [("gzip", gzip.compress(ARTICLE)), ("deflate", zlib.compress(ARTICLE))])
async def test_a_compressed_page_is_unpacked(web: Web, coding: str, packed: bytes) -> None:
    assert (await fetch(web.page("/a", packed, f"Content-Encoding: {coding}"))).body == ARTICLE


async def test_a_chunked_page_and_one_that_ends_with_its_connection_are_read(web: Web) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
    chunked = web.raw(
        "/chunked", head + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n"
    )
    assert (await fetch(chunked)).body == b"hello world"
    assert (await fetch(web.raw("/closing", head + b"\r\n", b"hello ", b"world"))).body == b"hello world"


@each("status", [400, 401, 403, 404, 410, 418, 451, 204, 206, 300, 304])
async def test_a_status_that_will_not_change_is_final(web: Web, status: int) -> None:
    answer = web.raw("/a", b"HTTP/1.1 %d <b>Evil</b>\r\nRetry-After: 5\r\nContent-Length: 0\r\n\r\n" % status)
    failed = await failure(answer)
    assert failed.reason == f"http_{status}"
    assert not failed.retryable
    assert "Evil" not in failed.detail


@each("status", [408, 425, 429, 500, 502, 503, 504, 599, 999])
async def test_a_status_that_may_change_is_worth_another_try(web: Web, status: int) -> None:
    failed = await failure(web.page("/a", b"", status=status))
    assert (failed.reason, failed.retryable, failed.retry_after_seconds) == (f"http_{status}", True, None)


@each(
    ("text", "seconds"),
    [
        ("7", 7.0),
        (" 0 ", 0.0),
        ("86400", 3600.0),
        ("999999999", 3600.0),
        ("Fri, 20 Nov 2026 09:00:30 GMT", 30.0),
        ("Fri, 20 Nov 2026 08:00:00 GMT", 0.0),
        ("Fri, 20 Nov 2026 09:00:30", None),
        ("soon", None),
        ("-1", None),
        ("1e3", None),
        ("9" * 400, None),
    ],
)
async def test_a_site_may_say_when_to_come_back(web: Web, text: str, seconds: float | None) -> None:
    fetcher = Fetcher(LOOPBACK, clock=lambda: datetime(2026, 11, 20, 9, tzinfo=UTC))
    with pytest.raises(FetchFailed) as failed:
        await fetcher.fetch(web.page("/a", b"", f"Retry-After: {text}", status=429))
    assert failed.value.retry_after_seconds == seconds


async def test_a_page_announced_too_large_is_not_read(web: Web) -> None:
    url = web.raw("/a", b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 99999999999\r\n\r\n")
    failed = await failure(url)
    assert (failed.reason, failed.retryable) == ("body_too_large", False)


async def test_a_page_that_is_larger_than_announced_or_never_ends_is_cut_off(web: Web) -> None:
    limits = FetchLimits(body_bytes=100_000)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
    assert (await failure(web.without_end("/a", head + b"\r\n", b"x" * 5000), limits)).reason == "body_too_large"
    chunk = b"1388\r\n" + b"x" * 5000 + b"\r\n"
    endless = web.without_end("/b", head + b"Transfer-Encoding: chunked\r\n\r\n", chunk)
    assert (await failure(endless, limits)).reason == "body_too_large"


async def test_a_page_of_just_the_limit_is_read(web: Web) -> None:
    assert len((await fetch(web.page("/a", b"x" * 5000), FetchLimits(body_bytes=5000))).body) == 5000
    assert (await failure(web.page("/b", b"x" * 5001), FetchLimits(body_bytes=5000))).reason == "body_too_large"


@pytest.mark.slow
@pytest.mark.promise("promises.fetch-capped")
async def test_a_page_that_unfolds_without_bound_is_cut_off(web: Web) -> None:
    bomb = gzip.compress(bytes(60_000_000))
    assert (await failure(web.page("/a", bomb, "Content-Encoding: gzip"))).reason == "body_too_large"
    twice = web.page("/b", gzip.compress(bomb), "Content-Encoding: gzip, gzip")
    assert (await failure(twice)).reason == "unsupported_encoding"


async def test_a_compressed_page_that_breaks_off_is_no_page(web: Web) -> None:
    half = gzip.compress(ARTICLE * 50)[:-9]
    assert (await failure(web.page("/a", half, "Content-Encoding: gzip"))).reason == "decode_failed"
    assert (await failure(web.page("/b", ARTICLE, "Content-Encoding: gzip"))).reason == "decode_failed"


async def test_an_answer_that_breaks_off_is_worth_another_try(web: Web) -> None:
    for path, answer in {
        "/body": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 500\r\n\r\nhalf",
        "/chunk": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n50\r\nhalf",
        "/head": b"HTTP/1.1 200 OK\r\nContent-",
        "/nothing": b"",
        "/noise": b"SSH-2.0-OpenSSH_9.0\r\n\r\n",
        "/lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        "/minus": b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello",
        "/digits": b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\nhello",
    }.items():
        failed = await failure(web.raw(path, answer))
        assert (failed.reason, failed.retryable) == ("bad_response", True)


@pytest.mark.slow
async def test_a_flood_of_headers_is_cut_off(web: Web) -> None:
    one = web.raw("/a", b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000 + b"\r\n\r\n")
    many = web.without_end("/b", b"HTTP/1.1 200 OK\r\n", b"X-Flood: more and more\r\n")
    interim = web.without_end("/c", b"", b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
    for url in (one, many, interim):
        assert (await failure(url)).reason == "headers_too_large"


async def test_sixty_kilobytes_of_headers_are_borne(web: Web) -> None:
    assert (await fetch(web.page("/a", ARTICLE, "X: " + "x" * 60_000))).body == ARTICLE


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5000\r\n\r\n"


@pytest.mark.parametrize("head", [b"", HEAD, HEAD + b"<p>half"])
async def test_a_site_that_falls_silent_is_left_and_worth_another_try(web: Web, head: bytes) -> None:
    failed = await failure(web.without_end("/a", head, b"", 0.05), FetchLimits(read_seconds=0.3))
    assert (failed.reason, failed.retryable) == ("timeout", True)


@pytest.mark.promise("promises.fetch-capped")
@pytest.mark.parametrize(
    ("head", "drop"),
    [(HEAD, b"x"), (b"HTTP/1.1 200 OK\r\nX: ", b"x"), (b"", b"HTTP/1.1 102 Processing\r\n\r\n")],
    ids=["body", "headers", "interim"],
)
async def test_a_site_that_drips_runs_into_the_deadline(web: Web, head: bytes, drop: bytes) -> None:
    failed = await failure(web.without_end("/a", head, drop, 0.02), FetchLimits(total_seconds=0.5))
    assert (failed.reason, failed.retryable) == ("timeout", False)


async def test_slow_redirects_share_one_deadline(web: Web) -> None:
    async def slowly(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.3)
        writer.write(b"HTTP/1.1 302 Found\r\nLocation: /a\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()

    web.pages["/a"] = slowly
    failed = await failure(web.url("/a"), FetchLimits(total_seconds=0.8))
    assert (failed.reason, failed.retryable) == ("timeout", False)


@pytest.mark.slow
async def test_a_flood_of_tiny_chunks_is_cut_off_and_holds_nobody_up(web: Web) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
    url = web.without_end("/a", head, b"1\r\nx\r\n" * 5000)
    fetching = asyncio.create_task(failure(url, FetchLimits(body_pieces=30_000)))
    longest = 0.0
    while not fetching.done():
        begun = time.monotonic()
        await asyncio.sleep(0)
        longest = max(longest, time.monotonic() - begun)
    assert (await fetching).reason == "bad_response"
    assert longest < 3.0


@each(
    ("kind", "body", "found"),
    [
        ("text/html", b"<p>x", "text/html"),
        (
            "application/xhtml+xml",
            b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">',
            "application/xhtml+xml",
        ),
        ("text/plain", b"evil[.]example", "text/plain"),
        ("text/plain; charset=utf-8", b"<!DOCTYPE html><p>x", "text/html"),
        ("text/markdown", b"# Report", "text/markdown"),
        ("application/pdf", b"%PDF-1.7\n", "application/pdf"),
        ("text/html", b"%PDF-1.7\n", "application/pdf"),
        (None, b"\xef\xbb\xbf <!-- x --> <html>", "text/html"),
        (None, b"%PDF-1.7\n", "application/pdf"),
        (None, b"Just text", "text/plain"),
        (None, "Just text".encode("utf-16"), "text/plain"),
    ],
)
async def test_articles_of_every_type_are_told_apart(web: Web, kind: str | None, body: bytes, found: str) -> None:
    assert (await fetch(web.page("/a", body, kind=kind))).content_type == found


@each(
    ("kind", "body"),
    [
        ("image/png", b"\x89PNG\r\n"),
        ("application/json", b"{}"),
        ("application/octet-stream", b"<html>"),
        ("application/xml", b"<x/>"),
        ("application/pdf", b"no pdf"),
        ("text/html", b"\x89PNG\r\n\x1a\n"),
        ("text/plain", b"PK\x03\x04 zip"),
        ("text/html", gzip.compress(ARTICLE)),
        (None, b"MZ\x90\x00\x03\x00"),
        (None, bytes(range(256))),
        ("<script>alert(1)</script>", b"x"),
    ],
)
async def test_what_is_no_article_is_refused(web: Web, kind: str | None, body: bytes) -> None:
    failed = await failure(web.page("/a", body, kind=kind))
    assert (failed.reason, failed.retryable) == ("unsupported_content_type", False)
    assert "<" not in failed.detail


@each(
    ("kind", "body"),
    [
        ("application/rss+xml", b"<rss>"),
        ("application/atom+xml; charset=utf-8", b"<feed>"),
        ("text/xml", b'<?xml version="1.0"?>\n<rss version="2.0">'),
        ("text/html", b"\xef\xbb\xbf<?xml version='1.0'?><feed xmlns='http://www.w3.org/2005/Atom'>"),
        (None, b"<rdf:RDF xmlns='x'>"),
    ],
)
async def test_a_feed_is_refused_with_a_word_on_what_to_do(web: Web, kind: str | None, body: bytes) -> None:
    failed = await failure(web.page("/a", body, kind=kind))
    assert failed.reason == "is_a_feed"
    assert "ioc feeds add" in failed.detail


async def test_whoever_wants_a_feed_gets_it_and_may_ask_whether_it_changed(web: Web) -> None:
    url = web.page("/feed", b"<rss/>", 'ETag: "v1"', "Last-Modified: Fri, 20 Nov 2026 09:00:00 GMT", kind="text/xml")
    fetcher = Fetcher(LOOPBACK)
    page = await fetcher.fetch(url, types={"text/xml"})
    assert (page.content_type, page.body) == ("text/xml", b"<rss/>")
    web.page("/feed", b"", status=304)
    again = await fetcher.fetch(url, types={"text/xml"}, unless={"If-None-Match": page.headers["etag"]})
    assert (again.status, again.body) == (304, b"")
    assert b'If-None-Match: "v1"' in web.requests[-1]
    with pytest.raises(FetchFailed):
        await fetcher.fetch(web.page("/html"), types={"text/xml"})


async def test_many_fetches_at_once_do_not_mix(web: Web) -> None:
    for number in range(40):
        web.page(f"/{number}", b"<p>page %d" % number)
    fetcher = Fetcher(LOOPBACK)
    pages = await asyncio.gather(*(fetcher.fetch(web.url(f"/{number}")) for number in range(40)))
    assert [page.body for page in pages] == [b"<p>page %d" % number for number in range(40)]


async def test_a_fetch_that_is_given_up_closes_its_connection(web: Web) -> None:
    asked, closed = asyncio.Event(), asyncio.Event()

    async def waiting(writer: asyncio.StreamWriter) -> None:
        asked.set()
        while not writer.is_closing():
            writer.write(b"HTTP/1.1 102 P\r\n\r\n")
            await asyncio.sleep(0.01)
        closed.set()

    web.pages["/a"] = waiting
    fetching = asyncio.create_task(fetch(web.url("/a")))
    await asyncio.wait_for(asked.wait(), 60)
    fetching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await fetching
    await asyncio.wait_for(closed.wait(), 60)
