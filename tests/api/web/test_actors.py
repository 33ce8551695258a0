"""Threat actors and campaigns: from ATT&CK, from the well-known ones, and from how texts write them."""

from __future__ import annotations

import json

from intel.catalogues.actors import actor_names
from tests.api.running import Running
from tests.api.web.reading import Reader
from tests.contract.store.builders import hour
from tests.intel.catalogues.importing import put

_ID = {"source_name": "mitre-attack"}


def bundle() -> bytes:
    objects = [
        {"type": "attack-pattern", "id": "attack-pattern--1", "name": "Phishing", "external_references": [
            {**_ID, "external_id": "T1566"}]},
        {"type": "malware", "id": "malware--1", "name": "BADFLICK", "external_references": [
            {**_ID, "external_id": "S0642"}]},
        {"type": "intrusion-set", "id": "intrusion-set--1", "name": "Gale Crew", "aliases": ["Gale Crew", "UNC9001"],
         "description": "[Gale Crew](https://x.example/G9) is <b>busy</b>.(Citation: Some Report)",
         "external_references": [{**_ID, "external_id": "G9001"}]},
        {"type": "relationship", "relationship_type": "uses", "source_ref": "intrusion-set--1",
         "target_ref": "malware--1"},
        {"type": "relationship", "relationship_type": "uses", "source_ref": "intrusion-set--1",
         "target_ref": "attack-pattern--1"},
        {"type": "campaign", "id": "campaign--1", "name": "Operation Ebb",
         "aliases": ["Operation Ebb", "OPERATION EBB"],
         "description": "It was long. " * 90, "first_seen": "2019-08-01T05:00:00.000Z",
         "last_seen": "2021-01-01T06:00:00.000Z", "external_references": [{**_ID, "external_id": "C9001"}]},
        {"type": "relationship", "relationship_type": "attributed-to", "source_ref": "campaign--1",
         "target_ref": "intrusion-set--1"},
        {"type": "intrusion-set", "id": "intrusion-set--2", "name": "Gone", "revoked": True, "external_references": [
            {**_ID, "external_id": "G9002"}]},
    ]  # fmt: skip
    return json.dumps({"type": "bundle", "objects": objects}).encode()


async def test_an_actor_of_attack_has_a_page_with_all_that_is_named_with_it(api: Running, visitor: Reader) -> None:
    await put(api.store, "attack", hour(0), bundle())
    one = await api.publish(
        "one", "domain gale.example", "cve CVE-2024-3400", text="The Gale Crew used gale[.]example."
    )
    await api.publish("two", "domain gale.example", text="What UNC9001 did next.", title="Second")
    await api.publish("three", "domain other.example", text="A gale hit the crew.", title="Weather")
    article = await visitor.open(f"/articles/{one.id}")
    page = await visitor.open(article.links("//div[@class='words']")["Gale Crew"])
    assert page.path == "/actor/Gale%20Crew"
    assert "Gale Crew is <b>busy</b>." in page.text and "Citation" not in page.text and "UNC9001" in page.text
    links = page.links()
    assert {"gale[.]example", "CVE-2024-3400", "T1566", "BADFLICK", "Second"} <= links.keys()
    assert "Weather" not in links and "other[.]example" not in links
    assert (await visitor.open("/actor/unc9001")).path == "/actor/Gale%20Crew"
    assert (await visitor.open("/search?q=unc9001")).links()["Gale Crew"] == "/actor/Gale%20Crew"
    exported = (await visitor.open(links["Plain list"])).answer.text
    assert "gale.example\n" in exported and "other.example" not in exported
    graph = await visitor.open(links["Relation graph"])
    assert "gale[.]example" in graph.links()


async def test_a_campaign_and_its_group_lead_to_each_other(api: Running, visitor: Reader) -> None:
    await put(api.store, "attack", hour(0), bundle())
    await api.publish("one", "mitre_attack T1566", text="Mail of no known crew.")
    campaign = await visitor.open("/actor/Operation%20Ebb")
    assert "active 2019-08 to 2021-01" in campaign.text and "It was long. …" in campaign.text
    assert "Also called" not in campaign.text
    assert "Articles" not in campaign.links("//div[@class='actions']")
    group = await visitor.open(campaign.links()["Gale Crew"])
    assert group.links()["Operation Ebb"] == campaign.path
    assert "Techniques that ATT&CK lists: 1, 1 of them in articles" in group.text
    assert "Software that ATT&CK lists: 1, 0 of them in articles" in group.text


async def test_names_are_found_without_any_catalogue(api: Running, visitor: Reader) -> None:
    text = "Fancy Bear, APT 40 and UNC1151 (Operation Grey Gale), not FIN7-like ta505.com, TA0001 or an operation."
    found = [name for *_, name in (await actor_names(api.store)).spans(text)]
    assert found == ["APT28", "APT40", "UNC1151", "Operation Grey Gale"]
    await api.publish("one", "domain gale.example", text=text)
    page = await visitor.open("/actor/Operation%20Grey%20Gale")
    assert page.heading == "Operation Grey Gale" and "Campaign" in page.text
    assert (await visitor.open("/actor/Nobody")).status == 404
    assert (await visitor.open("/actor/UNC7777")).status == 404


async def test_the_index_tells_who_is_in_recent_articles_and_all_known_names(api: Running, visitor: Reader) -> None:
    assert "No recent article names one" in (await visitor.open("/actors")).text
    await api.publish("one", title="APT 40 is back", source="First Blog", at=0)
    await api.publish("two", title="Leviathan Group and FIN7", source="Second Blog", at=24)
    page = await visitor.open("/actors")
    rows = [[" ".join(cell.text_content().split()) for cell in row] for row in page.tree.xpath("//tbody/tr")]
    assert [row[:3] for row in rows] == [["APT40", "2", "2"], ["FIN7", "1", "1"]]
    assert rows[0][4] == "Leviathan Group and FIN7" and page.links()["APT40"] is not None
    assert page.links()["APT28"].startswith("/articles?q=")
    await put(api.store, "attack", hour(0), bundle())
    known = [*(await visitor.open("/actors")).links("//ul[@class='names']").items()]
    assert ("Gale Crew", "/actor/Gale%20Crew") in known
    numbered = [name for name, _ in known if name.startswith("APT")]
    assert numbered.index("APT3") < numbered.index("APT28")
