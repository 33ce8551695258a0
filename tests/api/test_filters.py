"""Filters, order and choice of members on `/iocs`, `/iocs.atom` and `/changes`."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ingest.warned import keep_marked, marked
from intel.confidence import RULES
from intel.records import Sighting
from tests.api.running import Running
from tests.cases import each
from tests.contract.store.builders import make_article, seen
from tests.intel.catalogues.importing import put, warning_file

BAD = (
    ("type", "type=ip&type=hostname"),
    ("status", "status=old"),
    ("exclude", "exclude=warned,old"),
    ("sort", "sort=value"),
    ("fields", "fields=type,secret"),
    ("min_sources", "min_sources=0"),
    ("min_sources", "min_sources=two"),
    ("malware", "malware=%00"),
    ("added_since", "added_since=soon"),
    ("source", "&".join(f"source=s{number}" for number in range(51))),
)


async def take_in(api: Running, name: str, *indicators: str) -> None:
    """Saves an article as taking it in does: with what stands on warning lists marked."""
    article = make_article(name)
    await api.store.articles.save(article, await marked(api.store, seen(*indicators)), [article.url or ""])


@pytest.mark.promise("filters.warned")
async def test_what_stands_on_a_warning_list_is_left_out_when_asked(api: Running) -> None:
    await take_in(api, "one", "domain github.com", "domain evil.test", "ip 8.8.8.8", "ip 185.220.101.4")
    await keep_marked(api.store)
    records = {one["value"]: one for one in await api.items("/iocs")}
    warned = {value for value, one in records.items() if one["warnings"]}
    assert {"github.com", "8.8.8.8"} <= warned < set(records)
    assert set(await api.values(exclude="warned")) == set(records) - warned
    answer = (await api.get("/iocs", exclude="warned", facets=True)).json()
    assert answer["total"] == len(records) - len(warned) == sum(answer["facets"]["types"].values())

    house = warning_file("House", "hostname", "evil.test")
    await put(api.store, "warninglist", api.clock(), house)
    await keep_marked(api.store)
    assert set(await api.values(exclude="warned")) == set(records) - warned - {"evil.test"}
    await take_in(api, "two", "domain www.evil.test")
    assert "www.evil.test" not in await api.values(exclude="warned")


@pytest.mark.promise("iocs.warnings")
async def test_marks_change_no_answer(api: Running) -> None:
    await take_in(api, "one", "domain github.com", "domain evil.test", "ip 8.8.8.8", "ip 185.220.101.4")
    house = warning_file("House", "hostname", "evil.test")
    await put(api.store, "warninglist", api.clock(), house)
    answers = []
    for basis in ("", None):
        await (keep_marked(api.store) if basis is None else api.store.marks.settle(basis))
        listed, found = await api.items("/iocs"), await api.items("/iocs", q="evil.test")
        answers.append((listed, found))
    assert answers[0] == answers[1]
    assert {one["value"] for one in answers[0][0] if one["warnings"]} >= {"github.com", "8.8.8.8", "evil.test"}


@pytest.mark.promise("filters.refused")
@each(("field", "asked"), BAD)
async def test_what_a_filter_cannot_understand_is_a_problem(api: Running, field: str, asked: str) -> None:
    answer = await api.client.get(f"/api/v1/iocs?{asked}")
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_parameter")
    assert answer.json()["errors"][0]["field"].partition(".")[0] == field


@pytest.mark.promise("filters.fields")
async def test_fields_answers_these_members_alone_on_every_page(api: Running) -> None:
    await api.publish("one", "domain a.test", "domain b.test")
    key = await api.key()
    first = (await api.get("/iocs", key, fields="value,type", limit=1, exclude="expired", status="active")).json()
    second = (await api.get("/iocs", key, cursor=first["next_cursor"])).json()
    assert [sorted(one) for one in first["items"] + second["items"]] == [["type", "value"]] * 2
    assert (second["query"]["exclude"], second["query"]["status"]) == (["expired"], ["active"])
    assert second["query"]["fields"] == ["value", "type"]


async def test_statuses_need_no_type_and_are_told_from_the_first_page_on(api: Running) -> None:
    await api.publish("one", "ip 198.51.100.7", "domain a.test", "cve CVE-2024-3400")
    api.clock.now += timedelta(days=80)
    key = await api.key()
    first = (await api.get("/iocs", key, exclude="expired", limit=1)).json()
    assert first["total"] == 3
    api.clock.now += timedelta(days=15)
    rest = (await api.get("/iocs", key, cursor=first["next_cursor"], limit=50)).json()
    assert len(first["items"] + rest["items"]) == 3
    assert sorted(await api.values(exclude="expired")) == ["CVE-2024-3400", "a.test"]
    assert await api.values(status="expired") == ["198.51.100.7"]


async def test_feeds_and_changes_take_the_filters(api: Running) -> None:
    await api.publish("one", Sighting("domain", "a.test", "", ("Emotet",)), "domain b.test")
    key = await api.key()
    feed = (await api.get("/iocs.atom", malware="emotet", q="test")).text
    assert "a[.]test" in feed and "b[.]test" not in feed
    changes = (await api.get("/changes", key, malware="emotet")).json()
    assert [one["ioc"]["value"] for one in changes["items"]] == ["a.test"]


@pytest.mark.promise("records.confidence")
async def test_confidence_is_the_sum_of_the_rules_that_it_names(api: Running) -> None:
    await api.publish("one", Sighting("domain", "kestrel-cdn.net", "", ("Emotet",)), "domain github.com", source="A")
    await api.publish("two", "domain kestrel-cdn.net", source="B")
    for one in await api.items("/iocs"):
        shown = (await api.get(f"/iocs/{one['id']}")).json()
        points = sum(rule["points"] for rule in shown["confidence_of"])
        assert one["confidence"] == shown["confidence"] == max(0, min(100, points))
    known = {one["value"]: one["confidence"] for one in await api.items("/iocs")}
    assert known == {"kestrel-cdn.net": 80, "github.com": 10}
    assert sum(rule.points for rule in RULES if rule.points > 0 and rule.id != "ageing") == 100
