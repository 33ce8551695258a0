from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.api.running import GENEROUS, Running, running
from tests.api.web.reading import Page, Reader, reading
from tests.cases import each

KEYS = "/settings/api-keys"
KEY = re.compile(r"ioc_[A-Za-z0-9]+_[A-Za-z0-9_\-]{16,}")


async def generate(reader: Reader, name: str = "laptop") -> Page:
    return await reader.submit(await reader.open(KEYS), KEYS, name=name)


def key_on(page: Page) -> str:
    shown = set(KEY.findall(page.answer.text))
    assert len(shown) == 1
    return str(shown.pop())


async def works(api: Running, key: str) -> bool:
    return (await api.get("/usage", {"Authorization": f"Bearer {key}"})).status_code == 200


@pytest.mark.promise("accounts.pages")
@pytest.mark.promise("keys.shown-once", "accounts.pages")
async def test_a_generated_key_works_and_is_shown_once(api: Running, member: Reader) -> None:
    page = await generate(member)
    assert page.answer.headers["cache-control"] == "no-store"
    assert await works(api, key_on(page))
    again = await member.open(KEYS)
    assert not KEY.search(again.answer.text)
    assert "laptop" in again.text and "1 of 5" in again.text


async def test_the_new_key_comes_with_a_command_and_an_mcp_entry_for_this_address(member: Reader) -> None:
    page = await generate(member)
    key, text = key_on(page), page.text
    assert f"curl -H 'Authorization: Bearer {key}' 'http://ioc.example/api/v1/iocs?limit=5'" in text
    assert f'"SERVICE_API_KEY": "{key}", "SERVICE_BASE_URL": "http://ioc.example"' in text


async def test_the_public_address_is_told_where_one_is_set(tmp_path: Path) -> None:
    async with running(tmp_path, ioc_base_url="http://public.example", **GENEROUS) as api, reading(api.app) as reader:
        await reader.sign_up()
        assert '"SERVICE_BASE_URL": "http://public.example"' in (await generate(reader)).text


@pytest.mark.promise("limits.account.five-keys")
async def test_the_sixth_key_is_refused_with_a_sentence(member: Reader) -> None:
    for number in range(5):
        assert (await generate(member, f"key {number}")).status == 200
    page = await generate(member, "one too many")
    assert page.status == 409
    assert "at most 5" in page.text and "key 3" in page.text
    assert not KEY.search(page.answer.text)


async def test_a_revoked_key_is_refused_at_once_and_makes_room(api: Running, member: Reader) -> None:
    key = key_on(await generate(member))
    page = await member.open(KEYS)
    page = await member.submit(page, f"{KEYS}/revoke")
    assert page.path == KEYS and "0 of 5" in page.text
    assert not await works(api, key)
    assert await works(api, key_on(await generate(member)))


async def test_an_old_form_revokes_no_newer_key_in_the_same_place(api: Running, member: Reader) -> None:
    await generate(member)
    old = await member.open(KEYS)
    await member.submit(old, f"{KEYS}/revoke")
    newer = key_on(await generate(member))
    await member.submit(old, f"{KEYS}/revoke")
    assert await works(api, newer)


async def test_nobody_revokes_a_key_of_another_account(api: Running, member: Reader, visitor: Reader) -> None:
    key = key_on(await generate(member))
    handle = (await member.open(KEYS)).fields(f"{KEYS}/revoke")["key"]
    await visitor.sign_up("other@example.org")
    token = (await visitor.open(KEYS)).fields("/signout")
    await visitor.post(f"{KEYS}/revoke", token | {"key": handle})
    assert await works(api, key)


@each("name", ["", "   ", "x" * 81, "a\nb", "turned \u202e round"])
async def test_a_key_needs_a_proper_name(member: Reader, name: str) -> None:
    page = await generate(member, name)
    assert page.status == 422 and "Give the key a name" in page.text


@pytest.mark.promise("keys.scopes", "keys.expiry")
async def test_a_key_is_made_for_some_scopes_and_for_some_time(api: Running, member: Reader) -> None:
    form = {"name": "SIEM", "scopes": "read export", "expires_in_days": "30"}
    key = key_on(await member.submit(await member.open(KEYS), KEYS, **form))
    told = (await api.get("/usage", {"Authorization": f"Bearer {key}"})).json()
    assert told["scopes"] == ["read", "export"] and told["expires_at"].startswith("2026-12-20T")
    assert "may read, export" in (await member.open(KEYS)).text
    api.clock.forward(31 * 86_400)
    await member.sign_in()
    page = await member.open(KEYS)
    assert "expired" in page.text and "0 of 5" in page.text
    for wrong in ({"scopes": "write"}, {"expires_in_days": "0"}, {"expires_in_days": "many"}):
        assert (await member.submit(page, KEYS, **(form | wrong))).status == 422


async def test_a_key_is_never_the_session(api: Running, member: Reader) -> None:
    """A key opens no page, and a session opens no keyed path of the API."""
    key = key_on(await generate(member))
    async with reading(api.app) as program:
        program.client.headers["Authorization"] = f"Bearer {key}"
        assert not await program.is_signed_in()
    assert (await member.client.get("/api/v1/usage")).status_code == 401


async def test_a_host_name_that_is_none_is_not_repeated(member: Reader) -> None:
    page = await member.client.get("/help", headers={"host": "evil.example'; rm -rf"})
    assert "rm -rf" not in page.text
