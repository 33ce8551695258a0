from __future__ import annotations

import pytest

from tests.api.running import Running
from tests.api.web.reading import EMAIL, PASSWORD, Reader, reading

NEW = "a longer and better password 3"


async def change(reader: Reader, current: str, new: str) -> tuple[int, str]:
    page = await reader.open("/settings")
    page = await reader.submit(page, "/settings/password", current_password=current, new_password=new)
    return page.status, page.text


async def test_a_new_password_ends_every_other_session(api: Running, member: Reader) -> None:
    async with reading(api.app, "203.0.113.1") as elsewhere:
        await elsewhere.sign_in()
        status, text = await change(member, PASSWORD, NEW)
        assert status == 200 and "The password is changed" in text
        assert await member.is_signed_in()
        assert not await elsewhere.is_signed_in()
        assert (await elsewhere.sign_in()).status == 401
        assert (await elsewhere.sign_in(EMAIL, NEW)).status == 200


@pytest.mark.promise("accounts.password-reset")
async def test_a_new_password_revokes_the_api_keys_where_that_stays_ticked(api: Running, member: Reader) -> None:
    key = await api.key(EMAIL)
    form = (await member.open("/settings")).tree.xpath("//form[@action='/settings/password']")[0]
    assert form.xpath(".//input[@name='revoke_keys'][@checked]")
    assert (await change(member, PASSWORD, NEW))[0] == 200
    assert (await api.get("/usage", key)).status_code == 200
    page = await member.open("/settings")
    ticked = {"current_password": NEW, "new_password": PASSWORD, "revoke_keys": "yes"}
    page = await member.submit(page, "/settings/password", **ticked)
    assert "your API keys and feed addresses are revoked" in page.text
    assert (await api.get("/usage", key)).status_code == 401


async def test_changing_the_password_needs_the_current_one(member: Reader) -> None:
    status, text = await change(member, "not the current one", NEW)
    assert status == 422 and "not your current password" in text


async def test_a_weak_new_password_is_refused(member: Reader) -> None:
    status, text = await change(member, PASSWORD, "aaaaaaaaaaaaaaaa")
    assert status == 422 and "The new password must not be easy to guess" in text
    await member.sign_out()
    assert (await member.sign_in()).status == 200


async def test_tries_at_the_current_password_are_counted(member: Reader) -> None:
    tries = [(await change(member, f"guess number {n}", NEW))[0] for n in range(11)]
    assert tries[-1] == 429


async def test_one_session_is_ended_from_another(api: Running, member: Reader) -> None:
    async with reading(api.app, "203.0.113.1") as elsewhere:
        await elsewhere.sign_in()
        page = await member.open("/settings")
        assert page.text.count("last used") == 2
        await member.submit(page, "/settings/sessions")
        assert not await elsewhere.is_signed_in()
        assert await member.is_signed_in()


async def test_nobody_ends_the_session_of_another_account(api: Running, member: Reader, visitor: Reader) -> None:
    await visitor.sign_up("other@example.org")
    account = next(a for a in await api.store.accounts.all() if a.email == EMAIL)
    session, *_ = await api.store.accounts.sessions(account.id)
    token = (await visitor.open("/settings")).fields("/signout")
    await visitor.post("/settings/sessions", token | {"session": session.id})
    assert await member.is_signed_in()


async def test_the_colours_stay_as_chosen(visitor: Reader) -> None:
    page = await visitor.open("/search?q=evil")
    assert page.tree.get("data-theme") is None
    page = await visitor.submit(page, "/theme", theme="dark")
    assert page.path == "/search?q=evil" and page.tree.get("data-theme") == "dark"
    page = await visitor.submit(page, "/theme", theme="auto")
    assert page.tree.get("data-theme") is None
