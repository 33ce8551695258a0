from __future__ import annotations

from urllib.parse import quote

import pytest

from intel.records import Sighting
from tests.api.running import Running
from tests.api.web.reading import Reader
from tests.cases import each
from tests.contract.store import builders
from tests.intel.catalogues.importing import put_kev

AWKWARD = (
    ("url", "http://evil.example/a/b/../c//d?x=1&y=%2F#part"),
    ("url", "https://evil.example/?q=a+b%20c;d'e\"f"),
    ("url", "http://evil.example/%"),
    ("email", "o'neil+spam@evil.example"),
    ("ip", "2001:db8::1"),
    ("malware", "Cobalt Strike"),
)


@pytest.mark.parametrize(("type", "value"), AWKWARD)
async def test_every_value_has_a_stable_page_behind_its_link(
    api: Running, visitor: Reader, type: str, value: str
) -> None:
    await api.publish("report", Sighting(type, value, "It stood here.", (), 0))
    address = next(iter((await visitor.open("/search")).tree.xpath("//main//a[@class='value']/@href")))
    assert address == f"/ioc/{type}/{quote(value, safe='')}"
    page = await visitor.open(address)
    assert (page.status, page.path) == (200, address)
    assert value in page.tree.xpath("//main//button/@data-copy")


async def test_a_value_is_defanged_and_no_link_leads_to_it(api: Running, visitor: Reader) -> None:
    await api.publish("report", "url http://evil.example/gate.php")
    page = await visitor.open(f"/ioc/url/{quote('http://evil.example/gate.php', safe='')}")
    assert page.heading == "hxxp://evil[.]example/gate.php"
    outside = [a for a in page.tree.xpath("//a/@href") if not a.startswith(("/", "#"))]
    assert outside == []


async def test_another_spelling_leads_to_the_page_of_the_canonical_one(api: Running, visitor: Reader) -> None:
    await api.publish("report", "domain evil.example")
    page = await visitor.open("/ioc/domain/EVIL%5B.%5Dexample")
    assert (page.status, page.path) == (200, "/ioc/domain/evil.example")


async def test_the_page_tells_when_and_where_it_was_seen(api: Running, visitor: Reader) -> None:
    await api.publish("old", "domain evil.example", at=0, source="First Blog", title="The first report")
    await api.publish("new", "domain evil.example", "ip 192.0.2.9", at=72, source="Second Blog", title="The second one")
    page = await visitor.open("/ioc/domain/evil.example")
    facts = [" ".join(div.text_content().split()) for div in page.tree.xpath("//dl[@class='figures']/div")]
    assert facts[:2] == ["first seen16 Nov 2026", "last seen19 Nov 2026 1 day ago"]
    assert facts[2:] == ["articles2", "independent sources2", "confidence30/100"]
    rules = [row.text_content() for row in page.tree.xpath("//details[@class='arithmetic']//tbody/tr")]
    assert [row[-2:] for row in rules] == ["30", "20", "20", "40", "30"]
    assert {"The first report", "The second one", "192[.]0[.]2[.]9"} <= set(page.links())
    assert page.links()["The second one"].startswith("/articles/")
    assert "It used evil.example then." in page.text


async def test_every_article_stands_with_the_sentence_that_names_it(api: Running, visitor: Reader) -> None:
    asked = Sighting("domain", "evil.example", "The loader asked evil[.]example for orders.")
    await api.publish("old", asked, at=0)
    for hour in range(1, 9):
        await api.publish(f"new{hour}", "domain evil.example", at=hour)
    assert "The loader asked evil[.]example for orders." in (await visitor.open("/ioc/domain/evil.example")).text


async def test_the_picture_has_a_title_and_a_table_behind_it(api: Running, visitor: Reader) -> None:
    for name, at in (("a", 0), ("b", 1), ("c", 50)):
        await api.publish(name, "domain evil.example", at=at)
    tree = (await visitor.open("/ioc/domain/evil.example")).tree
    assert tree.xpath("//*[local-name()='svg'][@role='img']/*[local-name()='title']")
    rows = [
        [" ".join(cell.text_content().split()) for cell in row]
        for row in tree.xpath("//section[@aria-labelledby='when']//tbody/tr")
    ]
    assert rows == [["18 Nov 2026", "1"], ["16 Nov 2026", "2"]]


