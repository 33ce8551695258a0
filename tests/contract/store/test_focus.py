"""Focus and catalogues give the same on every engine."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from intel.catalogues import lookup, warnings_of
from intel.records import Sighting
from intel.store import Store
from tests.contract.store.builders import hour, make_article, publish, the_ioc
from tests.intel.catalogues.importing import epss_file, put, put_kev, warning_file
from tests.intel.focus.writing import focus_items


@pytest.mark.promise("focus.catalogues", "catalogues.facts", "warnings.imported")
async def test_focus_and_facts_come_from_any_store(store: Store) -> None:
    said = {"CVE-2024-0001": {"exploitation": "in_the_wild", "quote": "It is exploited.", "cvss": {"score": 9.8}}}
    near = Sighting("domain", "evil.example", "", ("Emotet",), 3)
    for source in ("One", "Two", "Three"):
        article = replace(make_article(source, source=source), findings=said)
        await publish(store, article, "cve CVE-2024-0001", "cve CVE-2024-0002", "malware Emotet", near)
    await put_kev(store, hour(100), {"CVE-2024-0002": "2024-01-01"})
    await put(store, "epss", hour(100), epss_file({f"CVE-2024-{n:04}": 0.25 for n in range(1, 3000)}))
    await put(store, "warninglist", hour(100), warning_file("Hosts", "hostname", "evil.example"))
    items = {item["key"]: item for item in await focus_items(store, hour(1))}
    assert {key: item["rule"] for key, item in items.items()} == {
        "CVE-2024-0001": "C2", "CVE-2024-0002": "H1", "Emotet": "H5",
    }  # fmt: skip
    assert items["CVE-2024-0001"]["evidence"]["exploitation"]["quote"] == "It is exploited."
    assert items["Emotet"]["related_iocs"] == [{"type": "domain", "value": "evil.example"}]
    assert len(await lookup(store, [f"CVE-2024-{n:04}" for n in range(1, 3000)])) == 2999
    ioc = await the_ioc(store, "domain evil.example")
    assert [warning.list for warning in (await warnings_of(store, [ioc]))[ioc.id]] == ["Hosts"]
    assert await focus_items(store, hour(1) + timedelta(days=60)) == []
