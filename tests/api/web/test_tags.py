"""Tags on pages: shown as data, added and removed by a form without JavaScript."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.api.running import Running
from tests.api.web.reading import Page, Reader
from tests.contract.store.builders import make_article

IOC = "/ioc/domain/evil.example"


def tags(page: Page) -> dict[str, str]:
    """The tags on a page, each with the address of the list of what has it."""
    return {a.text_content(): a.get("href") for a in page.tree.xpath("//section[@class='tagged']//li/a")}


@pytest.mark.slow
@pytest.mark.promise("tags.who")
async def test_a_member_adds_and_removes_tags(api: Running, visitor: Reader, member: Reader) -> None:
    await api.publish("one", "domain evil.example", "domain other.example")
    article = f"/articles/{make_article('one').id}"
    for path, listed in ((IOC, "/search"), (article, "/articles")):
        page = await member.submit(await member.open(path), path, tags=" C2, campaign:kestrel/2 ")
        assert tags(page) == {"c2": f"{listed}?tag=c2", "campaign:kestrel/2": f"{listed}?tag=campaign%3Akestrel/2"}
        page = await member.submit(page, path, remove_tag="c2", tags="")
        assert list(tags(page)) == ["campaign:kestrel/2"]
        refused = await member.submit(page, path, tags="<script>alert(1)</script>")
        assert refused.status == 422
        assert "A tag has 1 to 64 letters" in refused.text
        assert refused.tree.xpath("//input[@name='tags']/@value") == ["<script>alert(1)</script>"]
        assert list(tags(await visitor.open(path))) == ["campaign:kestrel/2"]
    page = await visitor.open("/search?tag=campaign:kestrel/2")
    assert "evil[.]example" in page.text and "other[.]example" not in page.text
    assert page.tree.xpath("//nav[@aria-label='Tags']//a[@aria-current]/bdi/text()") == ["campaign:kestrel/2"]
    assert "A loader report" in (await visitor.open("/articles?tag=campaign:kestrel/2")).text
    assert "No matches" in (await visitor.open("/articles?tag=c2")).text


async def test_a_reader_sees_tags_and_has_no_form(api: Running, member: Reader) -> None:
    await api.publish("one", "domain evil.example")
    page = await member.submit(await member.open(IOC), IOC, tags="c2")
    (account,) = await api.store.accounts.all()
    await api.store.accounts.update(replace(account, role="reader"))
    shown = await member.open(IOC)
    assert (list(tags(shown)), shown.tree.xpath("//input[@name='tags']")) == (["c2"], [])
    assert (await member.submit(page, IOC, tags="more")).status == 403
