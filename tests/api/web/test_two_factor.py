from __future__ import annotations

import base64
import re
from datetime import datetime

import pytest
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

from intel.ids import account_id
from tests.api.running import Running
from tests.api.web.reading import EMAIL, Page, Reader, reading

HERE, CODE = "/settings/two-factor", "/signin/code"


def code_at(typed: str, moment: datetime) -> str:
    """What an authenticator app with that key shows."""
    app = TOTP(base64.b32decode(typed), 6, SHA1(), 30)  # noqa: S303 - as these apps do
    return app.generate(int(moment.timestamp())).decode()


async def turn_on(api: Running, member: Reader) -> tuple[str, list[str]]:
    """Turns codes on; the key as typed into the app, and the recovery codes."""
    page = await member.open(HERE)
    (typed,) = page.tree.xpath("//p[@class='secret']/code/text()")
    on = await member.submit(page, HERE, code=code_at(typed, api.clock.now))
    assert on.status == 200, on.text
    return typed, list(on.tree.xpath("//ul[@class='codes']//code/text()"))


async def sign_in_with(reader: Reader, code: str) -> Page:
    asked = await reader.sign_in()
    assert asked.heading == "Your code" and not await reader.is_signed_in()
    return await reader.submit(asked, CODE, code=code)


@pytest.mark.promise("accounts.two-factor")
async def test_signing_in_takes_a_code_that_passes_once(api: Running, member: Reader, visitor: Reader) -> None:
    typed, _ = await turn_on(api, member)
    assert await member.is_signed_in()
    used = code_at(typed, api.clock.now)
    assert (await sign_in_with(visitor, used)).status == 401, "the code that turned them on was used"
    api.clock.forward(30)
    code = code_at(typed, api.clock.now)
    assert (await sign_in_with(visitor, code)).status == 200
    assert await visitor.is_signed_in()
    async with reading(api.app, "198.51.100.9") as thief:
        assert (await sign_in_with(thief, code)).status == 401
        assert not await thief.is_signed_in()
        for wrong in ("", "000000", "12345", "a" * 40, "１２３４５６", "é"):
            assert (await sign_in_with(thief, wrong)).status == 401
    api.clock.forward(600)
    await visitor.sign_out()
    assert (await sign_in_with(visitor, code)).status == 401


@pytest.mark.promise("accounts.two-factor")
async def test_a_recovery_code_signs_in_once(api: Running, member: Reader, visitor: Reader) -> None:
    _, codes = await turn_on(api, member)
    assert len(set(codes)) == 10
    assert (await sign_in_with(visitor, codes[0].upper())).status == 200
    assert "9 recovery codes left" in (await visitor.open(HERE)).text
    async with reading(api.app, "198.51.100.9") as thief:
        assert (await sign_in_with(thief, codes[0])).status == 401


@pytest.mark.promise("accounts.two-factor")
async def test_the_secret_is_shown_once_and_kept_sealed(api: Running, member: Reader) -> None:
    typed, codes = await turn_on(api, member)
    kept = await api.store.accounts.get(account_id(EMAIL))
    raw = base64.b32decode(typed)
    for secret in (typed, raw.hex(), base64.b64encode(raw).decode(), *codes, *(c.replace("-", "") for c in codes)):
        assert secret not in repr(kept)
    page = await member.open(HERE)
    assert typed not in page.answer.text and not any(code in page.answer.text for code in codes)
    assert "account.two_factor_on" in {one.action for one in await api.store.audit.newest(5)}


@pytest.mark.promise("accounts.two-factor")
async def test_a_wrong_code_turns_nothing_on_or_off_and_other_sessions_end(
    api: Running, member: Reader, visitor: Reader
) -> None:
    await visitor.sign_in()
    page = await member.open(HERE)
    picture = page.tree.xpath("//figure[@role='img']//*[local-name()='svg']")
    assert len(picture) == 1
    wrong = await member.submit(page, HERE, code="000000")
    assert wrong.status == 422 and "not right" in wrong.text
    again = wrong.tree.xpath("//p[@class='secret']/code/text()")
    assert again == page.tree.xpath("//p[@class='secret']/code/text()"), "the app need not be set up anew"
    assert not (await member.submit(page, HERE, pending="forged", code="000000")).tree.xpath("//ul[@class='codes']")
    typed, _ = await turn_on(api, member)
    assert not await visitor.is_signed_in()
    assert (await member.submit(await member.open(HERE), HERE, code="000000")).status == 422
    api.clock.forward(30)
    off = await member.submit(await member.open(HERE), HERE, code=code_at(typed, api.clock.now))
    assert "are off" in off.text
    assert (await visitor.sign_in()).status == 200 and await visitor.is_signed_in()


@pytest.mark.promise("accounts.two-factor")
async def test_codes_are_rate_limited_and_tickets_end(api: Running, member: Reader, visitor: Reader) -> None:
    typed, _ = await turn_on(api, member)
    asked = await visitor.sign_in()
    assert [(await visitor.submit(asked, CODE, code="000000")).status for _ in range(11)] == [401] * 10 + [429]
    api.clock.forward(30)
    # A browser that signed in before is not held up by others' wrong codes.
    await member.sign_out()
    assert (await member.submit(await member.sign_in(), CODE, code=code_at(typed, api.clock.now))).status == 200
    await member.sign_out()
    asked = await member.sign_in()
    api.clock.forward(301)
    assert (await member.submit(asked, CODE, code=code_at(typed, api.clock.now))).heading == "Sign in"
    forged = {"ticket": re.sub(r"^.{4}", "AAAA", asked.fields(CODE)["ticket"]), "next": "/"}
    assert (await visitor.post(CODE, forged | {"code": "1"})).path == "/signin"
