"""The TLP of an article and the trust of a source, set on pages by administrators."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.api.running import Running
from tests.api.web.reading import Reader
from tests.contract.store.builders import make_article


@pytest.mark.slow
@pytest.mark.promise("tlp.said")
async def test_an_administrator_sets_the_tlp_on_the_page(api: Running, member: Reader) -> None:
    await api.publish("one", "domain evil.example")
    path = f"/articles/{make_article('one').id}"
    page = await member.submit(await member.open(path), path, tlp="green")
    assert page.tree.xpath("//a[@class='tlp is-green']/text()") == ["TLP:GREEN"]
    assert page.tree.xpath("//select[@name='tlp']/option[@selected]/@value") == ["green"]
    assert not (await member.submit(page, path, tlp="")).tree.xpath("//a[starts-with(@class, 'tlp')]")
    (account,) = await api.store.accounts.all()
    await api.store.accounts.update(replace(account, role="submitter"))
    assert (await member.submit(page, path, tlp="clear")).status == 403
    assert not (await member.open(path)).tree.xpath("//select[@name='tlp']")


@pytest.mark.promise("trust.who")
async def test_an_administrator_sets_the_trust_on_the_page_of_a_source(
    api: Running, visitor: Reader, member: Reader
) -> None:
    await api.publish("one", "domain evil.example", source="Agency")
    path = "/sources/Agency"
    page = await member.submit(await member.open(path), path, trust=" 80 ")
    assert page.tree.xpath("//dt[text()='trust']/following-sibling::dd/text()")[0] == "80"
    refused = await member.submit(page, path, trust="<b>")
    assert refused.status == 422 and "whole number from 0 to 100" in refused.text
    assert refused.tree.xpath("//input[@name='trust']/@value") == ["<b>"]
    shown = await visitor.open(path)
    assert not shown.tree.xpath("//input[@name='trust']")
    record = await visitor.open("/ioc/domain/evil.example")
    assert "its most trusted source has a trust of 80 of 100" in record.text
    (account,) = await api.store.accounts.all()
    await api.store.accounts.update(replace(account, role="submitter"))
    assert (await member.submit(page, path, trust="10")).status == 403
    assert await api.store.trusts.all() == {"Agency": 80}
