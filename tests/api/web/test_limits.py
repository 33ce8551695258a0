from __future__ import annotations

from pathlib import Path

import pytest

from tests.api.running import Running, running
from tests.api.web.reading import reading
from tests.cases import each


async def test_a_visitor_opens_thirty_pages_a_minute_and_is_then_told_to_wait(limited_api: Running) -> None:
    async with reading(limited_api.app) as visitor:
        pages = [await visitor.open("/focus") for _ in range(31)]
    assert [page.status for page in pages] == [200] * 30 + [429]
    refused = pages[-1]
    assert refused.heading == "Too many requests"
    assert 1 <= int(refused.answer.headers["retry-after"]) <= 2
    assert "Try again in" in refused.text and "Sign in" in refused.links()
    assert refused.answer.headers["x-ratelimit-remaining"] == "0"
    assert pages[0].answer.headers["ratelimit-policy"] == '"list";q=30;w=60'


async def test_a_visitor_searches_ten_times_an_hour_and_goes_on_reading(limited_api: Running) -> None:
    async with reading(limited_api.app) as visitor:
        searches = [(await visitor.open("/search?q=evil")).status for _ in range(11)]
        assert searches == [200] * 10 + [429]
        assert (await visitor.open("/articles?q=evil")).status == 429
        assert (await visitor.open("/search")).status == 200


@pytest.mark.promise("limits.pages.same-buckets")
@pytest.mark.promise("limits.pages.same-buckets")
async def test_pages_and_the_api_share_a_visitors_buckets(limited_api: Running) -> None:
    async with reading(limited_api.app) as visitor:
        for _ in range(10):
            await visitor.open("/search?q=evil")
        assert (await visitor.client.get("/api/v1/iocs?q=evil")).status_code == 429


@pytest.mark.slow
@pytest.mark.promise("limits.pages.same-buckets")
@pytest.mark.promise("limits.pages.same-buckets")
async def test_a_member_opens_a_hundred_pages_a_minute(limited_api: Running) -> None:
    async with reading(limited_api.app) as member:
        await member.sign_up()
        answers = [await member.open("/help?q=evil") for _ in range(105)]
    assert answers[0].answer.headers["ratelimit-policy"] == '"account";q=100;w=60'
    statuses = [page.status for page in answers]
    assert statuses[:90] == [200] * 90 and 429 in statuses


async def test_another_address_has_its_own_thirty(limited_api: Running) -> None:
    async with reading(limited_api.app) as first, reading(limited_api.app, "203.0.113.5") as second:
        for _ in range(31):
            await first.open("/focus")
        assert (await second.open("/focus")).status == 200


async def test_behind_a_trusted_proxy_the_client_counts(tmp_path: Path) -> None:
    async with running(tmp_path, ioc_trusted_proxies="198.51.100.0/24") as api, reading(api.app) as visitor:
        for number in range(40):
            answer = await visitor.client.get("/focus", headers={"x-forwarded-for": f"203.0.113.{number}"})
            assert answer.status_code == 200


@pytest.mark.promise("limits.unlimited-paths")
@each("path", ["/static/site.css", "/static/site.js", "/static/icon.svg", "/healthz", "/readyz"])
async def test_static_files_cost_nothing(limited_api: Running, path: str) -> None:
    async with reading(limited_api.app) as visitor:
        for _ in range(35):
            answer = await visitor.client.get(path)
            assert answer.status_code == 200
            assert "ratelimit" not in answer.headers


async def test_an_address_without_a_page_costs_nothing(limited_api: Running) -> None:
    async with reading(limited_api.app) as visitor:
        for _ in range(40):
            assert (await visitor.open("/no/such/page")).status == 404
        assert (await visitor.open("/focus")).status == 200
