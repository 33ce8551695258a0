"""Notes on pages: shown as text to who is signed in, written and removed by a form without JavaScript."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.api.running import Running
from tests.api.web.reading import Page, Reader
from tests.contract.store.builders import make_article

IOC = "/ioc/domain/evil.example"


def notes(page: Page) -> list[str]:
    return [one.text_content() for one in page.tree.xpath("//section[@class='noted']//p[@class='written']")]


@pytest.mark.slow
@pytest.mark.promise("notes.who", "notes.seen")
async def test_a_member_writes_and_removes_notes_that_strangers_do_not_see(
    api: Running, visitor: Reader, member: Reader
) -> None:
    await api.publish("one", "domain evil.example")
    text = "<script>alert(1)</script>\nSeen in our proxy log."
    for path in (IOC, f"/articles/{make_article('one').id}"):
        page = await member.submit(await member.open(path), f"{path}#notes", note_text=text)
        assert notes(page) == [text]
        assert page.tree.xpath("//a[@href='#notes']/text()") == ["1 note"]
        (id,) = page.tree.xpath("//button[@name='remove_note']/@value")
        refused = await member.submit(page, f"{path}#notes", note_text="x" * 2_001)
        assert refused.status == 422
        assert "A note must have 1 to 2,000 characters." in refused.text
        assert refused.tree.xpath("//textarea[@name='note_text']")[0].text_content().strip() == "x" * 2_001
        strangers = await visitor.open(path)
        assert (notes(strangers), "proxy log" in strangers.text) == ([], False)
        assert notes(await member.submit(page, path, remove_note=id)) == []


async def test_a_reader_sees_notes_and_has_no_form(api: Running, member: Reader) -> None:
    await api.publish("one", "domain evil.example")
    page = await member.submit(await member.open(IOC), f"{IOC}#notes", note_text="Seen.")
    (account,) = await api.store.accounts.all()
    await api.store.accounts.update(replace(account, role="reader"))
    shown = await member.open(IOC)
    assert (notes(shown), shown.tree.xpath("//*[@name='note_text' or @name='remove_note']")) == (["Seen."], [])
    assert (await member.submit(page, f"{IOC}#notes", note_text="more")).status == 403
