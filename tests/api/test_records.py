"""One record by its id: indicators and articles."""

from __future__ import annotations

import uuid

import pytest

from intel.records import Sighting
from tests.api.running import Running
from tests.contract.store.builders import id_of

IOC_MEMBERS = {
    "id", "type", "value", "defanged", "first_seen", "last_seen", "sightings", "sources", "context", "malware", "tags",
    "warnings", "article", "status", "expires_at", "votes", "added_at", "changed_at",
    "confidence",
}  # fmt: skip
ARTICLE_MEMBERS = {
    "id", "url", "title", "source_name", "author", "published_at", "fetched_at", "language", "summary", "ioc_count",
    "ioc_counts",
}  # fmt: skip


@pytest.mark.promise("records.ioc-members", "records.defanged")
async def test_an_indicator_has_the_members_of_the_contract(api: Running) -> None:
    await api.publish("one", Sighting("domain", "evil.example", "It called evil.example.", ("Emotet",)))
    (item,) = await api.items("/iocs")
    assert set(item) == IOC_MEMBERS
    assert (item["type"], item["value"], item["defanged"]) == ("domain", "evil.example", "evil[.]example")
    assert (item["context"], item["malware"], item["tags"]) == ("It called evil.example.", ["Emotet"], [])
    assert set(item["article"]) == {"id", "title", "url", "source_name", "published_at"}


@pytest.mark.promise("records.id-uuid5")
async def test_an_id_is_a_uuid5_of_type_and_value(api: Running) -> None:
    await api.publish("one", "domain evil.example")
    (item,) = await api.items("/iocs")
    assert uuid.UUID(item["id"]).version == 5
    # Part of the contract: the same on every installation.
    assert item["id"] == str(uuid.uuid5(uuid.UUID("5f0c1b3e-6d0a-5b4e-9a53-2f7c4f1d8e60"), "ioc\ndomain\nevil.example"))


@pytest.mark.promise("records.one-per-value")
async def test_one_record_stands_for_a_value_in_however_many_articles(api: Running) -> None:
    for n in range(3):
        await api.publish(f"n{n}", "domain evil.example", at=n)
    (item,) = await api.items("/iocs")
    assert item["sightings"] == 3


@pytest.mark.promise("iocs.by-id")
async def test_one_indicator_shows_its_newest_articles_and_what_is_seen_beside_it(api: Running) -> None:
    for n in range(53):
        await api.publish(f"n{n}", "domain evil.example", "domain twin.example", at=n)
    await api.publish("other", "domain stranger.example", at=99)
    answer = (await api.get(f"/iocs/{id_of('domain evil.example')}")).json()
    assert set(answer) >= IOC_MEMBERS
    assert (len(answer["articles"]), answer["articles_total"]) == (50, 53)
    assert answer["articles"][0]["url"].endswith("/n52")
    assert [ioc["value"] for ioc in answer["related"]] == ["twin.example"]


@pytest.mark.promise("iocs.by-id")
async def test_at_most_fifty_related_indicators_are_shown(api: Running) -> None:
    await api.publish("one", "domain evil.example", *(f"domain d{n}.example" for n in range(80)))
    related = (await api.get(f"/iocs/{id_of('domain evil.example')}")).json()["related"]
    assert len(related) == 50
    assert "evil.example" not in [ioc["value"] for ioc in related]


@pytest.mark.promise("articles.list", "records.article-members")
async def test_articles_are_listed_newest_first_without_their_text(api: Running) -> None:
    await api.publish("old", "domain a.example", at=1)
    await api.publish("new", "domain a.example", "cve CVE-2024-3400", at=2)
    items = await api.items("/articles")
    assert [item["url"].rpartition("/")[2] for item in items] == ["new", "old"]
    assert set(items[0]) >= ARTICLE_MEMBERS
    assert not {"text", "iocs"} & set(items[0])
    assert (items[0]["ioc_count"], items[0]["ioc_counts"]) == (2, {"domain": 1, "cve": 1})


@pytest.mark.promise("articles.list")
async def test_articles_can_be_narrowed_to_a_source(api: Running) -> None:
    await api.publish("one", source="One")
    await api.publish("two", source="Two")
    assert [item["source_name"] for item in await api.items("/articles", source="Two")] == ["Two"]


@pytest.mark.promise("articles.by-id")
async def test_one_article_has_its_text_and_all_its_indicators_in_order(api: Running) -> None:
    values = [f"d{n}.example" for n in range(70)]
    article = await api.publish("one", *(f"domain {value}" for value in values), text="The whole text.")
    answer = (await api.get(f"/articles/{article.id}")).json()
    assert answer["text"] == "The whole text."
    assert [ioc["value"] for ioc in answer["iocs"]] == values
    assert set(answer["iocs"][0]) == IOC_MEMBERS
