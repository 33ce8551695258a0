"""`/iocs/{id}/false-positive`: who calls what a false positive."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import pytest

from intel.ids import ioc_id
from tests.api.running import Running
from tests.cases import each

ID = ioc_id("domain", "relay.example")
PATH = f"/api/v1/iocs/{ID}/false-positive"


async def vote(api: Running, key: dict[str, str] | None, **body: Any) -> httpx.Response:
    return await api.client.put(PATH, json=body, headers=key)


async def counted(api: Running) -> int:
    (item,) = await api.items("/iocs", value="relay.example")
    count: int = item["votes"]["false_positive"]
    return count


@pytest.mark.promise("votes.one-each", "votes.shown")
async def test_an_account_has_one_vote_and_may_change_it(api: Running) -> None:
    await api.publish("one", "domain relay.example")
    key = await api.key()
    assert await counted(api) == 0
    answer = await vote(api, key, note="our own mail relay")
    assert (answer.status_code, answer.json()["false_positive"]) == (200, 1)
    assert answer.json()["own"] == {"note": "our own mail relay", "voted_at": "2026-11-20T12:00:00Z"}
    api.clock.forward(60)
    again = (await vote(api, await api.key(), note="of the branch in Oslo")).json()
    assert (again["false_positive"], again["own"]["note"]) == (1, "of the branch in Oslo")
    assert await counted(api) == 1


@pytest.mark.promise("votes.one-each")
async def test_a_vote_can_be_withdrawn_also_twice(api: Running) -> None:
    await api.publish("one", "domain relay.example")
    key, other = await api.key(), await api.key("other@example.org")
    await vote(api, key)
    await vote(api, other)
    for _ in range(2):
        answer = await api.client.delete(PATH, headers=key)
        assert (answer.status_code, answer.json()["false_positive"], answer.json()["own"]) == (200, 1, None)
    assert await counted(api) == 1


@pytest.mark.promise("votes.shown")
async def test_notes_are_data_newest_first_and_nobody_learns_whose(api: Running) -> None:
    await api.publish("one", "domain relay.example")
    await vote(api, await api.key("first@example.org"), note="<b>first</b>")
    api.clock.forward(1)
    await vote(api, await api.key("silent@example.org"))
    api.clock.forward(1)
    second = await api.key("second@example.org")
    await vote(api, second, note="=second()")
    detail = await api.get(f"/iocs/{ID}")
    assert [vote["note"] for vote in detail.json()["votes"]["notes"]] == ["=second()", "<b>first</b>"]
    assert (detail.json()["votes"]["false_positive"], detail.json()["votes"]["own"]) == (3, None)
    assert "example.org" not in detail.text
    own = (await api.get(f"/iocs/{ID}", second)).json()["votes"]["own"]
    assert own["note"] == "=second()"


async def test_votes_at_the_same_moment_are_all_counted(api: Running) -> None:
    await api.publish("one", "domain relay.example")
    keys = [await api.key(f"user{n}@example.org") for n in range(4)]
    await asyncio.gather(*(vote(api, key) for key in keys * 3))
    assert await counted(api) == 4


@pytest.mark.promise("votes.one-each", "errors.missing-api-key")
async def test_only_a_key_votes(api: Running) -> None:
    await api.publish("one", "domain relay.example")
    for answer in (await vote(api, None), await api.client.delete(PATH)):
        assert (answer.status_code, answer.json()["code"]) == (401, "missing_api_key")
    assert await counted(api) == 0


async def test_what_is_not_stored_gets_no_votes(api: Running) -> None:
    key = await api.key()
    for id in (ID, "nonsense", "a" * 36, "%00"):
        for method in ("PUT", "DELETE"):
            answer = await api.client.request(method, f"/api/v1/iocs/{id}/false-positive", headers=key)
            assert (answer.status_code, answer.json()["code"]) == (404, "not_found"), id


@each("note", ["a" * 501, "two\nlines", "bell\x07", "esc\x1b[31m", "\x85", "\ud83d", 5, ["a"], {"a": 1}, True])
async def test_a_note_of_another_form_is_refused(api: Running, key: dict[str, str], note: object) -> None:
    await api.publish("one", "domain relay.example")
    headers = {"Content-Type": "application/json"} | key
    answer = await api.client.put(PATH, content=json.dumps({"note": note}), headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_parameter")
    assert answer.json()["errors"][0]["field"] == "note"
    assert await counted(api) == 0


async def test_a_vote_needs_no_words(api: Running) -> None:
    await api.publish("one", "domain relay.example")
    key = await api.key()
    for body in ({}, {"note": None}, {"note": ""}, {"note": "  "}, {"note": "é" * 500}):
        assert (await vote(api, key, **body)).status_code == 200, body
    assert (await api.client.put(PATH, headers=key)).status_code == 200
    assert (await vote(api, key, reason="other")).status_code == 422


async def test_votes_hide_nothing(api: Running) -> None:
    await api.publish("one", "domain relay.example")
    for n in range(5):
        await vote(api, await api.key(f"user{n}@example.org"), note="no")
    assert await api.values(q="relay") == ["relay.example"]
    assert await api.values() == ["relay.example"]
