"""Calling an indicator a false positive on its page."""

from __future__ import annotations

import pytest

from tests.api.running import Running
from tests.api.web.reading import Reader, reading

PATH = "/ioc/domain/relay.example"


@pytest.mark.promise("votes.one-each", "votes.shown")
async def test_a_member_votes_changes_and_withdraws(api: Running, member: Reader, visitor: Reader) -> None:
    await api.publish("one", "domain relay.example")
    page = await member.open(PATH)
    assert "No reports yet" in page.text
    page = await member.submit(page, PATH, note="our <b>own</b> relay", vote="put")
    assert (page.status, page.path) == (200, PATH)
    assert "Reported by 1 user" in page.text and "our <b>own</b> relay" in page.text and "(yours)" in page.text
    page = await member.submit(page, PATH, note="of Oslo", vote="put")
    assert "our <b>own</b> relay" not in page.text and "of Oslo" in page.text
    seen = await visitor.open(PATH)
    assert "reported as a false positive by 1 user" in seen.text and "(yours)" not in seen.text
    assert "FP 1" in (await visitor.open("/search?q=relay")).text
    page = await member.submit(page, PATH, vote="withdraw")
    assert "No reports yet" in page.text


async def test_a_visitor_is_asked_to_sign_in(api: Running, visitor: Reader) -> None:
    await api.publish("one", "domain relay.example")
    page = await visitor.open(PATH)
    assert not page.tree.xpath("//main//form[@method='post']")
    assert (await visitor.post(PATH, {"vote": "put"})).path.startswith("/signin")
    assert "No reports yet" in (await visitor.open(PATH)).text


async def test_a_form_from_elsewhere_or_without_its_token_is_no_vote(api: Running, member: Reader) -> None:
    await api.publish("one", "domain relay.example")
    token = (await member.open(PATH)).fields(PATH)
    assert (await member.post(PATH, {"vote": "put"})).status == 403
    elsewhere = await member.post(PATH, token | {"vote": "put"}, origin="http://evil.test", sec_fetch_site="cross-site")
    assert elsewhere.status == 403
    assert "No reports yet" in (await member.open(PATH)).text


async def test_a_note_that_is_too_long_is_told_so_and_kept_in_the_field(api: Running, member: Reader) -> None:
    await api.publish("one", "domain relay.example")
    page = await member.submit(await member.open(PATH), PATH, note="x" * 501, vote="put")
    assert page.status == 422
    assert "at most 500 characters" in page.text
    assert page.tree.xpath("//input[@name='note']/@value") == ["x" * 501]
    assert (await member.submit(page, PATH, note="a\x00b", vote="put")).status == 422


async def test_nobody_votes_on_what_is_not_stored(api: Running, member: Reader) -> None:
    await api.publish("one", "domain relay.example")
    token = (await member.open(PATH)).fields(PATH)
    for path in ("/ioc/domain/other.example", "/ioc/phone/1", "/ioc/domain/%00"):
        assert (await member.post(path, token | {"vote": "put"})).status == 404


async def test_two_members_are_two_votes(api: Running, member: Reader) -> None:
    await api.publish("one", "domain relay.example")
    await member.submit(await member.open(PATH), PATH, vote="put", note="")
    async with reading(api.app) as other:
        await other.sign_up("other@example.org")
        page = await other.submit(await other.open(PATH), PATH, vote="put", note="me too")
        assert "Reported by 2 users" in page.text
