from __future__ import annotations

import asyncio
import ssl
from collections.abc import Sequence
from pathlib import Path

import pytest

from ingest.fetch import FetchAllow, Fetcher, FetchLimits
from ingest.fetch.wire import public_tls
from intel.errors import FetchFailed, RefusedUrl
from tests.cases import each
from tests.ingest.fetch.asking import LOOPBACK, Names, failure, fetch
from tests.ingest.fetch.certificates import issue_certificate
from tests.ingest.fetch.web import ARTICLE, Web, open_web


@each("status", [301, 302, 303, 307, 308])
async def test_redirects_are_followed(web: Web, status: int) -> None:
    web.page("/b", ARTICLE)
    page = await fetch(web.redirect("/a", "b?x=1#y", status))
    assert page.final_url == web.url("/b?x=1")
    assert page.redirects == (web.url("/a"),)


@pytest.mark.promise("promises.fetch-capped")
async def test_five_redirects_are_followed_and_six_are_not(web: Web) -> None:
    for step in range(6):
        web.redirect(f"/{step}", f"/{step + 1}")
    web.page("/6", ARTICLE)
    assert len((await fetch(web.url("/1"))).redirects) == 5
    failed = await failure(web.url("/0"))
    assert (failed.reason, failed.retryable) == ("too_many_redirects", False)
    web.redirect("/loop", "/loop")
    assert (await failure(web.url("/loop"))).reason == "too_many_redirects"


@pytest.mark.promise("promises.public-addresses-only")
@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("http://10.0.0.1/", "blocked_address"),
        ("http://169.254.169.254/latest/meta-data/", "blocked_address"),
        ("//192.168.0.1/", "blocked_address"),
        ("http://[::1]/", "blocked_address"),
        ("http://[::ffff:127.0.0.1]/", "blocked_address"),
        ("http://1.1.1.1:22/", "blocked_port"),
        ("http://2130706433/", "bad_host"),
        ("http://localhost/", "local_name"),
        ("http://①②⑦.⓪.⓪.①/", "bad_host"),
        ("http://user:secret@127.0.0.1/", "url_has_credentials"),
        ("file:///etc/passwd", "unsupported_scheme"),
        ("ftp://127.0.0.1/", "unsupported_scheme"),
        ("javascript:alert(1)", "unsupported_scheme"),
        ("http://%31%32%37.0.0.1/", "bad_host"),
        ("http://127.0.0.1\\@example.org/", "forbidden_character"),
        ("http://[::1/", "bad_redirect"),
        ("", "bad_redirect"),
        ("/" + "a" * 3000, "url_too_long"),
    ],
)
async def test_a_redirect_to_where_nobody_may_go_is_not_followed(web: Web, location: str, reason: str) -> None:
    failed = await failure(web.redirect("/a", location))
    assert (failed.reason, failed.retryable) == (reason, False)
    assert len(web.requests) == 1


async def test_a_redirect_names_exactly_one_place(web: Web) -> None:
    assert (await failure(web.page("/none", b"", status=302))).reason == "bad_redirect"
    two = web.page("/two", b"", "Location: /b", "Location: /c", status=302)
    assert (await failure(two)).reason == "bad_redirect"


async def test_a_redirect_may_hold_a_space(web: Web) -> None:
    web.page("/b%20c", ARTICLE)
    assert (await fetch(web.redirect("/a", "/b c"))).final_url == web.url("/b%20c")


@pytest.mark.promise("promises.public-addresses-only")
async def test_a_name_is_resolved_once_and_the_checked_address_dialled(web: Web) -> None:
    names = Names(pages_example_net=[["127.0.0.1"], ["10.0.0.1"]])
    web.page("/a", ARTICLE)
    page = await fetch(web.url("/a", "pages.example.net"), names=names)
    assert page.body == ARTICLE
    assert names.asked == ["pages.example.net"]
    assert b"Host: pages.example.net:%d\r\n" % web.port in web.requests[0]


async def test_a_name_that_changes_its_mind_is_checked_at_every_redirect(web: Web) -> None:
    names = Names(pages_example_net=[["127.0.0.1"], ["10.0.0.1"]])
    web.redirect("/a", "/b")
    web.page("/b", ARTICLE)
    failed = await failure(web.url("/a", "pages.example.net"), names=names)
    assert failed.reason == "blocked_address"
    assert len(web.requests) == 1


@each("bad", ["10.0.0.1", "::1", "::ffff:127.0.0.1", "169.254.169.254", "fe80::1%lo"])
async def test_one_inner_address_among_the_answers_refuses_them_all(web: Web, bad: str) -> None:
    web.page("/a", ARTICLE)
    for answers in (["127.0.0.1", bad], [bad, "127.0.0.1"]):
        failed = await failure(web.url("/a", "pages.example.net"), names=Names(pages_example_net=[answers]))
        assert failed.reason == "blocked_address"
    assert web.requests == []


