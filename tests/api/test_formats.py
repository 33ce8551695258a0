"""`/iocs?format=`: files for spreadsheets, block lists and other platforms."""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from typing import Any

import pytest
import stix2
from stix2patterns.v21.pattern import Pattern
from stix2patterns.validator import run_validator

from intel.records import Sighting
from tests.api.running import Running
from tests.api.test_lists import ONE_OF_EACH
from tests.cases import each

TLP_CLEAR = "marking-definition--94868c89-83c2-464b-929b-a1a8aa3c8487"


async def exported(api: Running, format: str, **asked: Any) -> str:
    answer = await api.get("/iocs", None, format=format, limit=50, **asked)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-disposition"].startswith("attachment; filename=")
    return answer.text


async def rows(api: Running) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(await exported(api, "csv"))))


@pytest.mark.promise("formats.csv")
async def test_csv_has_a_row_for_each_indicator_under_a_header(api: Running) -> None:
    await api.publish("all", *ONE_OF_EACH, title='Quoted "title", with commas\nand lines')
    found = await rows(api)
    assert sorted(f"{row['type']} {row['value']}" for row in found) == sorted(ONE_OF_EACH)
    assert {row["article_title"] for row in found} == {'Quoted "title", with commas\nand lines'}
    assert {row["last_seen"] for row in found} == {"2026-11-16T09:00:00Z"}
    answer = await api.get("/iocs", format="csv")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"


@pytest.mark.promise("formats.csv-guard")
@each("start", ["=", "+", "-", "@", "\t=", "\r=", "\n=", " =", "＝", "＋", "－", "＠", "'="])
async def test_cells_that_a_spreadsheet_would_run_are_guarded(api: Running, start: str) -> None:
    text = f"{start}HYPERLINK(1)"
    await api.publish("one", Sighting("domain", "a.example", text), title=text, source=f"{text} blog")
    (row,) = await rows(api)
    for cell in (row["article_title"], row["context"], row["source_name"]):
        assert cell.lstrip(" ")[0] not in "=+-@\t\r\n＝＋－＠", cell
        assert cell.endswith(("HYPERLINK(1)", "blog"))


@pytest.mark.promise("formats.txt")
async def test_txt_has_one_value_a_line(api: Running) -> None:
    await api.publish("one", "domain a.example", "url https://a.example/x", at=1)
    await api.publish("two", "domain b.example", at=2)
    assert (await exported(api, "txt", type="domain")).splitlines() == ["b.example", "a.example"]
    assert (await api.get("/iocs", format="txt")).headers["content-type"] == "text/plain; charset=utf-8"


@pytest.mark.promise("formats.csv")
async def test_csv_tells_the_status_the_warnings_the_votes_and_the_page(api: Running) -> None:
    await api.publish("one", "ip 8.8.8.8")
    (item,) = await api.items("/iocs")
    await api.client.put(f"/api/v1/iocs/{item['id']}/false-positive", headers=await api.key())
    (row,) = await rows(api)
    assert row["status"] == "active" and row["false_positives"] == "1"
    assert row["warnings"].split("; ") == [warning["list"] for warning in item["warnings"]] != [""]
    assert row["permalink"] == "http://127.0.0.1:8000/ioc/ip/8.8.8.8"


@pytest.mark.promise("formats.next")
@pytest.mark.parametrize("format", ["csv", "stix", "txt"])
async def test_a_page_in_another_format_says_how_many_there_are_and_where_the_next_one_is(
    api: Running, format: str
) -> None:
    await api.publish("many", *(f"domain d{n}.example" for n in range(70)))
    key = await api.key()
    first = await api.get("/iocs", key, format=format, limit=40, type="domain")
    assert first.headers["x-total-count"] == "70"
    address = first.links["next"]["url"]
    second = await api.client.get(address, headers=key)
    assert second.headers["content-type"] == first.headers["content-type"]
    assert "next" not in second.links
    if format == "txt":
        assert len({*first.text.split(), *second.text.split()}) == 70
    assert "next" not in (await api.get("/iocs", format=format)).links


HOSTILE_VALUES = (
    "url https://a.example/it's?x=\\'%5C",
    "url https://a.example/'] OR [file:name = 'x",
    "url https://a.example/\\",
    'url https://a.example/"\u202e\x7f\t\n{}%s<b>',
    "ip 2001:db8::7",
    "email o'brien@a.example",
    "domain xn--mnchen-3ya.example",
)


