"""Pages of blocked domains are refused, however they come in."""

from __future__ import annotations

import pytest
from pytest_httpserver import HTTPServer

from ingest.blocking import read_domain
from intel.errors import IocError
from tests.api.pages import article_page
from tests.api.running import Running
from tests.api.test_submit import ended, serve
from tests.cases import each


@pytest.mark.promise("remove.blocked-domains")
async def test_a_page_of_a_blocked_domain_is_refused_until_it_is_unblocked(api: Running) -> None:
    key = await api.key()
    await api.store.domains.block("evil.example", api.clock.now)
    for url in ("https://evil.example/a", "http://EVIL.example./", "https://cdn.blog.evil.example/x?y"):
        answer = await api.post("/submit", {"url": url}, key)
        assert (answer.status_code, answer.json()["code"]) == (422, "blocked_domain")
        assert answer.json()["errors"][0]["field"] == "url"
    await api.store.domains.unblock("evil.example")
    assert (await api.post("/submit", {"url": "https://evil.example/a"}, key)).status_code == 202


async def test_a_redirect_to_a_blocked_domain_fails_with_its_reason(api: Running, httpserver: HTTPServer) -> None:
    await api.store.domains.block("evil.example", api.clock.now)
    moved = {"Location": "https://www.evil.example/report"}
    httpserver.expect_request("/moved").respond_with_data("", 302, headers=moved)
    key = await api.key()
    answer = await api.post("/submit", {"url": httpserver.url_for("/moved")}, key)
    done = await ended(api, key, answer.json()["id"])
    assert (done["status"], done["reason"]) == ("failed", "blocked_domain")


async def test_an_article_is_not_read_again_once_its_host_is_blocked(api: Running, httpserver: HTTPServer) -> None:
    key, url = await api.key(), serve(httpserver, body=article_page())
    done = await ended(api, key, (await api.post("/submit", {"url": url}, key)).json()["id"])
    await api.store.domains.block("127.0.0.1", api.clock.now)
    answer = await api.post(f"/articles/{done['article_id']}/refetch", {}, key)
    assert (answer.status_code, answer.json()["code"]) == (422, "blocked_domain")


@each(
    ("text", "domain"),
    [("Evil.Example", "evil.example"), ("*.münchen.example", "xn--mnchen-3ya.example"), ("2001:DB8::1", "2001:db8::1")],
)
def test_a_domain_is_blocked_by_its_canonical_name(text: str, domain: str) -> None:
    assert read_domain(text) == domain


@each("text", ["", "localhost", "https://evil.example/", "evil example", "a" * 300])
def test_what_is_no_domain_is_refused(text: str) -> None:
    with pytest.raises(IocError, match="not a domain"):
        read_domain(text)
