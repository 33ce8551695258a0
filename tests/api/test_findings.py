"""What an answer says beside its items: how it was read and matched, what else was meant, what was searched."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ingest.catalogues import import_catalogue, locate
from ingest.fetch import FetchAllow
from intel.records import Sighting
from tests.api.running import Running


async def stock(api: Running) -> None:
    beside = Sighting("domain", "evil.test", "Emotet called evil.test.", ("Emotet",))
    await api.publish("one", beside, "url https://a.evil.test/x", source="Kestrel Weekly", title="Harbour thieves")
    await api.publish("two", "ip 198.51.100.7", "malware Emotet", source="Agency", title="Scans", at=24 * 7)


@pytest.mark.promise("iocs.match")
async def test_each_hit_says_how_it_matched(api: Running) -> None:
    await stock(api)

    async def matches(q: str) -> list[tuple[str, str]]:
        return [(item["match"]["how"], item["match"]["on"]) for item in await api.items("/iocs", q=q)]

    assert await matches("evil[.]test") == [("exact", "evil.test"), ("subdomain", "evil.test")]
    assert await matches("198.51.100.0/24") == [("network", "198.51.100.0/24")]
    assert await matches("geodo") == [("exact", "Emotet"), ("malware", "Emotet")]
    assert ("title", "Harbour thieves") in await matches("harbour")
    assert ("source", "Kestrel Weekly") in await matches("kestrel")
    assert [item.get("match") for item in await api.items("/iocs")] == [None] * 4


@pytest.mark.promise("iocs.query-reading")
async def test_the_answer_says_how_the_search_was_read(api: Running) -> None:
    read = (await api.get("/iocs", q='evil[.]test "harbour thieves" kest* scans 198.51.100.9/24')).json()["query"]
    assert read["refanged"] == 'evil.test "harbour thieves" kest* scans 198.51.100.9/24'
    assert read["names"] == [{"type": "domain", "value": "evil.test"}]
    parts = (read["words"], read["phrases"], read["prefixes"], read["networks"])
    assert parts == (["scans"], ["harbour thieves"], ["kest"], ["198.51.100.0/24"])
    alone = (await api.get("/iocs", q="hxxp://evil[.]test/a")).json()["query"]
    assert alone["reads_as"] == [{"type": "url", "value": "http://evil.test/a"}]
    assert alone["sentence"] == "Searching URL hxxp://evil[.]test/a."


@pytest.mark.promise("iocs.facets")
async def test_facets_count_all_that_match_whatever_the_limit(api: Running) -> None:
    await stock(api)
    key = await api.key()
    assert (await api.get("/iocs")).json()["facets"] is None
    first = (await api.get("/iocs", key, facets="true", limit=1)).json()
    assert first["facets"] == {
        "types": {"domain": 1, "ip": 1, "malware": 1, "url": 1},
        "sources": {"Agency": 2, "Kestrel Weekly": 2},
        "weeks": {"2026-W48": 2, "2026-W47": 2},
    }
    assert sum(first["facets"]["types"].values()) == first["total"]
    second = (await api.get("/iocs", key, facets="true", cursor=first["next_cursor"])).json()
    assert second["facets"] is None
    searched = (await api.get("/iocs", q="evil.test", type="url", facets="1")).json()
    assert searched["facets"] == {"types": {"url": 1}, "sources": {"Kestrel Weekly": 1}, "weeks": {"2026-W47": 1}}
    nothing = (await api.get("/iocs", q="absent", facets="true")).json()
    assert nothing["facets"] == {"types": {}, "sources": {}, "weeks": {}}
    assert (await api.get("/iocs", facets="perhaps")).status_code == 422


@pytest.mark.promise("iocs.suggestions")
async def test_a_misspelt_search_suggests_what_was_meant(api: Running) -> None:
    await stock(api)

    async def suggested(path: str = "/iocs", **asked: Any) -> list[str]:
        found: list[str] = (await api.get(path, **asked)).json()["suggestions"]
        return found

    assert await suggested(q="emotett") == ["Emotet"]
    assert await suggested(q="kestral theives") == ["kestrel thieves"]
    assert await suggested(q="emotet") == await suggested(q="evil.tset") == await suggested() == []
    assert await suggested("/articles", q="harbuor") == ["harbour"]
    assert await suggested(q="harbour", type="cve") == await suggested("/articles", q="scans", source="None") == []


@pytest.mark.promise("iocs.suggestions")
async def test_what_finds_something_is_suggested_first(api: Running) -> None:
    await api.publish("one", "malware Sockbot")
    assert (await api.get("/iocs", q="qockbot")).json()["suggestions"][0] == "Sockbot"


@pytest.mark.promise("iocs.searched")
async def test_what_found_nothing_says_what_was_searched(api: Running) -> None:
    await stock(api)
    expected = {"articles": 2, "sources": 2, "newest_article": "2026-11-23T09:00:00Z"}
    assert (await api.get("/iocs", value="good.example")).json()["searched"] == expected
    assert (await api.get("/iocs", q="good.example")).json()["searched"] == expected
    assert (await api.get("/articles", q="good.example")).json()["searched"] == expected
    assert (await api.get("/iocs", q="evil.test")).json()["searched"] is None
    looked_up = (await api.post("/iocs/lookup", {"values": ["good.example"]}, await api.key())).json()
    assert looked_up["searched"] == expected
    assert "safe" not in str(looked_up) and "harmless" not in str(looked_up)


async def test_an_empty_store_says_that_it_searched_nothing(api: Running) -> None:
    searched = (await api.get("/iocs", q="good.example")).json()["searched"]
    assert searched == {"articles": 0, "sources": 0, "newest_article": None}


@pytest.mark.promise("articles.snippets")
async def test_an_article_search_shows_where_it_was_met(api: Running) -> None:
    text = "Nothing here. " * 60 + "Then the LOADER asked evil[.]test for <b>orders</b>. " + "More. " * 60
    await api.publish("one", title="A new loader", text=text, summary="On loaders.", source="Loader Daily")
    (item,) = await api.items("/articles", q="loader evil.test")
    met = {one["field"]: [one["text"][start:end] for start, end in one["highlights"]] for one in item["snippets"]}
    assert met == {"title": ["loader"], "text": ["LOADER", "evil[.]test"], "source_name": ["Loader"]}
    (snippet,) = (one["text"] for one in item["snippets"] if one["field"] == "text")
    assert snippet in text and len(snippet) <= 280 and "<b>orders</b>" in snippet
    (listed,) = await api.items("/articles")
    assert listed["snippets"] == []


@pytest.mark.promise("iocs.warnings")
async def test_warnings_annotate_and_drop_nothing(api: Running) -> None:
    await api.publish("one", "ip 8.8.8.8", "domain docs.google.com", "domain evil.test")
    items = {item["value"]: [one["list"] for one in item["warnings"]] for item in await api.items("/iocs")}
    assert "public resolvers" in items["8.8.8.8"]
    assert "top sites" in items["docs.google.com"]
    assert set(items) == {"8.8.8.8", "docs.google.com", "evil.test"}
    assert all(one["reason"] for item in await api.items("/iocs") for one in item["warnings"])


@pytest.mark.promise("iocs.warnings")
async def test_imported_lists_annotate_too(api: Running, tmp_path: Path) -> None:
    await api.publish("one", "domain mail.relay.test", "url https://relay.test/x", "domain evil.test")
    published = {
        "name": "House relays",
        "description": "Mail relays of the house.",
        "version": 3,
        "type": "hostname",
        "matching_attributes": ["domain", "hostname", "url"],
        "list": ["relay.test"],
    }
    (tmp_path / "list.json").write_text(json.dumps(published))
    located = await locate(str(tmp_path / "list.json"), FetchAllow.parse(""))
    await import_catalogue(api.store, "warninglist", located, api.clock(), lambda _: None)
    warned = {
        item["value"]: [one["reason"] for one in item["warnings"] if one["list"] == "House relays"]
        for item in await api.items("/iocs")
    }
    assert {value: len(reasons) for value, reasons in warned.items()} == {
        "mail.relay.test": 1,
        "https://relay.test/x": 1,
        "evil.test": 0,
    }
    assert "Mail relays of the house." in warned["mail.relay.test"][0]


@pytest.mark.promise("iocs.status")
async def test_a_record_says_how_old_its_news_is(api: Running) -> None:
    await api.publish("one", "ip 198.51.100.7", "domain evil.test", "cve CVE-2024-3400")

    async def stands() -> dict[str, tuple[str, str | None]]:
        items = await api.items("/iocs")
        return {item["type"]: (item["status"], item["expires_at"]) for item in items}

    expiring = "2027-02-14T09:00:00Z"
    assert (await stands())["ip"] == ("active", expiring)
    api.clock.now += timedelta(days=40)
    assert {type: status for type, (status, _) in (await stands()).items()} == {
        "ip": "ageing",
        "domain": "active",
        "cve": "active",
    }
    api.clock.now += timedelta(days=400)
    assert await stands() == {
        "ip": ("expired", expiring),
        "domain": ("expired", "2027-11-16T09:00:00Z"),
        "cve": ("active", None),
    }


@pytest.mark.promise("iocs.status")
async def test_a_status_narrows_a_type_also_from_page_to_page(api: Running) -> None:
    for n in range(4):
        await api.publish(f"n{n}", f"ip 198.51.100.{n}", f"cve CVE-2024-100{n}", at=24 * 20 * n)
    api.clock.now += timedelta(days=60)
    key = await api.key()

    async def of(status: str, **asked: Any) -> list[str]:
        return await api.values(key, status=status, **{"type": "ip", **asked})

    ages = {status: await of(status) for status in ("active", "ageing", "expired")}
    assert ages == {
        "active": ["198.51.100.3", "198.51.100.2"],
        "ageing": ["198.51.100.1", "198.51.100.0"],
        "expired": [],
    }
    for item in await api.items("/iocs", key, type="ip"):
        assert item["value"] in ages[item["status"]]
    assert await of("active", until="2027-01-10") == ["198.51.100.2"]
    assert await of("active", q="198.51.100.3") == ["198.51.100.3"]
    assert (len(await of("active", type="cve")), await of("ageing", type="cve")) == (4, [])
    first = (await api.get("/iocs", key, type="ip", status="ageing", limit=1)).json()
    api.clock.forward(3600)
    second = (await api.get("/iocs", key, status="ageing", cursor=first["next_cursor"])).json()
    assert [item["value"] for item in first["items"] + second["items"]] == ages["ageing"]


async def test_an_unknown_status_is_refused(api: Running) -> None:
    answer = await api.client.get("/api/v1/iocs?status=old&type=ip")
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "status")


@pytest.mark.promise("articles.snippets", "search.defanged")
async def test_an_article_is_found_by_a_url_however_it_is_defanged_there(api: Running) -> None:
    await api.publish("one", title="One", text="It loads hxxps://evil[.]test/gate.php?id=7 at once.")
    await api.publish("two", title="Two", text="Only evil[.]test and other.test/gate.php stand here.")
    for q in ("https://evil.test/gate.php", "hxxps[:]//evil[.]test/gate.php", "evil.test/gate.php"):
        (item,) = await api.items("/articles", q=q)
        (snippet,) = item["snippets"]
        assert (item["title"], [snippet["text"][a:b] for a, b in snippet["highlights"]]) == (
            "One",
            ["evil[.]test/gate.php"],
        ), q
