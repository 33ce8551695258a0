"""OPTIONS, and what pages of other origins may read."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest

from intel.errors import ConfigurationError
from intel.settings import load_settings
from tests.api.running import GENEROUS, Running, running
from tests.cases import each

APP, OTHER = "https://app.example.org", "https://evil.example"


@pytest.mark.promise("http.options")
async def test_options_tells_the_methods_and_costs_nothing(limited_api: Running) -> None:
    allowed = {
        "/api/v1/iocs": "GET, HEAD, OPTIONS",
        "/api/v1/iocs/lookup": "POST, OPTIONS",
        f"/api/v1/iocs/{uuid4()}/false-positive": "PUT, DELETE, OPTIONS",
        f"/api/v1/articles/{uuid4()}": "GET, HEAD, DELETE, OPTIONS",
        "/api/v1/usage": "GET, HEAD, OPTIONS",
        "/misp/manifest.json": "GET, HEAD, OPTIONS",
        "/mcp": "POST, OPTIONS",
        "/bulk": "GET, HEAD, POST, OPTIONS",
    }
    for path, methods in allowed.items():
        for _ in range(12):  # more than any bucket of searches holds
            answer = await limited_api.client.options(f"{path}?q=x", headers={"Authorization": "Bearer wrong"})
            assert (answer.status_code, answer.headers["allow"], answer.content) == (204, methods, b""), path
            assert "ratelimit" not in answer.headers and "access-control-allow-origin" not in answer.headers
    assert (await limited_api.get("/iocs", q="x")).headers["x-ratelimit-remaining"] == "9"
    assert (await limited_api.client.options("/api/v1/nothing")).status_code == 404


@pytest.mark.promise("http.cors")
async def test_pages_of_allowed_origins_read_data_without_cookies(tmp_path: Path) -> None:
    async with running(tmp_path, ioc_cors_origins=f"{APP},http://127.0.0.1:3000", ioc_rate_list="2/hour") as api:
        for path, status in (("/api/v1/iocs", 200), ("/api/v1/iocs/x", 404), ("/api/v1/iocs", 429)):
            answer = await api.client.get(path, headers={"Origin": APP})
            assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (status, APP)
            exposed = answer.headers["access-control-expose-headers"].split(", ")
            assert {"Link", "X-Total-Count", "ETag", "RateLimit", "Retry-After"} <= set(exposed)
            assert "access-control-allow-credentials" not in answer.headers
            assert "Origin" in answer.headers["vary"]
        for origin in (OTHER, f"{APP}.evil.example", "null", ""):
            answer = await api.client.get("/api/v1/sources", headers={"Origin": origin})
            assert "access-control-allow-origin" not in answer.headers and "Origin" in answer.headers["vary"]
        for page in ("/", "/signin", "/static/site.css", "/healthz"):
            answer = await api.client.get(page, headers={"Origin": APP})
            assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.promise("http.cors")
async def test_a_preflight_allows_reading_with_a_key_and_nothing_else(tmp_path: Path) -> None:
    async with running(tmp_path, ioc_cors_origins=APP, **GENEROUS) as api:
        asked = {"Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "authorization"}
        answer = await api.client.options("/api/v1/changes", headers={"Origin": APP, **asked})
        assert answer.status_code == 204
        assert answer.headers["access-control-allow-origin"] == APP
        assert answer.headers["access-control-allow-methods"] == "GET, HEAD"
        assert "Authorization" in answer.headers["access-control-allow-headers"]
        for path, origin in (("/api/v1/changes", OTHER), ("/api/v1/submit", APP)):
            refused = await api.client.options(path, headers={"Origin": origin, **asked})
            assert refused.status_code == 204 and "access-control-allow-methods" not in refused.headers


@pytest.mark.promise("http.cors")
async def test_a_star_is_any_origin(tmp_path: Path) -> None:
    async with running(tmp_path, ioc_cors_origins="*") as api:
        answer = await api.client.get("/api/v1/iocs", headers={"Origin": OTHER})
        assert answer.headers["access-control-allow-origin"] == "*" and "Origin" not in answer.headers["vary"]
        pages = await api.client.get("/", headers={"Origin": OTHER})
        assert "access-control-allow-origin" not in pages.headers


@each("given", ["app.example.org", "https://app.example.org/", "https://a@b.example", "ftp://x"])
def test_what_is_no_origin_is_refused_at_the_start(given: str) -> None:
    with pytest.raises(ConfigurationError, match="IOC_CORS_ORIGINS"):
        load_settings({"IOC_CORS_ORIGINS": given})
