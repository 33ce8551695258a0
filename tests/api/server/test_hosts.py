"""A page elsewhere cannot read the service by pointing its own name at it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.api.running import GENEROUS, Running, running

SETTINGS: dict[str, Any] = {
    "ioc_base_url": "https://IOCs.example.org:8443",
    "ioc_allowed_hosts": "api,bücher.example",
    **GENEROUS,
}
OWN = (
    "iocs.example.org", "IOCS.EXAMPLE.ORG:443", "iocs.example.org.", "localhost", "localhost:8000", "ioc.localhost",
    "127.0.0.1:8000", "192.168.1.7", "203.0.113.9:80", "[::1]", "[::1]:8000", "[2001:db8::1]:8000", "api", "api:8000",
    "xn--bcher-kva.example",
)  # fmt: skip
FOREIGN = (
    "evil.example", "evil.example:8000", "iocs.example.org.evil.example", "127.0.0.1.evil.example",
    "localhost.evil.example",    "evil-localhost", "notapi", "sub.iocs.example.org", "0x7f.evil.example",
)  # fmt: skip
WRONG = ("", " ", "a b", "localhost/evil", "user@localhost", "localhost:99999999", "[::1", "a:b:c", ":80")
PATHS = ("/api/v1/iocs", "/", "/healthz", "/metrics", "/static/site.css", "/api/v1/docs")


async def status(api: Running, host: str, path: str = "/api/v1/iocs") -> int:
    return (await api.client.get(path, headers={"Host": host})).status_code


@pytest.mark.promise("server.hosts")
async def test_the_service_answers_under_its_own_names_and_addresses(tmp_path: Path) -> None:
    async with running(tmp_path, **SETTINGS) as api:
        assert {host: await status(api, host) for host in OWN} == dict.fromkeys(OWN, 200)


@pytest.mark.promise("server.hosts")
async def test_another_name_is_misdirected_wherever_it_asks(tmp_path: Path) -> None:
    async with running(tmp_path, **SETTINGS) as api:
        assert {host: await status(api, host) for host in FOREIGN} == dict.fromkeys(FOREIGN, 421)
        assert [await status(api, "evil.example", path) for path in PATHS] == [421] * len(PATHS)


async def test_a_malformed_or_repeated_host_is_400(tmp_path: Path) -> None:
    async with running(tmp_path, **SETTINGS) as api:
        assert {host: await status(api, host) for host in WRONG} == dict.fromkeys(WRONG, 400)
        twice = [("Host", "localhost"), ("Host", "localhost")]
        assert (await api.client.get("/api/v1/iocs", headers=twice)).status_code == 400


async def test_the_refusal_names_the_setting_and_costs_no_token(tmp_path: Path) -> None:
    async with running(tmp_path, ioc_rate_list="2/hour") as api:
        for _ in range(5):
            refused = await api.client.get("/api/v1/iocs", headers={"Host": "evil.example"})
        assert refused.headers["content-type"] == "application/problem+json"
        assert refused.json()["code"] == "unknown_host" and "IOC_ALLOWED_HOSTS" in refused.json()["detail"]
        page = await api.client.get("/", headers={"Host": "evil.example"})
        assert page.headers["content-type"].startswith("text/plain") and "IOC_ALLOWED_HOSTS" in page.text
        assert await status(api, "localhost") == 200