def checked(text: str) -> dict[str, list[Any]]:
    """The objects of a bundle by type, once two libraries and its own references have been found right."""
    bundle: Any = stix2.parse(text, version="2.1", allow_custom=False)
    by_type: dict[str, list[Any]] = defaultdict(list)
    for made in bundle.objects:
        by_type[made.type].append(made)
    for indicator in by_type["indicator"]:
        assert run_validator(indicator.pattern, stix_version="2.1") == [], indicator.pattern
    ids = [made.id for made in bundle.objects]
    assert len(set(ids)) == len(ids)
    for made in bundle.objects:
        pointed = [made.get("created_by_ref"), made.get("source_ref"), made.get("target_ref")]
        pointed += [*made.get("object_refs", ()), *made.get("object_marking_refs", ())]
        assert {id for id in pointed if id} <= set(ids)
        assert made.type == "marking-definition" or made.object_marking_refs == [TLP_CLEAR]
    return by_type


@pytest.mark.promise("formats.stix")
async def test_stix_is_valid_and_the_same_each_time(api: Running) -> None:
    await api.publish("all", *ONE_OF_EACH, *HOSTILE_VALUES, title="")
    text = await exported(api, "stix")
    found = checked(text)
    assert len(found["indicator"]) == len(ONE_OF_EACH) + len(HOSTILE_VALUES) - 3
    assert {indicator.name for indicator in found["indicator"]} >= {v.partition(" ")[2] for v in HOSTILE_VALUES}
    for kind, count in {"vulnerability": 1, "attack-pattern": 1, "malware": 1, "report": 0, "identity": 1}.items():
        assert len(found[kind]) == count, kind
    assert await exported(api, "stix") == text


@pytest.mark.promise("formats.stix")
async def test_a_pattern_finds_the_value_and_no_other(api: Running) -> None:
    await api.publish("all", *HOSTILE_VALUES)
    for indicator in checked(await exported(api, "stix", type="url"))["indicator"]:
        (comparison,) = Pattern(indicator.pattern).inspect().comparisons["url"]
        assert comparison[1] == "="
        literal = comparison[2][1:-1]
        assert re.sub(r"\\(.)", r"\1", literal, flags=re.DOTALL) == indicator.name


@pytest.mark.promise("formats.stix")
async def test_stix_tells_what_an_indicator_points_to_and_who_said_so(api: Running) -> None:
    near = Sighting("domain", "a.example", "It loaded Emotet.", ("Emotet", "QakBot"))
    article = await api.publish("one", near, "malware Emotet", source="Agency", title="A report")
    found = checked((await api.get(f"/articles/{article.id}", format="stix")).text)
    (indicator,), (report,) = found["indicator"], found["report"]
    assert indicator.indicator_types == ["malicious-activity"] and indicator.description == "It loaded Emotet."
    names = {malware.id: malware.name for malware in found["malware"]}
    assert {made.name: "Geodo" in made.aliases for made in found["malware"]} == {"Emotet": True, "QakBot": False}
    assert {names[made.target_ref] for made in found["relationship"]} == {"Emotet", "QakBot"}
    assert {(made.source_ref, made.relationship_type) for made in found["relationship"]} == {
        (indicator.id, "indicates")
    }
    sources = {identity.id: identity.name for identity in found["identity"]}
    assert (sources[report.created_by_ref], report.name) == ("Agency", "A report")
    named = {indicator.id, *names, *(made.id for made in found["relationship"])}
    assert set(report.object_refs) == named
    for made in (report, indicator):
        assert made.external_references[0].url == "https://news.example/one"
    assert indicator.external_references[1].url == "http://127.0.0.1:8000/ioc/domain/a.example"
    assert str(indicator.valid_until) == "2027-11-16 09:00:00+00:00"


@pytest.mark.slow
@pytest.mark.promise("formats.stix")
async def test_an_object_says_one_thing_as_long_as_its_modified_stays(api: Running) -> None:
    near = Sighting("domain", "a.example", "", ("Emotet",))
    seen: dict[tuple[str, str], Any] = {}

    async def read() -> int:
        """Reads every bundle; returns how many objects there are."""
        articles = [f"/articles/{item['id']}" for item in await api.items("/articles")]
        texts = [await exported(api, "stix", **asked) for asked in ({}, {"type": "domain"}, {"q": "a.example"})]
        for text in (*texts, *[(await api.get(path, format="stix")).text for path in articles]):
            for made in (made for kind in checked(text).values() for made in kind):
                version = (made.id, str(made.get("modified")))
                assert seen.setdefault(version, made.serialize()) == made.serialize()
        return len(seen)

    await api.publish("one", near, "malware Emotet", "cve CVE-2024-3400", source="One")
    before = await read()
    api.clock.forward(400 * 86_400)
    assert await read() == before
    await api.publish("two", near, "ip 203.0.113.9", "cve CVE-2024-3400", source="Two", at=5)
    with_two = await read()
    assert with_two > before
    two, key = (await api.items("/articles"))[0]["id"], await api.key()
    for add, remove in ((["c2"], []), (["late"], []), ([], ["c2", "late"])):
        api.clock.forward(1)
        await api.post(f"/articles/{two}/tags", {"add": add, "remove": remove}, key)
        await read()
    assert await read() == with_two + 3