async def test_the_port_of_a_name_counts_where_it_leads(web: Web) -> None:
    failed = await failure("http://pages.example.net:8080/", names=Names(pages_example_net=[["1.1.1.1"]]))
    assert failed.reason == "blocked_port"


async def test_the_next_address_is_tried_where_nobody_answers(web: Web) -> None:
    web.page("/a", ARTICLE)
    names = Names(pages_example_net=[["127.0.0.9", "127.0.0.1"]])
    assert (await fetch(web.url("/a", "pages.example.net"), names=names)).body == ARTICLE


@pytest.mark.promise("settings.fetch-allow")
async def test_an_allowance_of_one_endpoint_opens_just_that(web: Web) -> None:
    web.page("/a", ARTICLE)
    fetcher = Fetcher(FetchAllow.parse(f"127.0.0.1:{web.port}"))
    assert (await fetcher.fetch(web.url("/a"))).body == ARTICLE
    with pytest.raises(RefusedUrl):
        await fetcher.fetch(f"http://127.0.0.1:{web.port + 1}/a")


async def test_without_an_allowance_loopback_is_out_of_reach(web: Web) -> None:
    with pytest.raises(RefusedUrl) as refused:
        await Fetcher(FetchAllow()).fetch(web.page("/a"))
    assert refused.value.reason == "blocked_address"
    assert web.requests == []


async def test_a_name_without_an_address_fails() -> None:
    async def nobody(host: str) -> Sequence[str]:
        raise OSError("no such name")

    for resolver in (nobody, Names(gone_example_net=[[]]), Names(gone_example_net=[["not an address"]])):
        with pytest.raises(FetchFailed) as failed:
            await Fetcher(LOOPBACK, resolver=resolver).fetch("http://gone.example.net/")
        assert failed.value.reason == "dns_failed"


async def test_a_name_that_resolves_for_ever_runs_into_the_deadline() -> None:
    async def never(host: str) -> Sequence[str]:
        await asyncio.Event().wait()
        return []

    with pytest.raises(FetchFailed) as failed:
        await Fetcher(LOOPBACK, FetchLimits(total_seconds=0.2), resolver=never).fetch("http://slow.example.net/")
    assert failed.value.reason == "timeout"


async def test_a_closed_port_is_a_failed_connection_and_worth_another_try(web: Web) -> None:
    failed = await failure("http://127.0.0.1:1/")
    assert (failed.reason, failed.retryable) == ("connect_failed", True)


async def test_a_certificate_is_checked_against_the_name(tmp_path: Path) -> None:
    serving, trusting = issue_certificate(tmp_path, "pages.example.net")
    names = Names(pages_example_net=[["127.0.0.1"]], other_example_net=[["127.0.0.1"]])
    fetcher = Fetcher(LOOPBACK, resolver=names, tls=trusting)
    async with open_web(serving) as web:
        web.page("/a", ARTICLE)
        page = await fetcher.fetch(web.url("/a", "pages.example.net", "https"))
        assert page.body == ARTICLE
        for name in ("other.example.net", "127.0.0.1"):
            with pytest.raises(FetchFailed) as failed:
                await fetcher.fetch(web.url("/a", name, "https"))
            assert (failed.value.reason, failed.value.retryable) == ("tls_failed", False)
        with pytest.raises(FetchFailed) as failed:
            await Fetcher(LOOPBACK, resolver=names).fetch(web.url("/a", "pages.example.net", "https"))
        assert failed.value.reason == "tls_failed"


async def test_something_else_than_tls_behind_https_is_no_secure_connection() -> None:
    async def answer_at_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Speak HTTP\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(answer_at_once, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        assert (await failure(f"https://127.0.0.1:{port}/")).reason in ("tls_failed", "connect_failed")


def test_public_tls_verifies() -> None:
    context = public_tls()
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname


async def test_the_authorities_are_read_once_for_the_first_page_over_https(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[ssl.SSLContext] = []

    def counted() -> ssl.SSLContext:
        made.append(ssl.create_default_context())
        return made[-1]

    monkeypatch.setattr("httpcore.default_ssl_context", counted)
    public_tls.cache_clear()
    assert (await Fetcher(LOOPBACK).fetch(web.page("/a", ARTICLE))).body == ARTICLE
    assert made == []
    for _ in range(2):
        assert (await failure("https://127.0.0.1:1/")).reason == "connect_failed"
    assert made == [public_tls()]
