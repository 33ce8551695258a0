"""`/focus` and `/catalogues`, and what catalogues say of an indicator."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ingest.wording import findings_of
from tests.api.running import Running
from tests.contract.store.builders import id_of, make_article, publish
from tests.intel.catalogues.importing import attack_file, epss_file, nvd_file, put, put_kev


async def write(api: Running, name: str, text: str, *cves: str, source: str = "Example Blog") -> None:
    """An article that says this of those CVEs."""
    article = replace(make_article(name, source=source, text=text), findings=findings_of(text, cves))
    await publish(api.store, article, *(f"cve {cve}" for cve in cves))


@pytest.mark.promise("focus.wording", "focus.article-cvss", "focus.rules")
async def test_what_an_article_says_decides_on_severity(api: Running) -> None:
    await write(api, "a", "CVE-2026-1001 (CVSS 9.8) is exploited in the wild.", "CVE-2026-1001")
    await write(api, "b", "CVE-2026-1002 is not known to be exploited in the wild.", "CVE-2026-1002")
    await write(api, "c", "A proof of concept for CVE-2026-1003 was published.", "CVE-2026-1003")
    await write(api, "d", "CVE-2026-1004 has been exploited in attacks.", "CVE-2026-1004")
    found = {item["key"]: (item["severity"], item["rule"]) for item in await api.items("/focus")}
    assert found == {
        "CVE-2026-1001": ("high", "H2"),
        "CVE-2026-1003": ("medium", "M2"),
        "CVE-2026-1004": ("medium", "M1"),
    }


@pytest.mark.promise("focus.severity", "focus.status")
async def test_several_severities_and_statuses_may_be_asked_for(api: Running) -> None:
    await put_kev(api.store, api.clock(), {"CVE-2026-1001": "2026-11-15", "CVE-2026-1002": "2020-01-01"})
    for n in (1, 2):
        await api.publish(f"a{n}", f"cve CVE-2026-100{n}")
    for source in ("One", "Two"):
        await api.publish(source, "cve CVE-2026-1003", source=source)
    asked = {"critical": 1, "critical,high": 2, "low, high": 2, "critical,high,medium,low": 3}
    assert {each: len(await api.items("/focus", severity=each)) for each in asked} == asked
    assert await api.items("/focus", status="stale,closed") == []
    api.clock.forward(20 * 86400)
    assert len(await api.items("/focus", status="stale,active")) == 3
    for name, asked_for in (("severity", "critical,"), ("severity", "a;b"), ("status", "gone")):
        refused = await api.client.get("/api/v1/focus", params={name: asked_for})
        assert refused.status_code == 422
        assert ("critical, high, medium, low" in refused.text) == (name == "severity")


@pytest.mark.promise("focus.explained")
async def test_one_item_tells_every_rule_that_was_tried(api: Running) -> None:
    for source in ("One", "Two", "Three"):
        await api.publish(source, "malware Cobalt Strike", source=source)
    (item,) = await api.items("/focus")
    answer = await api.get(f"/focus/{item['id']}")
    told = answer.json()
    assert told | {"rules": []} == item | {"rules": []}
    assert [rule["id"] for rule in told["rules"]][-1] == item["rule"] == "M4"
    assert [rule["matched"] for rule in told["rules"]] == [False] * (len(told["rules"]) - 1) + [True]
    assert (await api.get("/focus/f_cve_CVE-2000-0001")).status_code == 404


@pytest.mark.promise("catalogues.shown")
async def test_catalogues_are_listed_by_name(api: Running) -> None:
    assert await api.items("/catalogues") == []
    await put_kev(api.store, api.clock(), {"CVE-2026-1001": "2026-11-15"})
    await put(api.store, "epss", api.clock(), epss_file({"CVE-2026-1001": 0.5}))
    answer = (await api.get("/catalogues")).json()
    assert [item["name"] for item in answer["items"]] == ["epss", "kev"] and answer["total"] == 2
    assert answer["items"][1] == {
        "name": "kev",
        "as_of": "2026-11-19T17:04:19.979Z",
        "imported_at": "2026-11-20T12:00:00Z",
        "source": "file.json",
        "entries": 1,
    }
    assert (await api.get("/catalogues", cursor="x")).status_code == 401
    first = (await api.get("/catalogues", await api.key(), limit=1)).json()
    second = (await api.get("/catalogues", await api.key(), cursor=first["next_cursor"])).json()
    assert [item["name"] for item in (*first["items"], *second["items"])] == ["epss", "kev"]


@pytest.mark.promise("catalogues.facts")
async def test_an_indicator_tells_what_catalogues_say_of_it(api: Running) -> None:
    await api.publish("a", "cve CVE-2026-1001", "mitre_attack T1190", "domain evil.example")
    await put_kev(api.store, api.clock(), {"CVE-2026-1001": "2026-11-15"}, ransomware="Known")
    await put(api.store, "cvss", api.clock(), nvd_file({"CVE-2026-1001": 9.8}))
    await put(api.store, "attack", api.clock(), attack_file({"id": "T1190", "name": "Exploit It"}))
    cve = (await api.get(f"/iocs/{id_of('cve CVE-2026-1001')}")).json()["catalogue"]
    assert (cve["kev"]["date_added"], cve["kev"]["ransomware"], cve["epss"]) == ("2026-11-15", True, None)
    assert (cve["cvss"]["score"], cve["cvss"]["source"]) == (9.8, "nvd@nist.example")
    technique = (await api.get(f"/iocs/{id_of('mitre_attack T1190')}")).json()["catalogue"]
    assert technique["attack"]["name"] == "Exploit It"
    assert (await api.get(f"/iocs/{id_of('domain evil.example')}")).json()["catalogue"] is None