async def test_one_article_needs_no_picture_and_a_row_of_a_table_is_quoted_without_its_rules(
    api: Running, visitor: Reader
) -> None:
    await api.publish("one", Sighting("domain", "evil.example", "| C2 | evil.example | 443 |"))
    page = await visitor.open("/ioc/domain/evil.example")
    assert not page.tree.xpath("//section[@aria-labelledby='when']")
    assert "C2 · evil.example · 443" in page.text


@pytest.mark.parametrize(
    ("context", "shown"),
    [
        ("## Hosts of evil[.]example", "Hosts of evil[.]example"),
        ("* It asked evil[.]example.", "It asked evil[.]example."),
        ("-host evil[.]example", "-host evil[.]example"),
        ("* `evil[.]example`", ""),
    ],
)
async def test_a_quotation_says_more_than_the_value_and_begins_without_the_sign_of_its_line(
    api: Running, visitor: Reader, context: str, shown: str
) -> None:
    await api.publish("report", Sighting("domain", "evil.example", context, (), 0))
    page = await visitor.open("/ioc/domain/evil.example")
    assert page.tree.xpath("string(//p[@class='quote'])") == shown


async def test_a_vulnerability_and_a_technique_lead_to_their_registers(api: Running, visitor: Reader) -> None:
    await api.publish("report", "cve CVE-2024-3400", "mitre_attack T1059.001")
    page = await visitor.open("/ioc/cve/CVE-2024-3400")
    link = page.tree.xpath("//a[text()='NVD']")[0]
    assert link.get("href") == "https://nvd.nist.gov/vuln/detail/CVE-2024-3400"
    assert set(link.get("rel").split()) == {"noopener", "noreferrer", "nofollow"}
    page = await visitor.open("/ioc/mitre_attack/T1059.001")
    assert page.links()["MITRE ATT&CK"] == "https://attack.mitre.org/techniques/T1059/001/"


async def test_what_was_never_seen_says_so_and_harms_nobody(visitor: Reader) -> None:
    page = await visitor.open("/ioc/domain/never.example")
    assert (page.status, page.heading) == (404, "Not found")
    assert "never[.]example" in page.text


async def test_what_no_article_mentions_is_told_of_from_the_catalogues(api: Running, visitor: Reader) -> None:
    technique = await visitor.open("/ioc/mitre_attack/T1059.001")
    assert technique.status == 404 and "PowerShell" in technique.text and "MITRE ATT&CK" in technique.text
    assert "Catalogues" not in technique.text
    await put_kev(api.store, builders.hour(0), {"CVE-2024-3400": "2024-04-12"})
    known = await visitor.open("/ioc/cve/CVE-2024-3400")
    assert known.status == 404 and "in CISA's KEV since 2024-04-12" in known.text


async def test_an_empty_store_says_so_instead_of_searching_it(api: Running, visitor: Reader) -> None:
    for path in ("/search", "/articles"):
        assert "Nothing is stored yet" in (await visitor.open(path)).text, path
    await api.publish("report", "domain evil.example")
    assert "No matches." in (await visitor.open("/search?q=other")).text
    assert "No matches." in (await visitor.open("/articles?q=other")).text


@each(
    "path",
    [
        "/ioc/domain/..%2F..%2Fetc%2Fpasswd",
        "/ioc/ip/%00",
        "/ioc/phone/123",
        "/ioc/url/javascript%3Aalert(1)",
        "/ioc/domain/%3Cscript%3Ewindow.xss%3D1%3C%2Fscript%3E",
        "/ioc/domain/%ff%fe",
        "/ioc/domain/" + "a" * 5000,
        "/ioc//",
        "/ioc/domain/",
        "/ioc/ip/%E2%80%AE1.2.3.4",
    ],
)
async def test_tricks_in_the_path_end_at_a_plain_404(visitor: Reader, path: str) -> None:
    page = await visitor.open(path)
    assert page.status == 404
    assert not page.tree.xpath("//main//script")
    assert "\u202e" not in page.answer.text


async def test_one_indicator_is_exported(api: Running, visitor: Reader) -> None:
    await api.publish("report", "domain evil.example")
    page = await visitor.open("/ioc/domain/evil.example")
    assert (await visitor.open(page.links()["Plain list"])).answer.text == "evil.example\n"


