"""`/iocs` without a search: order, filters, limits."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from intel.records import IOC_TYPES
from tests.api.running import Running
from tests.cases import each
from tests.contract.store.builders import hour

ONE_OF_EACH = (
    "ip 203.0.113.9",
    "domain evil.example",
    "hash_md5 44d88612fea8a8f36de82e1278abb02f",
    "hash_sha1 3395856ce81f2b7382dee72602f798b642f14140",
    "hash_sha256 275a021bbfb6489e54d471899f7db9d1663fc695ec2fe2a2c4538aabf651fd0f",
    "url https://evil.example/gate.php",
    "cve CVE-2024-3400",
    "mitre_attack T1053.005",
    "email drop@evil.example",
    "malware Emotet",
)


@pytest.mark.promise("iocs.list-anyone", "lists.envelope")
async def test_an_empty_service_answers_an_empty_list(api: Running) -> None:
    answer = await api.get("/iocs")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["items"] == []
    assert (answer.json()["limit"], answer.json()["total"], answer.json()["next_cursor"]) == (20, 0, None)


@pytest.mark.promise("iocs.list-order")
async def test_a_list_is_newest_last_seen_first_and_ties_by_id(api: Running) -> None:
    await api.publish("old", "domain old.example", at=1)
    await api.publish("new", "domain a.example", "domain b.example", "domain c.example", at=2)
    items = await api.items("/iocs")
    assert [item["value"] for item in items][-1] == "old.example"
    assert [item["id"] for item in items[:3]] == sorted(item["id"] for item in items[:3])


@each("type", IOC_TYPES)
@pytest.mark.promise("records.types", "iocs.type-filter")
async def test_every_type_can_be_asked_for_alone(api: Running, type: str) -> None:
    await api.publish("all", *ONE_OF_EACH)
    wanted = next(value for kind, _, value in (given.partition(" ") for given in ONE_OF_EACH) if kind == type)
    assert await api.values(type=type) == [wanted]


@pytest.mark.promise("iocs.type-filter")
@each("type", ["IP", "ipv4", "hash", "domain,ip", "article"])
async def test_a_type_that_does_not_exist_is_refused(api: Running, type: str) -> None:
    answer = await api.get("/iocs", type=type)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_parameter")
    assert answer.json()["errors"][0]["field"] == "type"


@pytest.mark.promise("iocs.blank-q-is-a-list")
@each("q", ["", " ", "\t\r\n", "\u3000", "\xa0\u2028"])
async def test_a_blank_search_is_a_list(api: Running, q: str) -> None:
    await api.publish("one", "domain evil.example")
    answer = await api.get("/iocs", q=q)
    assert answer.json()["query"]["text"] is None
    assert [item["value"] for item in answer.json()["items"]] == ["evil.example"]
    assert '"list"' in answer.headers["ratelimit-policy"]


@pytest.mark.promise("iocs.since-until")
async def test_since_and_until_bound_the_last_sighting_and_are_inclusive(api: Running) -> None:
    await api.publish("monday", "domain monday.example", at=0)
    await api.publish("tuesday", "domain tuesday.example", at=24)
    assert await api.values(since="2026-11-17T09:00:00Z") == ["tuesday.example"]
    assert await api.values(since="2026-11-17") == ["tuesday.example"]
    assert await api.values(until="2026-11-16") == ["monday.example"]
    assert await api.values(until="2026-11-16T09:00:00Z") == ["monday.example"]
    assert await api.values(since="2026-11-16T09:00:00Z", until="2026-11-17T09:00:00Z") == [
        "tuesday.example",
        "monday.example",
    ]
    assert await api.values(since="2026-11-17T09:00:01Z") == []


@pytest.mark.promise("iocs.since-until")
async def test_a_time_may_have_an_offset(api: Running) -> None:
    await api.publish("monday", "domain monday.example", at=0)
    assert await api.values(since="2026-11-16T10:00:00+01:00") == ["monday.example"]
    assert (await api.client.get("/api/v1/iocs?since=2026-11-16T10:00:00+01:00")).json()["total"] == 1
    assert await api.values(since="2026-11-16T10:00:01+01:00") == []


@each("field", ["since", "until"])
@each("text", ["yesterday", "2026-13-01", "2026-02-30", "9999-12-31", "0001-01-01", "1e9", "2026-11-16T25:00Z", "١٢٣٤"])
@pytest.mark.promise("iocs.since-until")
async def test_what_is_no_date_or_time_is_refused(api: Running, field: str, text: str) -> None:
    answer = await api.client.get("/api/v1/iocs", params={field: text})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == field


@pytest.mark.promise("iocs.source-filter")
async def test_a_source_filter_keeps_what_that_source_wrote_about(api: Running) -> None:
    await api.publish("one", "domain both.example", "domain one.example", source="Blog One", at=1)
    await api.publish("two", "domain both.example", source="Blog Two", at=2)
    assert set(await api.values(source="Blog One")) == {"both.example", "one.example"}
    assert await api.values(source="Blog Two") == ["both.example"]
    assert await api.values(source="blog") == []


@pytest.mark.promise("lists.limit-default")
async def test_twenty_items_are_given_unless_asked_otherwise(api: Running) -> None:
    await api.publish("many", *(f"domain d{n}.example" for n in range(60)))
    answer = (await api.get("/iocs")).json()
    assert (len(answer["items"]), answer["limit"], answer["total"]) == (20, 20, 60)
    searched = (await api.get("/iocs", q="example")).json()
    assert (len(searched["items"]), searched["limit"], searched["total"]) == (10, 10, 60)
    with_key = (await api.get("/iocs", await api.key(), q="example")).json()
    assert (len(with_key["items"]), with_key["limit"]) == (20, 20)


@pytest.mark.promise("lists.limit-lowered-to-cap", "limits.results.key-50", "limits.results.list-50")
@pytest.mark.promise("limits.results.search-10")
async def test_a_larger_limit_is_lowered_to_the_cap_and_the_answer_says_so(api: Running) -> None:
    await api.publish("many", *(f"domain d{n}.example" for n in range(60)))
    key = await api.key()

    async def given(key: dict[str, str] | None = None, **asked: Any) -> tuple[int, int]:
        asked["limit"] = 1000
        answer = (await api.get("/iocs", key, **asked)).json()
        return answer["limit"], len(answer["items"])

    assert await given() == (50, 50)
    assert await given(q="example") == (10, 10)
    assert await given(value="d1.example") == (10, 1)
    assert await given(key) == (50, 50)
    assert await given(key, q="example") == (50, 50)


@pytest.mark.promise("lists.limit-invalid")
@each("limit", ["0", "-1", "ten", "1.5", "١", "1e1", "0x10", "null", "9" * 400])
async def test_a_limit_that_is_no_positive_number_is_refused(api: Running, limit: str) -> None:
    for path in ("/iocs", "/articles", "/weekly", "/focus", "/awareness"):
        answer = await api.get(path, limit=limit)
        if limit == "9" * 400 and answer.status_code == 200:
            assert answer.json()["limit"] == 50
            continue
        assert answer.status_code == 422, path
        assert answer.json()["errors"][0]["field"] == "limit"


@pytest.mark.promise("lists.limit-lowered-to-cap")
async def test_every_list_has_the_same_members_and_cap(api: Running) -> None:
    await api.publish("one", "cve CVE-2024-3400")
    for path in ("/iocs", "/articles", "/weekly", "/focus", "/awareness"):
        answer = (await api.get(path, limit=51)).json()
        assert {"items", "limit", "total", "next_cursor"} <= set(answer), path
        assert answer["limit"] == 50, path
        assert answer["next_cursor"] is None, path


@pytest.mark.slow
@pytest.mark.promise("lists.total-exact")
async def test_totals_are_exact_beyond_ten_thousand(api: Running) -> None:
    await api.publish("many", *(f"domain d{n}.example" for n in range(10_050)))
    assert (await api.get("/iocs", limit=1)).json()["total"] == 10_050
    assert (await api.get("/iocs", q="example", limit=1)).json()["total"] == 10_050


@pytest.mark.promise("errors.unknown-query-parameters-ignored")
async def test_unknown_parameters_are_ignored(api: Running) -> None:
    await api.publish("one", "domain evil.example")
    assert await api.values(page="7", order="value", offset="99") == ["evil.example"]


@pytest.mark.promise("records.times")
async def test_the_answer_says_how_the_request_was_read(api: Running) -> None:
    query = (await api.get("/iocs", q="hxxps://evil[.]example/a", type="url", since="2026-11-16")).json()["query"]
    assert (query["type"], query["since"]) == ("url", "2026-11-16T00:00:00Z")
    assert {"type": "url", "value": "https://evil.example/a"} in query["reads_as"]


@pytest.mark.promise("records.first-last-seen", "records.times")
async def test_first_and_last_seen_are_the_earliest_and_latest_publication(api: Running) -> None:
    await api.publish("middle", "domain evil.example", at=5)
    await api.publish("late", "domain evil.example", at=9.5)
    await api.publish("early", "domain evil.example", at=1)
    (item,) = await api.items("/iocs")
    assert (item["first_seen"], item["last_seen"]) == ("2026-11-16T10:00:00Z", "2026-11-16T18:30:00Z")
    assert hour(9.5).isoformat().startswith(item["last_seen"][:-1])


HUGE = (str(2**63), str(2**64), "1" + "0" * 30, "9" * 5_000)


@pytest.mark.parametrize("number", HUGE, ids=["2^63", "2^64", "10^30", "5000 digits"])
async def test_a_limit_beyond_every_number_is_lowered_and_can_be_paged_on(api: Running, number: str) -> None:
    key = await api.key()
    await api.publish("many", *(f"cve CVE-2024-{n}" for n in range(1000, 1060)))
    answer = (await api.get("/iocs", key, limit=number)).json()
    assert (answer["limit"], len(answer["items"])) == (50, 50)
    assert len((await api.get("/iocs", key, cursor=answer["next_cursor"])).json()["items"]) == 10
    assert (await api.get("/articles", limit=number)).status_code == 200


@pytest.mark.slow
async def test_no_numeric_parameter_of_any_route_breaks_on_a_huge_number(api: Running) -> None:
    key = await api.key()
    article = await api.publish("many", "domain evil.example")
    described = (await api.get("/openapi.json")).json()["paths"]
    for path, operations in described.items():
        names = [each["name"] for each in operations.get("get", {}).get("parameters", ()) if is_whole(each)]
        filled = path.removeprefix("/api/v1").replace("{id}", article.id).replace("{week}", "2026-W47")
        for name, number in ((name, number) for name in names for number in (*HUGE, "-" + "9" * 30)):
            assert (await api.client.get(f"/api/v1{filled}?{name}={number}", headers=key)).status_code < 500, (
                path,
                name,
                number[:30],
            )


def is_whole(parameter: dict[str, Any]) -> bool:
    return parameter["in"] == "query" and "integer" in str(parameter["schema"])


EDGES = (
    "0001-01-01",
    "9999-12-31T23:59:59-23:59",
    "0001-01-01T00:00:00+23:59",
    "9999-12-31",
    "1000-01-01",
    "9998-12-31",
)


@each("moment", EDGES)
@each("name", ["since", "until"])
async def test_a_moment_at_the_edge_of_time_is_answered_or_refused(api: Running, name: str, moment: str) -> None:
    await api.publish("one", "domain evil.example")
    for path in ("/iocs", "/iocs.atom"):
        for asked in (f"{name}={quote(moment)}", f"{name}={quote(moment)}&type=domain&status=active"):
            assert (await api.client.get(f"/api/v1{path}?{asked}")).status_code in (200, 422)


@each("week", ["0001-W01", "9999-W53", "9999-W52", "9998-W52", "1000-W01", "0000-W00", "9" * 5_000])
async def test_a_week_at_the_edge_of_time_is_404(api: Running, week: str) -> None:
    await api.publish("one", "domain evil.example")
    for path in (f"/weekly/{week}", f"/weekly/{week}/revisions", f"/weekly/{week}.md"):
        assert (await api.get(path)).status_code == 404
    article = await api.publish("two", "domain evil.example")
    assert (await api.get(f"/articles/{article.id}/revisions/{'9' * 5_000}")).status_code == 404
