"""Elasticsearch whose indices take no writes, as it sets them itself where its disk is nearly full."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from tests.api.running import GENEROUS, PASSWORD, running
from tests.api.web.reading import Reader, reading

_EMAIL = "analyst@example.org"
# Longer than any use of a key or session goes unnoted.
_LATER_SECONDS = 7200
_READS = (
    "/iocs", "/iocs?q=evil", "/iocs?value=evil.example", "/iocs?type=domain&facets=true", "/iocs?since=2026-11-01",
    "/articles", "/articles?q=report", "/articles/{article}", "/articles/{article}/iocs",
    "/articles/{article}/revisions", "/articles/{article}/candidates", "/iocs/{ioc}", "/weekly", "/weekly/2026-W47",
    "/weekly/2026-W47/revisions",
    "/weekly.atom", "/articles.atom", "/iocs.atom", "/focus.atom", "/focus", "/sources", "/catalogues", "/changes",
    "/usage",
)  # fmt: skip
_PAGES = (
    "/",
    "/?q=evil",
    "/articles",
    "/articles/{article}",
    "/ioc/domain/evil.example",
    "/weekly",
    "/focus",
    "/sources",
)


@asynccontextmanager
async def read_only(elasticsearch: str, prefix: str) -> AsyncIterator[None]:
    """No index of the service takes writes."""

    async def block(value: bool | None) -> None:
        setting = {"index.blocks.read_only_allow_delete": value}
        async with httpx.AsyncClient(timeout=30) as client:
            (await client.put(f"{elasticsearch}/{prefix}*/_settings", json=setting)).raise_for_status()

    await block(True)
    try:
        yield
    finally:
        await block(None)


async def test_reading_goes_on_where_elasticsearch_takes_no_writes(
    tmp_path: Path, elasticsearch_url: str, index_prefix: str, redis_database: str
) -> None:
    engines = {
        "elasticsearch_url": elasticsearch_url,
        "elasticsearch_index_prefix": index_prefix,
        "redis_url": redis_database,
    }
    async with running(tmp_path, **GENEROUS, **engines) as api, reading(api.app) as reader:
        key = await api.key(_EMAIL)
        article = await api.publish("report", "domain evil.example", text="It was evil.example.")
        (ioc,) = await api.items("/iocs")
        await reader.sign_in(_EMAIL, PASSWORD)
        vote, names = f"/api/v1/iocs/{ioc['id']}/false-positive", {"article": article.id, "ioc": ioc["id"]}
        async with read_only(elasticsearch_url, index_prefix):
            api.clock.forward(_LATER_SECONDS)
            statuses = {path: (await api.get(path.format(**names), key)).status_code for path in _READS}
            statuses |= {f"page {path}": (await reader.open(path.format(**names))).status for path in _PAGES}
            statuses["/iocs/lookup"] = (await api.post("/iocs/lookup", {"values": ["evil.example"]}, key)).status_code
            assert {path: status for path, status in statuses.items() if status != 200} == {}
            assert await reader.is_signed_in()
            assert (await api.client.get("/readyz")).status_code == 200
            for refused in (
                await api.client.put(vote, headers=key),
                await api.post("/submit", {"url": "http://127.0.0.1:9/report"}, key),
            ):
                assert (refused.status_code, refused.json()["code"]) == (503, "store_unavailable")
                assert "disk is full or read-only" in refused.json()["detail"]
                assert refused.headers["retry-after"].isdigit()
            async with reading(api.app) as other:
                assert await _signing_in(other) == 503
        assert (await api.client.put(vote, headers=key)).status_code == 200
        assert (await api.post("/submit", {"url": "http://127.0.0.1:9/report"}, key)).status_code == 202
        assert (await api.get("/weekly/2026-W47")).json()["revision"] == 1


async def _signing_in(reader: Reader) -> int:
    return (await reader.sign_in(_EMAIL, PASSWORD)).status
