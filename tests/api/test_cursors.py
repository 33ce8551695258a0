"""Paging on: a cursor stands for the whole query, and only for a key."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from tests.api.running import Running
from tests.cases import each
from tests.contract.store.builders import hour

PATHS = ("/iocs", "/articles", "/weekly", "/focus", "/awareness")


async def walk(api: Running, key: dict[str, str], path: str, **query: Any) -> list[dict[str, Any]]:
    """Every item of a list, page by page."""
    answer = (await api.get(path, key, **query)).json()
    items: list[dict[str, Any]] = list(answer["items"])
    while answer["next_cursor"] is not None:
        answer = (await api.get(path, key, cursor=answer["next_cursor"])).json()
        assert answer["total"] is None
        items += answer["items"]
    return items


@pytest.mark.promise("cursor.needs-key")
@each("path", PATHS)
async def test_paging_on_needs_a_key(api: Running, path: str) -> None:
    await api.publish("many", *(f"cve CVE-2024-{n}" for n in range(1000, 1030)))
    assert (await api.get(path)).json()["next_cursor"] is None
    refused = await api.get(path, cursor="anything")
    assert (refused.status_code, refused.json()["code"]) == (401, "missing_api_key")
    assert refused.headers["www-authenticate"] == "Bearer"


@pytest.mark.promise("cursor.walk-once", "lists.total-first-page-only")
async def test_a_walk_meets_everything_once(api: Running) -> None:
    key = await api.key()
    await api.publish("many", *(f"domain d{n}.example" for n in range(47)))
    items = await walk(api, key, "/iocs", limit=10)
    assert len(items) == 47
    assert len({item["id"] for item in items}) == 47


@pytest.mark.promise("cursor.walk-once")
async def test_what_comes_in_meanwhile_shifts_nothing(api: Running) -> None:
    key = await api.key()
    await api.publish("many", *(f"domain d{n}.example" for n in range(20)), at=0)
    first = (await api.get("/iocs", key, limit=8)).json()
    await api.publish("newer", *(f"domain n{n}.example" for n in range(5)), at=1)
    second = (await api.get("/iocs", key, cursor=first["next_cursor"])).json()
    third = (await api.get("/iocs", key, cursor=second["next_cursor"])).json()
    values = [item["value"] for page in (first, second, third) for item in page["items"]]
    assert sorted(values) == sorted(f"d{n}.example" for n in range(20))
    assert third["next_cursor"] is None


@pytest.mark.promise("cursor.whole-query")
async def test_a_cursor_stands_for_the_whole_query(api: Running) -> None:
    key = await api.key()
    await api.publish("a", *(f"domain a{n}.kestrel.example" for n in range(9)), at=0, source="One")
    await api.publish("b", *(f"url https://b{n}.kestrel.example/" for n in range(9)), at=1, source="Two")
    await api.publish("c", *(f"domain c{n}.other.example" for n in range(9)), at=2, source="One")
    asked = {"q": "kestrel", "type": "domain", "source": "One", "since": "2026-11-16", "limit": 4}
    first = (await api.get("/iocs", key, **asked)).json()
    assert first["total"] == 9
    alone = (await api.get("/iocs", key, cursor=first["next_cursor"])).json()
    assert len(alone["items"]) == 4
    assert alone["query"] == first["query"]
    contradicted = (await api.get("/iocs", key, cursor=first["next_cursor"], q="other", type="url")).json()
    assert contradicted == alone
    assert all("kestrel" in item["value"] for item in await walk(api, key, "/iocs", **asked))


@pytest.mark.promise("cursor.walk-once")
async def test_every_list_can_be_walked(api: Running) -> None:
    key = await api.key()
    for n in range(7):
        for source in ("One", "Two"):
            await api.publish(
                f"{source}{n}", f"cve CVE-2026-{1000 + n}", f"malware Name{n}", at=-60.0 * n, source=source
            )
    for path in PATHS:
        everything = (await api.get(path, key, limit=50)).json()
        assert everything["total"] > 2, path
        assert await walk(api, key, path, limit=2) == everything["items"], path
        assert len(everything["items"]) == everything["total"], path


def forge(cursor: str) -> list[str]:
    raw = bytearray(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    raw[-2] ^= 1
    unsigned = base64.urlsafe_b64encode(json.dumps(["iocs", {}, [0, "x"]]).encode()).decode()
    changed = base64.urlsafe_b64encode(bytes(raw)).decode().rstrip("=")
    return [changed, unsigned, "?", "a", "=" * 50, "\0", "é", cursor + "A", cursor[:-1], "A" * 40_000]


@pytest.mark.promise("cursor.opaque")
async def test_a_forged_cursor_is_refused(api: Running) -> None:
    key = await api.key()
    await api.publish("many", *(f"domain d{n}.example" for n in range(9)))
    cursor = (await api.get("/iocs", key, limit=2)).json()["next_cursor"]
    for forged in forge(cursor):
        answer = await api.get("/iocs", key, cursor=forged)
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_parameter"), forged[:60]
        assert answer.json()["errors"][0]["field"] == "cursor"


@pytest.mark.promise("cursor.opaque")
async def test_a_cursor_of_another_list_is_refused(api: Running) -> None:
    key = await api.key()
    await api.publish("many", *(f"domain d{n}.example" for n in range(9)))
    cursor = (await api.get("/iocs", key, limit=2)).json()["next_cursor"]
    for path in PATHS[1:]:
        assert (await api.get(path, key, cursor=cursor)).status_code == 422, path


@pytest.mark.promise("cursor.walk-once")
async def test_a_page_in_another_format_goes_on_from_the_cursor_too(api: Running) -> None:
    key = await api.key()
    await api.publish("many", *(f"domain d{n}.example" for n in range(6)), at=0)
    first = (await api.get("/iocs", key, limit=4)).json()
    rest = (await api.get("/iocs", key, cursor=first["next_cursor"], format="txt")).text.split()
    assert sorted(rest + [item["value"] for item in first["items"]]) == [f"d{n}.example" for n in range(6)]


@pytest.mark.promise("cursor.walk-once")
async def test_what_is_seen_again_meanwhile_stands_at_the_top(api: Running) -> None:
    key = await api.key()
    await api.publish("many", *(f"domain d{n}.example" for n in range(6)), at=0)
    first = (await api.get("/iocs", key, limit=2)).json()
    rest = sorted(set(await api.values(limit=50)) - {item["value"] for item in first["items"]})
    await api.publish("again", f"domain {rest[0]}", at=hour(1).hour)
    assert (await api.values())[0] == rest[0]
    second = (await api.get("/iocs", key, cursor=first["next_cursor"], limit=50)).json()
    assert sorted(item["value"] for item in second["items"]) == rest[1:]


@pytest.mark.promise("cursor.whole-query")
async def test_a_limit_beside_a_cursor_sets_the_length_of_that_page(api: Running) -> None:
    key = await api.key()
    await api.publish("many", *(f"domain d{n}.example" for n in range(9)))
    first = (await api.get("/iocs", key, limit=2)).json()
    assert (await api.get("/iocs", key, cursor=first["next_cursor"])).json()["limit"] == 2
    assert len((await api.get("/iocs", key, cursor=first["next_cursor"], limit=5)).json()["items"]) == 5


@pytest.mark.slow
@pytest.mark.promise("cursor.needs-key")
async def test_no_route_with_a_cursor_pages_on_without_a_key(api: Running) -> None:
    article = await api.publish("one", "domain evil.example")
    described = (await api.get("/openapi.json")).json()["paths"]
    paged = [
        path.removeprefix("/api/v1").replace("{id}", article.id).replace("{week}", "2026-W47")
        for path, operations in described.items()
        if any(parameter["name"] == "cursor" for parameter in operations.get("get", {}).get("parameters", ()))
    ]
    assert {"/sources", f"/articles/{article.id}/candidates", "/catalogues"} <= set(paged)
    for path in paged:
        refused = await api.get(path, cursor="anything")
        assert (refused.status_code, refused.json().get("code")) == (401, "missing_api_key"), path


async def test_a_blank_cursor_is_the_first_page(api: Running) -> None:
    for path in (*PATHS, "/sources", "/catalogues"):
        assert (await api.get(path, cursor=" ")).status_code == 200