async def test_what_stands_near_an_indicator_is_one_click_away(api: Running, visitor: Reader) -> None:
    await api.publish(
        "report", "domain evil.example", "url http://www.evil.example/gate.php", "email a@evil.example",
        "ip 192.0.2.9", "ip 192.0.2.200", "url http://192.0.2.9/a", "mitre_attack T1566", "mitre_attack T1566.001",
    )  # fmt: skip

    async def near(path: str) -> dict[str, str]:
        return (await visitor.open(path)).links("//ul[@class='near']")

    host = await near("/ioc/domain/evil.example")
    assert host == {"URL 1": "/search?q=evil.example&type=url", "E-mail 1": "/search?q=evil.example&type=email"}
    assert len((await visitor.open(host["URL 1"])).tree.xpath("//tr[@data-hit]")) == 1
    assert await near(f"/ioc/url/{quote('http://www.evil.example/gate.php', safe='')}") == {
        "evil[.]example": "/ioc/domain/evil.example"
    }
    assert await near("/ioc/ip/192.0.2.9") == {
        "URL 1": "/search?q=192.0.2.9&type=url",
        "1 other known address in 192.0.2.0/24": "/search?q=192.0.2.0/24",
    }
    assert await near("/ioc/mitre_attack/T1566") == {"T1566.001": "/ioc/mitre_attack/T1566.001"}
    assert await near("/ioc/mitre_attack/T1566.001") == {"T1566": "/ioc/mitre_attack/T1566"}


async def test_many_mentions_are_folded_behind_the_newest(api: Running, visitor: Reader) -> None:
    for number in range(12):
        await api.publish(f"report {number}", "domain evil.example", at=number, title=f"Report {number}")
    page = await visitor.open("/ioc/domain/evil.example")
    assert [*page.links("//details[summary='Show 2 more']")] == ["Report 1", "Report 0"]
    assert "Report 11" in page.links("//main//section[@aria-labelledby='articles']/ol")


async def test_techniques_are_shown_with_their_names_and_families_lead_to_what_is_theirs(
    api: Running, visitor: Reader
) -> None:
    await api.publish("report", "mitre_attack T1566.001", "malware Emotet")
    assert "Spearphishing Attachment" in (await visitor.open("/ioc/mitre_attack/T1566.001")).text
    assert "Spearphishing Attachment" in (await visitor.open("/search")).text
    family = await visitor.open("/ioc/malware/Emotet")
    assert family.links()["Associated indicators"] == "/search?malware=Emotet"


async def test_a_familys_page_covers_its_other_names_and_is_found_by_each(api: Running, visitor: Reader) -> None:
    near = [Sighting("domain", "a.example", "", ("Geodo",)), Sighting("domain", "b.example", "", ("Emotet",))]
    await api.publish("report", "malware Geodo", *near)
    page = await visitor.open("/ioc/malware/Geodo")
    assert "Also called: " in page.text and "Emotet" in page.text
    assert page.links()["Domain 2"] == "/search?malware=Geodo&type=domain"
    assert (await visitor.open("/ioc/malware/Emotet")).path == "/ioc/malware/Geodo"
    assert (await visitor.open("/ioc/malware/Qilin")).status == 404


async def test_a_familys_page_tells_aliases_weeks_and_what_is_named_with_it(api: Running, visitor: Reader) -> None:
    beside = [("domain", "evil.example"), ("cve", "CVE-2024-3400"), ("mitre_attack", "T1059.001")]
    near = [Sighting(type, value, "Emotet came so.", ("Emotet",)) for type, value in beside]
    await api.publish("report", "malware Emotet", *near, "domain other.example", source="First Blog", at=0)
    page = await visitor.open("/ioc/malware/Emotet")
    assert "Also called: " in page.text and "Geodo" in page.text
    links = page.links()
    assert links["Domain 1"] == "/search?malware=Emotet&type=domain"
    assert any(link == "/sources/First%20Blog" for link in links.values()), sorted(links)
    assert "Associated techniques" in page.text and "T1059.001 PowerShell" in page.text
    assert "Associated vulnerabilities" in page.text and "CVE-2024-3400" in links
    assert "other.example" not in (await visitor.open(links["2026-W47"])).text
    assert "/search?since=2026-11-16" in (await visitor.open("/")).links("//*[@aria-labelledby='weeks']")["2026-W47"]
