"""`/healthz`, `/readyz`, `/metrics`, and the headers of every answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.api.running import GENEROUS, Running, running


@pytest.mark.promise("health.healthz-readyz")
async def test_a_running_service_is_alive_and_ready(api: Running) -> None:
    for path in ("/healthz", "/readyz"):
        assert (await api.client.get(path)).status_code == 200
    assert (await api.client.get("/readyz")).json() == {"status": "ready", "reasons": []}


async def test_a_service_without_its_redis_is_ready_and_says_what_is_missing(
    elasticsearch_url: str, index_prefix: str, tmp_path: Path
) -> None:
    nobody = "redis://127.0.0.1:9/0"
    engines = {"elasticsearch_url": elasticsearch_url, "elasticsearch_index_prefix": index_prefix, "redis_url": nobody}
    async with running(tmp_path, **engines, ioc_secret_key="a secret of this test alone", **GENEROUS) as api:
        answer = await api.client.get("/readyz")
    assert (answer.status_code, answer.json()["status"]) == (200, "ready")
    assert "Redis is out of reach" in answer.json()["reasons"][0]


@pytest.mark.promise("health.metrics-allow")
async def test_metrics_are_read_from_allowed_networks_only(api: Running, tmp_path: Path) -> None:
    refused = await api.client.get("/metrics")
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    async with running(tmp_path / "b", ioc_metrics_allow="198.51.100.0/24", **GENEROUS) as allowed:
        await allowed.publish("one", "domain a.example")
        await allowed.get("/iocs", q="secret-search-words")
        await allowed.get("/iocs/secret-path")
        text = (await allowed.client.get("/metrics")).text
    assert 'ioc_records{kind="iocs"} 1.0' in text
    assert 'route="/api/v1/iocs"' in text
    assert "secret" not in text


@pytest.mark.promise("health.metrics-allow")
async def test_a_forwarded_address_opens_no_metrics(tmp_path: Path) -> None:
    async with running(tmp_path, ioc_metrics_allow="127.0.0.1/32", ioc_trusted_proxies="0.0.0.0/0", **GENEROUS) as api:
        answer = await api.client.get("/metrics", headers={"X-Forwarded-For": "127.0.0.1"})
        assert answer.status_code == 403


async def test_every_answer_has_headers_that_keep_browsers_careful(api: Running) -> None:
    for path in ("/api/v1/iocs", "/api/v1/docs", "/healthz", "/api/v1/nothing"):
        headers = (await api.client.get(path)).headers
        assert headers["x-content-type-options"] == "nosniff", path
        assert "default-src 'none'" in headers["content-security-policy"], path


async def test_only_a_service_with_an_https_address_asks_browsers_to_stay_on_https(
    api: Running, tmp_path: Path
) -> None:
    assert "strict-transport-security" not in (await api.client.get("/healthz")).headers
    async with running(tmp_path / "b", ioc_base_url="https://iocs.example.org", **GENEROUS) as public:
        assert "max-age=" in (await public.client.get("/healthz")).headers["strict-transport-security"]
