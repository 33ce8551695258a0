"""`/changes` and the moments at which a record was added and changed."""

from __future__ import annotations

import pytest

from tests.api.running import Running
from tests.cases import each
from tests.contract.store.builders import id_of, make_article, publish


@pytest.mark.promise("changes.endpoint")
async def test_changes_are_told_after_a_position(api: Running) -> None:
    key = await api.key()
    empty = (await api.get("/changes", key)).json()
    assert (empty["items"], empty["more"]) == ([], False)
    await api.publish("one", "domain evil.example")
    added = (await api.get("/changes", key, after=empty["next"])).json()
    (item,) = added["items"]
    assert (item["event"], item["at"], added["more"]) == ("added", "2026-11-20T12:00:00Z", False)
    assert item["ioc"] == (await api.items("/iocs"))[0]
    api.clock.forward(60)
    await api.publish("two", "domain evil.example", at=1)
    (item,) = await api.items("/changes", key, after=added["next"])
    assert (item["event"], item["at"], item["ioc"]["sightings"]) == ("changed", "2026-11-20T12:01:00Z", 2)


@pytest.mark.promise("changes.endpoint")
async def test_what_is_removed_is_told_by_what_it_was(api: Running) -> None:
    key = await api.key()
    await api.publish("one", "domain evil.example")
    await publish(api.store, make_article("one"))
    (item,) = await api.items("/changes", key)
    assert item["event"] == "removed"
    assert item["ioc"] == {
        "id": id_of("domain evil.example"), "type": "domain", "value": "evil.example", "defanged": "evil[.]example"
    }  # fmt: skip


@pytest.mark.promise("changes.endpoint")
async def test_a_walk_ends_where_there_is_no_more(api: Running) -> None:
    key = await api.key()
    await api.publish("one", *(f"domain d{n}.example" for n in range(7)))
    first = (await api.get("/changes", key, limit=5)).json()
    assert (len(first["items"]), first["limit"], first["more"]) == (5, 5, True)
    second = (await api.get("/changes", key, limit=5, after=first["next"])).json()
    assert (len(second["items"]), second["more"]) == (2, False)
    assert {item["event"] for item in first["items"] + second["items"]} == {"added"}
    assert (await api.get("/changes", key, after=second["next"])).json()["items"] == []
    assert (await api.get("/changes", key, limit=99_999)).json()["limit"] == 1_000


@pytest.mark.promise("changes.endpoint")
async def test_types_and_sources_restrict_the_changes(api: Running) -> None:
    key = await api.key()
    await api.publish("one", "domain a.example", "ip 192.0.2.1", "url http://a.example/", source="Alpha")
    await api.publish("two", "domain b.example", source="Beta")
    two = await api.client.get("/api/v1/changes?type=domain&type=ip", headers=key)
    assert sorted(item["ioc"]["value"] for item in two.json()["items"]) == ["192.0.2.1", "a.example", "b.example"]
    of_source = await api.items("/changes", key, source="Beta")
    assert [item["ioc"]["value"] for item in of_source] == ["b.example"]


@pytest.mark.promise("changes.endpoint")
async def test_changes_need_a_key(api: Running) -> None:
    answer = await api.get("/changes")
    assert (answer.status_code, answer.json()["code"]) == (401, "missing_api_key")


@each(
    "asked",
    [{"after": "x"}, {"after": "OTk5Ljk5OQ"}, {"after": "é"}, {"limit": 0}, {"type": "file"}, {"source": "a\0"}],
    ids=str,
)
async def test_what_cannot_be_understood_is_refused(api: Running, key: dict[str, str], asked: dict[str, str]) -> None:
    answer = await api.get("/changes", key, **asked)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_parameter")
    assert answer.json()["errors"][0]["field"] == next(iter(asked))


async def test_a_blank_position_begins_anew(api: Running) -> None:
    await api.publish("one", "domain evil.example")
    assert len(await api.items("/changes", await api.key(), after=" ")) == 1


@pytest.mark.promise("changes.times")
async def test_a_record_tells_when_it_was_added_and_changed(api: Running) -> None:
    await api.publish("one", "domain evil.example")
    api.clock.forward(3_600)
    await api.publish("two", "domain evil.example", "domain new.example", at=1)
    old, new = sorted(await api.items("/iocs"), key=lambda item: str(item["value"]))
    assert (old["added_at"], old["changed_at"]) == ("2026-11-20T12:00:00Z", "2026-11-20T13:00:00Z")
    assert (new["added_at"], new["changed_at"]) == ("2026-11-20T13:00:00Z", "2026-11-20T13:00:00Z")


@pytest.mark.promise("changes.times")
async def test_a_list_may_hold_only_what_was_added_since(api: Running) -> None:
    await api.publish("one", "domain old.example")
    api.clock.forward(3_600)
    await api.publish("two", "domain new.example", at=-9)
    answer = (await api.get("/iocs", added_since="2026-11-20T13:00:00Z")).json()
    assert ([item["value"] for item in answer["items"]], answer["total"]) == (["new.example"], 1)
    assert answer["query"]["added_since"] == "2026-11-20T13:00:00Z"
    assert len(await api.items("/iocs", added_since="2026-11-20")) == 2
    refused = await api.get("/iocs", added_since="soon")
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "added_since")
