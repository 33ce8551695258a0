"""How far an article may be passed on: in records, filters, exports and on pages."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
import stix2

from intel.tlp import Tlp
from tests.api.running import Running
from tests.contract.store.builders import make_article, publish

CLEAR = "marking-definition--94868c89-83c2-464b-929b-a1a8aa3c8487"
GREEN = "marking-definition--bab4a63c-aed9-4cf5-a766-dfca5abac2bb"
AMBER = "marking-definition--55d920b0-5e8b-4f79-9ee9-91f868d9b421"


async def marked(api: Running, name: str, tlp: Tlp | None, *indicators: str) -> str:
    """The id of an article that is stored with a TLP."""
    return (await publish(api.store, replace(make_article(name, title=name), tlp=tlp), *indicators)).id


@pytest.mark.promise("tlp.found")
async def test_records_say_their_tlp_and_are_found_by_it(api: Running) -> None:
    key = await api.key()
    await marked(api, "one", "amber", "domain evil.example", "ip 192.0.2.1")
    await marked(api, "two", None, "domain evil.example", "domain other.example")
    shown = {one["value"]: one.get("tlp", "absent") for one in await api.items("/iocs", key)}
    assert shown == {"evil.example": "amber", "192.0.2.1": "amber", "other.example": "absent"}
    articles = {one["title"]: one.get("tlp", "absent") for one in await api.items("/articles", key)}
    assert articles == {"one": "amber", "two": "absent"}
    assert [one["title"] for one in await api.items("/articles", key, tlp="AMBER")] == ["one"]
    for path in ("/iocs", "/changes"):
        items = await api.items(path, key, tlp="tlp:amber", type="domain")
        assert [item.get("ioc", item)["value"] for item in items] == ["evil.example"], path
    assert await api.items("/iocs", key, tlp="green") == []
    for asked, entries in ((("tlp", "amber"), 1), (("tag", "campaign"), 0), (("source", "none"), 0)):
        feed = (await api.get("/articles.atom", None, **dict([asked]))).text
        assert (feed.count("<entry>"), f"Articles: {' '.join(asked)}" in feed) == (entries, True), asked
    assert (await api.get("/articles.atom", None, tlp="red")).status_code == 422
    assert (await api.get("/iocs", key, tlp=["white", "green"])).json()["query"]["tlp"] == ["clear", "green"]
    answer = await api.get("/iocs", key, tlp="red")
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "tlp")


@pytest.mark.promise("tlp.exported")
async def test_exports_bear_the_tlp(api: Running) -> None:
    key = await api.key()
    id = await marked(api, "one", "amber", "domain evil.example", "cve CVE-2024-3400")
    await marked(api, "two", "green", "domain other.example")
    await marked(api, "three", None, "domain third.example")
    rows = (await api.get("/export", key, format="csv")).text.splitlines()
    assert rows[0].endswith(",tlp")
    assert {row.split(",")[1]: row.rsplit(",", 1)[1] for row in rows[1:] if row.startswith("domain")} == {
        "evil.example": "amber", "other.example": "green", "third.example": ""
    }  # fmt: skip
    text = (await api.get("/export", key, format="stix")).text
    made: dict[str, Any] = {one.get("name"): one for one in stix2.parse(text, version="2.1").objects}
    refs = {name: made[name].object_marking_refs for name in made if name and "example" in name}
    assert refs == {"evil.example": [AMBER], "other.example": [GREEN], "third.example": [CLEAR]}
    assert made["CVE-2024-3400"].object_marking_refs == [CLEAR]
    assert {made[name].id for name in ("TLP:CLEAR", "TLP:GREEN", "TLP:AMBER")} == {CLEAR, GREEN, AMBER}
    bundle = (await api.get(f"/articles/{id}", key, format="stix")).json()
    assert [one["object_marking_refs"] for one in bundle["objects"] if one["type"] == "report"] == [[AMBER]]
    event = (await api.get(f"/articles/{id}", key, format="misp")).json()["Event"]
    assert event["Tag"][0] == {"name": "tlp:amber"}
    assert event["Attribute"][0]["Tag"] == [{"name": "tlp:amber"}]
    every = (await api.get("/export", key, format="misp")).json()["Event"]
    assert [tag["name"] for tag in every["Tag"] if tag["name"].startswith("tlp:")] == ["tlp:amber"]
    manifest = (await api.client.get("/misp/manifest.json", headers=key)).json()
    assert {entry["info"]: entry["Tag"][0]["name"] for entry in manifest.values()} == {
        "one": "tlp:amber", "two": "tlp:green", "three": "tlp:clear"
    }  # fmt: skip


@pytest.mark.promise("tlp.exported")
async def test_taxii_serves_every_marking_that_its_objects_point_at(api: Running) -> None:
    key = await api.key()
    await marked(api, "one", "amber", "domain evil.example")
    (all_,) = [
        one
        for one in (await api.client.get("/taxii2/api/collections/", headers=key)).json()["collections"]
        if one.get("alias") == "all"
    ]
    answer = await api.client.get(f"/taxii2/api/collections/{all_['id']}/objects/", headers=key)
    objects = json.loads(answer.text)["objects"]
    (evil,) = [one for one in objects if one["type"] == "indicator"]
    assert evil["object_marking_refs"] == [AMBER]
    assert {one["id"] for one in objects if one["type"] == "marking-definition"} == {CLEAR, GREEN, AMBER}


@pytest.mark.slow
@pytest.mark.promise("tlp.found")
async def test_pages_show_the_tlp_and_filter_by_it(api: Running) -> None:
    id = await marked(api, "one", "amber", "domain evil.example")
    await marked(api, "two", None, "domain other.example")
    for path, listed in (
        (f"/articles/{id}", "/articles"),
        ("/articles", "/articles"),
        ("/search", "/search"),
        ("/ioc/domain/evil.example", "/search"),
    ):
        page = (await api.client.get(path)).text
        assert f'<a class="tlp is-amber" href="{listed}?tlp=amber"' in page, path
    page = (await api.client.get("/search?tlp=amber")).text
    assert "evil[.]example" in page and "other[.]example" not in page
    page = (await api.client.get("/articles?tlp=amber")).text
    assert "1 article marked TLP:AMBER" in page


@pytest.mark.promise("tlp.said")
async def test_who_hands_a_file_in_says_how_far_it_may_be_passed_on(api: Running) -> None:
    async def hand_in(key: dict[str, str], text: str, tlp: str) -> dict[str, Any]:
        sent = {"file": ("a.txt", text.encode())}
        answer = await api.client.post("/api/v1/submit", headers=key, data={"tlp": tlp}, files=sent)
        for _ in range(600):
            if answer.status_code >= 400 or answer.json()["status"] in ("done", "failed"):
                break
            await asyncio.sleep(0.05)
            answer = await api.client.get(f"/api/v1/submissions/{answer.json()['id']}", headers=key)
        return dict(answer.json())

    key = await api.key()
    text = "Kestrel\n\nThe loader asked evil-kestrel[.]example for orders.\n"
    done = await hand_in(key, text, "green")
    path = f"/articles/{done['article_id']}"
    assert (await api.get(path)).json()["tlp"] == "green"
    # Of this and what the text says the stricter one counts.
    other = await hand_in(key, "TLP:AMBER\n\n" + text, "clear")
    assert (await api.get(f"/articles/{other['article_id']}")).json()["tlp"] == "amber"
    # A file that is known becomes stricter, and not less so.
    second, third = await api.key("second@example.org"), await api.key("third@example.org")
    for key, tlp in ((second, "amber"), (third, "clear")):
        assert (await hand_in(key, text, tlp))["article_id"] == done["article_id"]
        assert (await api.get(path)).json()["tlp"] == "amber"
    refused = await hand_in(key, text, "red")
    assert (refused["code"], refused["errors"][0]["field"]) == ("invalid_parameter", "tlp")
    assert "anybody may read" in refused["errors"][0]["message"]
    answer = await api.post("/submit", {"url": "https://news.example/x", "tlp": "amber+strict"}, key)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "tlp")


@pytest.mark.promise("tlp.said")
async def test_an_administrator_says_how_far_an_article_may_be_passed_on(api: Running) -> None:
    key = await api.key()
    other = await api.key("other@example.org")
    id = await marked(api, "one", "amber", "domain evil.example")

    async def put(tlp: Any, key: dict[str, str], id: str = id) -> int:
        return (await api.client.put(f"/api/v1/articles/{id}/tlp", json={"tlp": tlp}, headers=key)).status_code

    assert await put("clear", other) == 403
    assert await put("clear", {}) == 401
    assert await put("red", key) == 422
    assert await put("clear", key, make_article("none").id) == 404
    assert await put("TLP:WHITE", key) == 200
    assert [(one["value"], one["tlp"]) for one in await api.items("/iocs", key)] == [("evil.example", "clear")]
    assert await put(None, key) == 200
    assert "tlp" not in (await api.get(f"/articles/{id}")).json()
    noted = [(one.action, one.target, one.detail) for one in await api.store.audit.newest(9) if "marked" in one.action]
    assert sorted(noted) == [("article.marked", id, "amber -> clear"), ("article.marked", id, "clear -> none")]


@pytest.mark.promise("tlp.exported")
async def test_an_articles_report_is_a_later_one_where_its_indicators_have_another_tlp(api: Running) -> None:
    key = await api.key()
    id = await marked(api, "one", "amber", "domain evil.example")

    async def modified() -> str:
        objects = (await api.get(f"/articles/{id}", key, format="stix")).json()["objects"]
        return next(str(one["modified"]) for one in objects if one["type"] == "report")

    before = await modified()
    assert await modified() == before
    api.clock.forward(90 * 86_400)
    await api.client.put(f"/api/v1/articles/{id}/tlp", json={"tlp": "green"}, headers=key)
    assert await modified() > before
