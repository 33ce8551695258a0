"""`/iocs?format=`: files for spreadsheets, block lists and other platforms."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
import stix2
from stix2patterns.validator import run_validator

from intel.records import Sighting
from tests.api.running import Running
from tests.api.test_lists import ONE_OF_EACH


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
@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", "\r=", "\n=", " =", "＝", "＋", "－", "＠", "'="])
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


@pytest.mark.promise("formats.stix")
async def test_stix_is_valid_and_the_same_each_time(api: Running) -> None:
    odd = ("url https://a.example/it's?x=\\'%5C", "ip 2001:db8::7", "email o'brien@a.example")
    await api.publish("all", *ONE_OF_EACH, *odd, title="")
    text = await exported(api, "stix")
    bundle: Any = stix2.parse(text, version="2.1")
    kinds = [made.type for made in bundle.objects]
    assert kinds.count("indicator") == len(ONE_OF_EACH) + len(odd) - 3
    assert {"vulnerability", "attack-pattern", "malware", "report"} <= set(kinds)
    for made in bundle.objects:
        if made.type == "indicator":
            verdict, errors = run_validator(made.pattern, stix_version="2.1"), made.pattern
            assert verdict == [], errors
    report = next(made for made in bundle.objects if made.type == "report")
    assert len(report.object_refs) == len(ONE_OF_EACH) + len(odd)
    assert await exported(api, "stix") == text


@pytest.mark.promise("formats.stix")
async def test_stix_of_nothing_is_still_a_bundle(api: Running) -> None:
    answer = await api.get("/iocs", format="stix")
    assert answer.headers["content-type"] == "application/stix+json;version=2.1"
    assert answer.json()["type"] == "bundle"
    stix2.parse(answer.text, version="2.1", allow_custom=False)


@pytest.mark.promise("formats.choice")
async def test_json_is_the_default_and_another_format_is_refused(api: Running) -> None:
    assert (await api.get("/iocs", format="json")).json() == (await api.get("/iocs")).json()
    for format in ("xml", "", "CSV", "json,csv"):
        answer = await api.get("/iocs", format=format)
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "format")


@pytest.mark.promise("formats.choice")
async def test_formats_keep_filters_and_caps(api: Running) -> None:
    await api.publish("many", *(f"domain d{n}.example" for n in range(60)))
    assert len((await api.get("/iocs", format="txt", limit=1000)).text.splitlines()) == 50
    assert len((await api.get("/iocs", format="txt", limit=1000, q="example")).text.splitlines()) == 10
