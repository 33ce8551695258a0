"""`PUT /catalogues/{name}`: administrators hand in what others publish."""

from __future__ import annotations

import gzip
from typing import Any

import pytest

from tests.api.running import Running
from tests.contract.store.builders import id_of
from tests.intel.catalogues.importing import epss_file, kev_file

KEV = kev_file({"CVE-2026-1001": "2026-11-15"})


async def put(
    api: Running, name: str, body: bytes, key: dict[str, str], kind: str = "application/json"
) -> tuple[int, Any]:
    answer = await api.client.put(f"/api/v1/catalogues/{name}", content=body, headers={**key, "Content-Type": kind})
    return answer.status_code, answer.json()


@pytest.mark.promise("catalogues.put")
async def test_an_administrator_puts_catalogues_and_they_speak_at_once(api: Running) -> None:
    key = await api.key()  # of the first account
    await api.publish("a", "cve CVE-2026-1001")
    status, told = await put(api, "kev", KEV, key)
    assert (status, told["name"], told["entries"], told["notes"]) == (200, "kev", 1, [])
    status, told = await put(api, "epss", gzip.compress(epss_file({"CVE-2026-1001": 0.5})), key, "application/gzip")
    assert (status, told["entries"]) == (200, 1)
    assert [each["name"] for each in await api.items("/catalogues")] == ["epss", "kev"]
    said = (await api.get(f"/iocs/{id_of('cve CVE-2026-1001')}")).json()["catalogue"]
    assert said["kev"]["date_added"] == "2026-11-15" and said["epss"]["score"] == 0.5
    audited = [(entry.action, entry.target) for entry in await api.store.audit.newest(10)]
    assert audited.count(("catalogue.imported", "kev")) == audited.count(("catalogue.imported", "epss")) == 1


@pytest.mark.promise("catalogues.put", "catalogues.damaged")
async def test_what_cannot_be_imported_says_why_and_changes_nothing(api: Running) -> None:
    key = await api.key()
    assert (await put(api, "kev", KEV, key))[0] == 200
    for body, kind in ((b"{}", "application/json"), (b"", "text/csv"), (gzip.compress(KEV)[:-9], "application/gzip")):
        status, told = await put(api, "kev", body, key, kind)
        assert (status, told["code"]) == (422, "unreadable_catalogue"), told
    assert (await put(api, "kev", KEV, key, "image/png"))[0] == 415
    assert (await put(api, "kev", b" " * 10_000_001, key))[0] == 413
    status, told = await put(api, "shopping", KEV, key)
    assert status == 404 and "kev, epss" in told["detail"]
    assert [each["entries"] for each in await api.items("/catalogues")] == [1]


@pytest.mark.promise("catalogues.put")
async def test_nobody_else_puts_one(api: Running) -> None:
    await api.key()
    assert (await put(api, "kev", KEV, {}))[0] == 401
    status, told = await put(api, "kev", KEV, await api.key("second@example.org"))
    assert (status, told["code"]) == (403, "forbidden")
    assert await api.items("/catalogues") == []
