from __future__ import annotations

import re

import pytest
from lxml import etree
from structlog.testing import capture_logs

from api.logs import masked
from tests.api.running import Running
from tests.api.web.reading import Page, Reader

FEEDS = "/settings/feeds"
ADDRESS = re.compile(r"http://ioc\.example(/api/v1/iocs\.atom\?token=(iocfeed_[A-Za-z0-9]+_[A-Za-z0-9]+))")


async def make(reader: Reader, name: str = "reader") -> Page:
    return await reader.submit(await reader.open(FEEDS), FEEDS, name=name)


def shown(page: Page) -> tuple[str, str]:
    """Path and token of the new feed address."""
    ((path, token),) = set(ADDRESS.findall(page.answer.text))
    return path, token


@pytest.mark.promise("feeds.token")
async def test_a_feed_address_is_shown_once_and_reads_as_its_account(
    limited_api: Running, limited_member: Reader
) -> None:
    await limited_api.publish("many", *(f"domain d{n}.example" for n in range(60)))
    page = await make(limited_member)
    path, token = shown(page)
    assert page.answer.headers["cache-control"] == "no-store"
    again = await limited_member.open(FEEDS)
    assert token not in again.answer.text and "1 of 5" in again.text and "never used" in again.text
    for _ in range(12):  # a search without a key is answered ten times an hour, with ten results
        answer = await limited_api.client.get(f"{path}&q=example&limit=50")
        assert (answer.status_code, len(etree.fromstring(answer.content).findall("{*}entry"))) == (200, 50)
    assert answer.headers["ratelimit-policy"].startswith('"account"')
    assert answer.headers["cache-control"] == "private, no-cache" and answer.headers["referrer-policy"] == "no-referrer"
    assert token not in answer.text and "/api/v1/iocs.atom?q=example&amp;limit=50" in answer.text
    kept = await limited_api.client.get(f"{path}&q=example&limit=50", headers={"If-None-Match": answer.headers["etag"]})
    assert (kept.status_code, (await limited_api.client.head(path)).status_code) == (304, 200)


@pytest.mark.promise("feeds.token")
async def test_a_feed_token_opens_nothing_else(api: Running, member: Reader) -> None:
    _, token = shown(await make(member))
    key = (await api.key())["Authorization"].removeprefix("Bearer ")
    for path in ("iocs", "articles.atom", "weekly.atom", "iocs"):
        answer = await api.get(f"/{path}", token=token)
        assert answer.headers["ratelimit-policy"].startswith('"list"'), path
    assert (await api.get("/usage", token=token)).json()["code"] == "missing_api_key"
    assert (await api.get("/usage", {"Authorization": f"Bearer {token}"})).json()["code"] == "invalid_api_key"
    assert (await api.client.get(f"/misp/manifest.json?token={token}")).status_code == 401
    refused = [
        key,
        "x",
        f"{token[:-1]}{'y' if token.endswith('x') else 'x'}",
        f"{token}&token={token}",
        "iocfeed_" + "A" * 17 + "_" + "B" * 49,
    ]
    for wrong in refused:
        answer = await api.client.get(f"/api/v1/iocs.atom?token={wrong}")
        assert (answer.status_code, answer.json()["code"]) == (401, "invalid_api_key"), wrong
        assert wrong not in answer.text
    assert (await api.get("/iocs.atom", token=" ")).headers["ratelimit-policy"].startswith('"list"')


@pytest.mark.promise("feeds.token")
async def test_a_revoked_address_is_refused_at_once_and_an_account_has_five(api: Running, member: Reader) -> None:
    addresses = [shown(await make(member, f"reader {n}"))[0] for n in range(5)]
    full = await make(member, "one too many")
    assert full.status == 409 and "the limit" in full.text
    page = await member.submit(await member.open(FEEDS), f"{FEEDS}/revoke")
    assert "4 of 5" in page.text
    answers = [(await api.client.get(address)).status_code for address in addresses]
    assert sorted(answers) == [200, 200, 200, 200, 401]
    assert "0 of 5" in (await member.open("/settings/api-keys")).text
    assert (await make(member, "")).status == (await make(member, "x" * 81)).status == 422


@pytest.mark.promise("feeds.token")
async def test_a_token_is_in_no_log_line(api: Running, member: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    path, token = shown(await make(member))

    async def broken(*_: object) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr(type(api.store.iocs), "find", broken)
    with capture_logs() as logs:
        answer = await api.client.get(path)
    assert answer.status_code == 500 and token not in answer.text
    assert logs and token not in repr(logs)
    # Where one comes to a log line all the same, it is masked.
    assert token not in repr(masked(None, "info", {"event": f"asked for {path}"}))
