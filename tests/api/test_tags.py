"""Tags over REST: who may, their shape, and where they are seen."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from intel.audit import AuditEntry
from intel.ids import account_id
from intel.records import Sighting
from tests.api.running import Running
from tests.cases import each
from tests.contract.store.builders import id_of, make_article

EVIL = id_of("domain evil.example")


async def tag(api: Running, key: dict[str, str], *add: str, remove: tuple[str, ...] = (), path: str = "") -> Any:
    """The answer to tags that are added and removed."""
    return await api.post(f"{path or f'/iocs/{EVIL}'}/tags", {"add": list(add), "remove": list(remove)}, key)


@pytest.mark.promise("tags.who")
async def test_a_submitter_tags_indicators_and_articles_and_the_audit_log_says_so(api: Running) -> None:
    await api.publish("one", Sighting("domain", "evil.example", "It called evil.example.", ("Emotet",)))
    key = await api.key()
    answer = await tag(api, key, " C2 ", "campaign:kestrel")
    assert (answer.status_code, answer.json()) == (200, {"tags": ["c2", "campaign:kestrel"]})
    assert (await tag(api, key, "seen=1", remove=("C2",))).json() == {"tags": ["campaign:kestrel", "seen=1"]}
    article = make_article("one").id
    assert (await tag(api, key, "report", path=f"/articles/{article}")).json() == {"tags": ["report"]}
    (item,) = await api.items("/iocs", type="domain")
    assert item["tags"] == ["campaign:kestrel", "seen=1"]
    assert (await api.get(f"/articles/{article}")).json()["tags"] == ["report"]
    noted: list[AuditEntry] = [*(await api.store.audit.newest(10))]
    told = [(entry.action, entry.target, entry.detail) for entry in noted if entry.action.endswith(".tagged")]
    assert sorted(told) == [
        ("article.tagged", article, "+report"),
        ("ioc.tagged", EVIL, "+c2 +campaign:kestrel"),
        ("ioc.tagged", EVIL, "+seen=1 -c2"),
    ]


@pytest.mark.promise("tags.who")
async def test_readers_and_strangers_do_not_tag(api: Running) -> None:
    await api.publish("one", "domain evil.example")
    key, stored = await api.key(), api.store.accounts
    account = await stored.get(account_id("analyst@example.org"))
    assert account is not None
    await stored.update(replace(account, role="reader"))
    for given, status in ((None, 401), (key, 403)):
        answer = await api.post(f"/iocs/{EVIL}/tags", {"add": ["c2"]}, given)
        assert answer.status_code == status
    (item,) = await api.items("/iocs")
    assert item["tags"] == []


@each("wrong", ["", "two words", "tlp:red", "TLP:CLEAR", "<b>", 'a="b"', "-x", "x" * 65, "a,b", "a\u202eb"])
async def test_what_is_no_tag_is_refused(api: Running, key: dict[str, str], wrong: str) -> None:
    await api.publish("one", "domain evil.example")
    answer = await tag(api, key, wrong)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_parameter")
    (item,) = await api.items("/iocs")
    assert item["tags"] == []


async def test_more_than_twenty_tags_and_unknown_records_are_refused(api: Running) -> None:
    await api.publish("one", "domain evil.example")
    key = await api.key()
    assert (await tag(api, key, *(f"t{n}" for n in range(20)))).status_code == 200
    assert (await tag(api, key, "one-more")).status_code == 422
    assert (await tag(api, key, "x", path=f"/iocs/{id_of('domain unknown.example')}")).status_code == 404
    assert (await tag(api, key, "x", path=f"/articles/{id_of('domain unknown.example')}")).status_code == 404


@pytest.mark.promise("tags.found")
async def test_a_tag_filters_lists_and_stands_in_exports(api: Running) -> None:
    await api.publish("one", "domain evil.example", "domain other.example")
    key = await api.key()
    await tag(api, key, "c2", "äpfel")
    await tag(api, key, "report", path=f"/articles/{make_article('one').id}")
    for path, asked in (
        ("/iocs", {"tag": "C2"}),
        ("/iocs", {"q": "evil", "tag": "c2"}),
        ("/iocs", {"tag": ["nothing", "äpfel"]}),
        ("/changes", {"tag": "c2"}),
    ):
        items = await api.items(path, key, **asked)
        assert [item.get("ioc", item)["value"] for item in items] == ["evil.example"], path
    assert (await api.get("/iocs", key, tag="two words")).status_code == 422
    assert (await api.get("/iocs", key, tag="nothing")).json()["query"]["tags"] == ["nothing"]
    assert [one["tags"] for one in await api.items("/articles", tag="report")] == [["report"]]
    assert await api.items("/articles", tag="c2") == []
    lines = (await api.get("/export", key, format="ndjson", tag="c2")).text.splitlines()
    assert [json.loads(line)["tags"] for line in lines] == [["c2", "äpfel"]]
    bundle = (await api.get("/iocs", key, tag="c2", format="stix")).json()
    assert [made["labels"] for made in bundle["objects"] if made["type"] == "indicator"] == [["c2", "äpfel"]]
    article = (await api.get(f"/articles/{make_article('one').id}", key, format="stix")).json()
    assert [made["labels"] for made in article["objects"] if made["type"] == "report"] == [["report"]]
    event = (await api.get(f"/articles/{make_article('one').id}", key, format="misp")).json()["Event"]
    assert {"name": "report"} in event["Tag"]
    (tagged,) = [one for one in event["Attribute"] if one["value"] == "evil.example"]
    assert tagged["Tag"] == [{"name": "c2"}, {"name": "äpfel"}]


@pytest.mark.promise("tags.exported")
async def test_another_tag_makes_an_articles_report_and_event_later_ones_and_its_indicators_not(api: Running) -> None:
    article = await api.publish("one", "domain evil.example")
    key = await api.key()

    async def versions() -> tuple[str, str, int]:
        objects = (await api.get(f"/articles/{article.id}", key, format="stix")).json()["objects"]
        report, indicator = (next(one for one in objects if one["type"] == kind) for kind in ("report", "indicator"))
        event = (await api.get(f"/articles/{article.id}", key, format="misp")).json()["Event"]
        manifest = (await api.client.get("/misp/manifest.json", headers=key)).json()
        assert manifest[article.id]["timestamp"] == event["timestamp"]
        return report["modified"], indicator["modified"], int(event["timestamp"])

    async def taxii(**asked: str) -> list[str]:
        path, accept = "/taxii2/api/collections/domain/objects/", {"Accept": "application/taxii+json;version=2.1"}
        answer = await api.client.get(path, params=asked, headers=key | accept)
        return [one["modified"] for one in answer.json().get("objects", []) if one["type"] == "indicator"]

    before, told = await versions(), await taxii()
    api.clock.forward(90 * 86_400)
    await tag(api, key, "report", path=f"/articles/{article.id}")
    tagged = await versions()
    assert tagged[0] > before[0] and tagged[1] == before[1] == told[0] and tagged[2] > before[2]
    await tag(api, key, remove=("report",), path=f"/articles/{article.id}")
    assert (await versions())[0] > tagged[0]
    assert await taxii() == told
    # A tag of the indicator is a new version of it, which those who follow a collection are given.
    await tag(api, key, "c2")
    (newest,) = await taxii(added_after=told[0])
    assert newest > told[0] and await taxii(**{"match[version]": newest}) == [newest]
    assert await taxii(**{"match[version]": told[0]}) == []
