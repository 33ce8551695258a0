"""How far sources are trusted: who says it, and what it does to the confidence."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.running import Running
from tests.contract.store.builders import id_of


async def confidence(api: Running) -> tuple[int, dict[str, int]]:
    """The confidence in the one indicator, the same in every answer, and the points of its rules."""
    shown: dict[str, Any] = (await api.get(f"/iocs/{id_of('domain evil-kestrel.net')}")).json()
    (item,) = await api.items("/iocs")
    looked_up = (await api.post("/iocs/lookup", {"values": ["evil-kestrel.net"]}, await api.key())).json()
    (found,) = looked_up["items"][0]["iocs"]
    assert shown["confidence"] == item["confidence"] == found["confidence"]
    return shown["confidence"], {rule["rule"]: rule["points"] for rule in shown["confidence_of"]}


async def trust(api: Running, key: dict[str, str] | None, name: str, body: Any) -> Any:
    return await api.client.put(f"/api/v1/sources/{name}/trust", json=body, headers=key or {})


@pytest.mark.promise("trust.confidence")
async def test_the_trust_of_the_best_source_enters_the_confidence(api: Running) -> None:
    await api.publish("one", "domain evil-kestrel.net", source="Agency / North")
    key = await api.key()
    usual, points = await confidence(api)
    assert "source_trust" not in points
    answer = await trust(api, key, "Agency / North", {"trust": 90})
    assert (answer.status_code, answer.json()) == (200, {"name": "Agency / North", "trust": 90})
    higher, points = await confidence(api)
    assert (higher, points["source_trust"]) == (usual + 16, 16)
    assert (await trust(api, key, "Agency / North", {"trust": 0})).status_code == 200
    lower, points = await confidence(api)
    assert (lower, points["source_trust"]) == (usual - 20, -20)
    lines = (await api.get("/export", key, format="ndjson")).text
    assert f'"confidence":{lower}' in lines
    noted = [(one.action, one.target, one.detail) for one in await api.store.audit.newest(5) if "source" in one.action]
    assert sorted(noted) == [
        ("source.trusted", "Agency / North", "50 -> 90"),
        ("source.trusted", "Agency / North", "90 -> 0"),
    ]


@pytest.mark.promise("trust.who")
async def test_administrators_alone_say_how_far_a_source_is_trusted(api: Running) -> None:
    await api.key()  # the first account is an administrator
    other = await api.key("other@example.org")
    assert (await trust(api, other, "Agency", {"trust": 90})).status_code == 403
    assert (await trust(api, None, "Agency", {"trust": 90})).status_code == 401
    key = await api.key()
    for wrong in ({"trust": 101}, {"trust": -1}, {"trust": "90"}, {}, {"trust": 1, "more": 2}):
        assert (await trust(api, key, "Agency", wrong)).status_code == 422
    assert await api.store.trusts.all() == {}
