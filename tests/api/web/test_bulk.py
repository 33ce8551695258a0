from __future__ import annotations

import csv
import io

import pytest
from lxml.html import HtmlElement

from api.web.pasted import read
from tests.api.running import Running
from tests.api.web.reading import Page, Reader
from tests.intel.catalogues.importing import put_kev


async def look_up(reader: Reader, values: str, **more: str) -> Page:
    return await reader.submit(await reader.open("/bulk"), "/bulk", values=values, **more)


def answers(page: Page) -> dict[str, str]:
    """Line and answer of each row."""
    rows = page.tree.xpath("//tbody/tr")
    return {" ".join(row.xpath("string(td[1])").split()): _answer(row) for row in rows}


def _answer(row: HtmlElement) -> str:
    type, told = row.xpath("string(td[@class='type'])"), row.xpath("string(th)")
    return " ".join(f"{type} {told}".split())


@pytest.mark.promise("bulk.every-line")
async def test_every_line_is_answered_in_order(api: Running, member: Reader) -> None:
    await api.publish("report", "domain evil.example", "malware Cobalt Strike", "ip 198.51.100.7", "ip 198.51.100.9")
    lines = (
        "hxxps://evil[.]example/drop", "evil[.]example", "", "a note of ours", "EVIL.example", "198.51.100.0/24",
        "cobalt strike", "8.8.8.8",
    )  # fmt: skip
    page = await look_up(member, "\n".join(lines))
    assert answers(page) == {
        "1": "not found; its host is known: evil[.]example",
        "2": "Domain evil[.]example",
        "4": "not an indicator",
        "5": "same as line 2",
        "6": "a network: 2 addresses known",
        "7": "Malware Cobalt Strike",
        "8": "not found",
    }
    assert "2 known, 2 not found" in page.text and "public resolvers" in page.text


async def test_a_parent_domain_a_family_of_the_title_and_a_cves_name_are_told(api: Running, member: Reader) -> None:
    await put_kev(api.store, api.clock(), {"CVE-2024-3400": "2026-11-17"})
    await api.publish("report", "domain evil.example", "cve CVE-2024-3400", title="Emotet is back")
    page = await look_up(member, "https://a.evil.example/x\nevil.example\nCVE-2024-3400")
    assert answers(page) == {
        "1": "not found; its parent domain is known: evil[.]example",
        "2": "Domain evil[.]example",
        "3": "CVE CVE-2024-3400 Example Gateway Command Injection",
    }
    assert page.tree.xpath("string(//tbody/tr[2]/td[@class='family'])") == "Emotet (title)"


async def test_columns_and_free_text_are_read_line_by_line(api: Running, member: Reader) -> None:
    await api.publish("report", "domain evil.example", "cve CVE-2024-3400", "malware QuietHarbor")
    pasted = (
        "2026-11-01,evil.example,high,44d88612fea8a8f36de82e1278abb02f\n"
        "They say that evil[.]example was hit through CVE-2024-3400 last night.\nquietharbor\n"
    )
    table = (await look_up(member, pasted, format="all")).answer
    rows = [(row["line"], row["value"], row["answer"]) for row in csv.DictReader(io.StringIO(table.text))]
    assert rows == [
        ("1", "evil.example", "found"),
        ("1", "44d88612fea8a8f36de82e1278abb02f", "not found"),
        ("2", "evil.example", "same as line 1"),
        ("2", "CVE-2024-3400", "found"),
        ("3", "QuietHarbor", "found"),
    ]


@pytest.mark.slow
async def test_what_was_found_and_what_was_not_are_exported(api: Running, member: Reader) -> None:
    await api.publish("report", "domain evil.example")
    pasted = "evil.example\nnever[.]example\n=cmd|' /C calc'!A0"
    assert (await look_up(member, pasted, format="txt")).answer.text == "evil.example\n"
    assert (await look_up(member, pasted, format="missing")).answer.text == "never.example\n"
    rows = list(csv.DictReader(io.StringIO((await look_up(member, pasted, format="all")).answer.text)))
    assert rows[2]["pasted"].startswith("'=")


@pytest.mark.slow
async def test_ten_thousand_lines_are_read_and_the_rest_is_said(member: Reader) -> None:
    page = await look_up(member, "\n".join(f"host{n}.never.example" for n in range(10_001)))
    assert "0 known, 10,000 not found; 1 line beyond the first 10,000 not read" in page.text


@pytest.mark.slow
async def test_many_answers_come_in_pages_in_order(api: Running, member: Reader) -> None:
    await api.publish("report", "domain evil.example")
    pasted = "\n".join([*(f"never-{n}.example" for n in range(1199)), "evil.example"])
    first = await look_up(member, pasted)
    assert list(answers(first)) == [str(n) for n in range(1, 201)]
    assert "1 known, 1,199 not found" in first.text and "Answers 1 to 200 of 1,200" in first.text
    later = await look_up(member, pasted, **{"from": "1000"})
    assert list(answers(later)) == [str(n) for n in range(1001, 1201)]
    assert answers(later)["1200"] == "Domain evil[.]example"
    assert not later.tree.xpath("//button[text()='Next page']") and later.tree.xpath("//button[text()='First page']")
    assert next(iter(answers(await look_up(member, pasted, **{"from": "-3"})))) == "1"


async def test_a_visitor_is_asked_to_sign_in(visitor: Reader) -> None:
    assert "sign in" in (await visitor.open("/bulk")).links()
    assert (await visitor.post("/bulk", {"values": "evil.example"})).heading == "Sign in"


async def test_hostile_input_is_shown_as_text(member: Reader) -> None:
    page = await look_up(
        member, "</textarea><script>window.xss=1</script>\0\nhttp://evil.example/<svg/onload=alert(1)>"
    )
    assert page.status == 200
    assert not page.tree.xpath("//main//script | //main//*[local-name()='svg'] | //@onload")


def test_a_value_that_a_line_repeats_is_answered_once() -> None:
    found = read("evil.example, 192.0.2.1; evil.example\n192.0.2.1|x")
    assert [(one.line, one.written, one.same_as) for one in found] == [
        (1, "evil.example", 0),
        (1, "192.0.2.1", 0),
        (2, "192.0.2.1", 1),
    ]
