from __future__ import annotations

from api.web.pages.bulk import read
from tests.api.running import Running
from tests.api.web.reading import Page, Reader


async def look_up(reader: Reader, values: str, **more: str) -> Page:
    return await reader.submit(await reader.open("/bulk"), "/bulk", values=values, **more)


async def test_a_pasted_list_is_told_apart_into_known_and_unknown(api: Running, member: Reader) -> None:
    await api.publish("report", "domain evil.example", "malware Cobalt Strike")
    page = await look_up(member, "hxxp://never[.]example/x\nevil[.]example\n\nCobalt Strike\n")
    assert "2 of 3 known" in page.text
    assert page.links()["evil[.]example"] == "/ioc/domain/evil.example"
    rows = [[" ".join(cell.text_content().split()) for cell in row] for row in page.tree.xpath("//tbody/tr")]
    assert rows[0] == ["hxxp://never[.]example/x", "not found", "0", "", ""]


async def test_the_indicators_of_a_pasted_text_are_picked_out(api: Running, member: Reader) -> None:
    await api.publish("report", "domain evil.example", "cve CVE-2024-3400")
    page = await look_up(member, "They say that evil[.]example was hit through CVE-2024-3400 last night.")
    assert "2 of 2 known" in page.text


async def test_beyond_fifty_values_the_rest_is_left_out_and_said(member: Reader) -> None:
    page = await look_up(member, "\n".join(f"host{n}.example" for n in range(60)))
    assert "0 of 50 known; 10 values beyond the first 50 left out" in page.text


async def test_what_was_found_is_exported(api: Running, member: Reader) -> None:
    await api.publish("report", "domain evil.example")
    page = await look_up(member, "evil.example\nnever.example", format="txt")
    assert page.answer.text == "evil.example\n"


async def test_a_visitor_is_asked_to_sign_in(visitor: Reader) -> None:
    assert "sign in" in (await visitor.open("/bulk")).links()
    assert (await visitor.post("/bulk", {"values": "evil.example"})).heading == "Sign in"


async def test_hostile_input_is_shown_as_text(member: Reader) -> None:
    page = await look_up(member, "</textarea><script>window.xss=1</script>\nhttp://evil.example/<svg/onload=alert(1)>")
    assert page.status == 200
    assert not page.tree.xpath("//main//script | //main//*[local-name()='svg'] | //@onload")


def test_commas_and_semicolons_part_values_too() -> None:
    assert [each.written for each in read("evil.example, 192.0.2.1; evil.example")] == ["evil.example", "192.0.2.1"]


async def test_a_pasted_name_that_only_a_text_coined_is_found(api: Running, member: Reader) -> None:
    await api.publish("one", "malware QuietHarbor", "domain evil.example")
    page = await look_up(member, "quietharbor\nevil.example\n")
    assert "2 of 2 known" in page.text
