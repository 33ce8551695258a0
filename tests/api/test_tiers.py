"""The table of limits, on the whole service with its defaults."""

from __future__ import annotations

import httpx
import pytest

from api.limits.tiers import RESULTS_CAP, SEARCH_RESULTS_CAP
from tests.api.running import Running


async def passing(api: Running, path: str, most: int, key: dict[str, str] | None = None) -> tuple[int, httpx.Response]:
    """How many requests pass, and the one that does not."""
    for passed in range(most + 1):
        answer = await api.client.get(f"/api/v1{path}", headers=key)
        if answer.status_code == 429:
            return passed, answer
    raise AssertionError(f"{most + 1} requests to {path} passed")


def check_refusal(answer: httpx.Response) -> None:
    assert answer.json()["code"] == "rate_limited"
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["instance"] == answer.request.url.path
    assert int(answer.headers["retry-after"]) >= 1
    assert answer.headers["x-ratelimit-remaining"] == "0"


# Buckets fill while a slow machine counts: a request or two more may pass.
@pytest.mark.promise("limits.who.key-100-per-minute", "errors.rate-limited")
async def test_a_key_passes_a_hundred_times_a_minute(limited_api: Running) -> None:
    passed, refused = await passing(limited_api, "/iocs", 140, await limited_api.key())
    assert 100 <= passed < 130
    assert refused.headers["x-ratelimit-limit"] == "100"
    check_refusal(refused)


@pytest.mark.promise("limits.who.list-30-per-minute")
async def test_a_visitor_lists_thirty_times_a_minute(limited_api: Running) -> None:
    passed, refused = await passing(limited_api, "/articles", 45)
    assert 30 <= passed < 40
    check_refusal(refused)
    assert (await limited_api.get("/iocs")).status_code == 429
    assert (await limited_api.get("/iocs", q="evil")).status_code == 200
    assert (await limited_api.get("/iocs", await limited_api.key())).status_code == 200


@pytest.mark.promise("limits.who.search-10-per-hour")
async def test_a_visitor_searches_ten_times_an_hour(limited_api: Running) -> None:
    passed, refused = await passing(limited_api, "/iocs?q=evil", 12)
    assert passed == 10
    check_refusal(refused)
    assert int(refused.headers["retry-after"]) > 60
    for path in (
        "/iocs?value=evil.example",
        "/articles?q=evil",
        "/awareness?q=mfa",
        "/iocs?type=ip&q=%20a",
        "/iocs?q=a&q=",
    ):
        assert (await limited_api.client.get(f"/api/v1{path}")).status_code == 429, path
    assert (await limited_api.get("/iocs")).status_code == 200


@pytest.mark.promise("limits.who.wrong-key-10-per-minute")
async def test_wrong_keys_are_answered_ten_times_a_minute(limited_api: Running) -> None:
    passed, refused = await passing(limited_api, "/iocs", 14, {"Authorization": "Bearer wrong"})
    assert 10 <= passed < 13
    check_refusal(refused)
    assert (await limited_api.get("/iocs")).status_code == 200
    assert (await limited_api.get("/iocs", await limited_api.key())).status_code == 200


@pytest.mark.promise("usage.costs-nothing", "usage.get")
async def test_usage_shows_the_bucket_and_costs_nothing(limited_api: Running) -> None:
    key = await limited_api.key()
    await limited_api.get("/iocs", key)
    for _ in range(120):
        answer = await limited_api.get("/usage", key)
        assert answer.status_code == 200
    assert "x-ratelimit-limit" not in answer.headers
    usage = answer.json()
    assert usage["key_prefix"].startswith("ioc_") and key["Authorization"][7:] not in answer.text
    (bucket, exports) = usage["buckets"]
    assert (exports["name"], exports["limit"], exports["remaining"]) == ("export", 10, 10)
    assert (bucket["name"], bucket["limit"], bucket["window_seconds"]) == ("key", 100, 60)
    assert bucket["remaining"] >= 99 and usage["results_limit"] == RESULTS_CAP


@pytest.mark.slow
@pytest.mark.promise("limits.unlimited-paths")
async def test_descriptions_health_and_static_files_are_never_limited(limited_api: Running) -> None:
    await passing(limited_api, "/iocs", 45)
    for path in ("/api/v1/openapi.json", "/api/v1/docs", "/healthz", "/readyz", "/static/api-docs.js"):
        answer = await limited_api.client.get(path)
        assert answer.status_code == 200, path
        assert "x-ratelimit-limit" not in answer.headers, path


@pytest.mark.promise("limits.refused-costs-nothing", "limits.any-other-answer-costs-one")
async def test_every_answer_costs_one_and_a_refusal_nothing(limited_api: Running) -> None:
    key = await limited_api.key()
    for path, status in (("/nothing", 404), ("/iocs?limit=0", 422), ("/iocs/unknown", 404), ("/iocs", 200)):
        before = int((await limited_api.get("/iocs", key)).headers["x-ratelimit-remaining"])
        answer = await limited_api.client.get(f"/api/v1{path}", headers=key)
        assert answer.status_code == status
        assert before - 1 <= int(answer.headers["x-ratelimit-remaining"]) <= before
    usage = (await limited_api.get("/usage", key)).json()["buckets"][0]
    assert usage["remaining"] <= 100 - 7


@pytest.mark.promise("limits.headers-on-every-answer")
async def test_headers_tell_the_policy_and_what_is_left(limited_api: Running) -> None:
    headers = (await limited_api.get("/iocs")).headers
    assert headers["ratelimit-policy"] == '"list";q=30;w=60'
    assert headers["ratelimit"].startswith('"list";r=29;t=')
    assert (headers["x-ratelimit-limit"], headers["x-ratelimit-remaining"]) == ("30", "29")
    assert SEARCH_RESULTS_CAP == 10