@pytest.mark.promise("formats.article")
async def test_one_article_is_exported_in_every_format(api: Running) -> None:
    old = await api.publish("old", "domain a.example", "cve CVE-2024-3400", title="The old one", source="Old")
    await api.publish("new", "domain a.example", title="The new one", at=9)
    stix = await api.get(f"/articles/{old.id}", format="stix")
    (report,) = checked(stix.text)["report"]
    assert (report.name, len(report.object_refs)) == ("The old one", 2)
    csv_rows = list(csv.DictReader(io.StringIO((await api.get(f"/articles/{old.id}", format="csv")).text)))
    assert {(row["value"], row["article_title"], row["source_name"]) for row in csv_rows} == {
        ("a.example", "The old one", "Old"),
        ("CVE-2024-3400", "The old one", "Old"),
    }
    txt = await api.get(f"/articles/{old.id}", format="txt")
    assert txt.text.split() == ["a.example", "CVE-2024-3400"]
    assert (await api.get(f"/articles/{old.id}", format="json")).json()["title"] == "The old one"
    assert (await api.get(f"/articles/{old.id}", format="xml")).status_code == 422
    assert (await api.get("/articles/nothing", format="csv")).status_code == 404
    bare = await api.publish("bare", title="Nothing in it")
    assert checked((await api.get(f"/articles/{bare.id}", format="stix")).text)["report"][0].name == "Nothing in it"


@pytest.mark.promise("formats.accept")
@each(
    ("accept", "media_type"),
    [
        ("text/csv", "text/csv; charset=utf-8"),
        ("application/stix+json;version=2.1", "application/stix+json;version=2.1"),
        ("text/plain", "text/plain; charset=utf-8"),
        ("text/html, text/csv;q=0.5, */*;q=0.1", "text/csv; charset=utf-8"),
        ("text/csv;q=0.5, application/json", "application/json"),
        ("*/*", "application/json"),
        ("application/*, text/plain;q=0.9", "application/json"),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "application/json"),
        ("text/csv;q=0", "application/json"),
        ("text/csv;q=²", "application/json"),
        (";;,,q=", "application/json"),
        ("", "application/json"),
    ],
)
async def test_the_accept_header_chooses_where_format_does_not(api: Running, accept: str, media_type: str) -> None:
    article = await api.publish("one", "domain a.example")
    headers = {b"Accept": accept.encode()}
    for path in ("iocs", f"articles/{article.id}"):
        answer = await api.client.get(f"/api/v1/{path}", headers=headers)
        assert (answer.status_code, answer.headers["content-type"]) == (200, media_type)
        assert "Accept" in answer.headers["vary"].split(", ")
    answer = await api.client.get("/api/v1/iocs", params={"format": "txt"}, headers=headers)
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"


@pytest.mark.promise("formats.stix")
async def test_stix_of_nothing_is_still_a_bundle(api: Running) -> None:
    answer = await api.get("/iocs", format="stix")
    assert answer.headers["content-type"] == "application/stix+json;version=2.1"
    assert answer.json()["type"] == "bundle"
    bundle: Any = stix2.parse(answer.text, version="2.1", allow_custom=False)
    assert "identity" in {made.type for made in bundle.objects}


@pytest.mark.promise("formats.choice")
async def test_json_is_the_default_and_another_format_is_refused(api: Running) -> None:
    assert (await api.get("/iocs", format="json")).json() == (await api.get("/iocs")).json()
    for format in ("xml", "CSV", "json,csv"):
        answer = await api.get("/iocs", format=format)
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "format")


@pytest.mark.promise("formats.choice")
async def test_formats_keep_filters_and_caps(api: Running) -> None:
    await api.publish("many", *(f"domain d{n}.example" for n in range(60)))
    assert len((await api.get("/iocs", format="txt", limit=1000)).text.splitlines()) == 50
    assert len((await api.get("/iocs", format="txt", limit=1000, q="example")).text.splitlines()) == 10
