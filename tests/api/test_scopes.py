"""What keys of some scopes may be used for, on every way in, and when keys expire."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest

from intel.ids import account_id
from intel.records import Scope
from intel.times import rfc3339
from tests.api.running import Running

Key = dict[str, str]
EMAIL = "analyst@example.org"


async def key_for(api: Running, *scopes: Scope, lifetime: timedelta | None = None) -> Key:
    """The header of a new key with these scopes."""
    for old in await api.service.keys.of(account_id(EMAIL)):
        await api.service.keys.revoke(old)
    await api.key(EMAIL)
    made = await api.service.keys.create(account_id(EMAIL), "some", scopes, lifetime)
    return {"Authorization": f"Bearer {made.secret}"}


async def statuses(api: Running, key: Key) -> dict[str, int]:
    """What each of these requests is answered, by what it needs."""

    async def at_root(path: str) -> httpx.Response:
        return await api.client.get(path, headers=key)

    article = await api.publish("Known", "domain evil.example")
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    accepted = {"Accept": "application/json, text/event-stream"}
    mcp = await api.client.post("/mcp", json=message, headers=key | accepted)
    answers = {
        "list": await api.get("/iocs", key),
        "search": await api.get("/iocs", key, q="evil"),
        "lookup": await api.post("/iocs/lookup", {"values": ["evil.example"]}, key),
        "extract": await api.post("/extract", {"text": "evil[.]example"}, key),
        "searches": await api.get("/searches", key),
        "mcp": mcp,
        "submit": await api.post("/submit", {"url": "https://news.example/a"}, key),
        "refetch": await api.client.post(f"/api/v1/articles/{article.id}/refetch", headers=key),
        "remove": await api.client.delete("/api/v1/articles/00000000-0000-0000-0000-000000000000", headers=key),
        "save": await api.post("/searches", {"name": "mine", "q": "evil", "every": "day"}, key),
        "submission": await api.get("/submissions/00000000-0000-0000-0000-000000000000", key),
        "export": await api.get("/export", key),
        "changes": await api.get("/changes", key),
        "taxii": await at_root("/taxii2/"),
        "misp": await at_root("/misp/manifest.json"),
        "usage": await api.get("/usage", key),
    }
    return {name: answer.status_code for name, answer in answers.items()}


_READING = {"list", "search", "lookup", "extract", "searches", "mcp"}
_SUBMITTING = {"submit", "refetch", "remove", "save"}
_EXPORTING = {"export"}
_SHARED = {"changes", "taxii", "misp"}


@pytest.mark.promise("keys.scopes")
async def test_a_key_may_be_used_for_its_scopes_alone(api: Running) -> None:
    table: dict[tuple[Scope, ...], set[str]] = {
        ("read",): _READING | _SHARED | {"submission"},
        ("submit",): _SUBMITTING | {"submission"},
        ("export",): _EXPORTING | _SHARED,
        ("read", "submit", "export"): _READING | _SUBMITTING | _EXPORTING | _SHARED | {"submission"},
    }
    for scopes, allowed in table.items():
        got = await statuses(api, await key_for(api, *scopes))
        refused = {name for name, status in got.items() if status == 403}
        assert refused == set(got) - allowed - {"usage"}, scopes
        assert got["usage"] == 200


@pytest.mark.promise("keys.scopes")
async def test_the_refusal_says_which_scope_is_needed_and_costs_a_token(api: Running) -> None:
    key = await key_for(api, "read")
    answer = await api.post("/submit", {"url": "https://news.example/a"}, key)
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (403, "forbidden")
    assert "scope submit" in problem["detail"] and "has read" in problem["detail"]
    assert answer.headers["www-authenticate"] == 'Bearer error="insufficient_scope", scope="submit"'
    assert answer.headers["x-ratelimit-remaining"] == "99"


@pytest.mark.promise("keys.expiry")
async def test_a_key_is_refused_from_its_end_on_and_makes_room(api: Running) -> None:
    key = await key_for(api, "read", lifetime=timedelta(days=7))
    told = (await api.get("/usage", key)).json()
    ends = api.clock.now + timedelta(days=7)
    assert (told["scopes"], told["expires_at"]) == (["read"], rfc3339(ends))
    for _ in range(3):
        await api.key(EMAIL)
    api.clock.forward(7 * 86_400 - 1)
    assert (await api.get("/iocs", key)).status_code == 200
    api.clock.forward(1)
    refused = await api.get("/iocs", key)
    assert (refused.status_code, refused.json()["code"]) == (401, "invalid_api_key")
    assert "expired" in refused.json()["detail"]
    assert (await api.get("/usage", await api.key(EMAIL))).status_code == 200
    assert not any(one.expires_at for one in await api.service.keys.of(account_id(EMAIL)))
