from __future__ import annotations

import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from intel.ids import account_id
from tests.api.running import GENEROUS, Running, running
from tests.api.web.reading import EMAIL, PASSWORD, Reader, reading
from tests.cases import each


@pytest.mark.promise("accounts.pages")
async def test_signing_up_leads_to_the_api_keys(visitor: Reader) -> None:
    page = await visitor.sign_up()
    assert (page.status, page.path, page.heading) == (200, "/settings/api-keys", "API Keys")


@pytest.mark.promise("accounts.pages")
@pytest.mark.promise("accounts.pages")
async def test_who_signed_out_signs_in_again(visitor: Reader) -> None:
    await visitor.sign_up()
    await visitor.sign_out()
    assert not await visitor.is_signed_in()
    await visitor.sign_in()
    assert await visitor.is_signed_in()


async def test_after_signing_in_one_is_where_one_wanted_to_go(visitor: Reader) -> None:
    await visitor.sign_up()
    await visitor.sign_out()
    page = await visitor.open("/settings/api-keys")
    assert page.heading == "Sign in"
    page = await visitor.submit(page, "/signin", email=EMAIL, password=PASSWORD)
    assert page.path == "/settings/api-keys"


@pytest.mark.parametrize("path", ["/search?q=a%20b&type=ip", "/ioc/url/http%3A%2F%2Fevil.example%2Fx%3Fy%3D1%23z"])
async def test_the_sign_in_link_leads_back_to_the_page_it_stood_on(visitor: Reader, path: str) -> None:
    await visitor.sign_up()
    await visitor.sign_out()
    page = await visitor.open(path)
    page = await visitor.open(page.links("//header")["Sign in"])
    page = await visitor.submit(page, "/signin", email=EMAIL, password=PASSWORD)
    assert page.path == path


@each(
    "elsewhere",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example",
        "\\\\evil.example",
        "javascript:alert(1)",
        "/\t/evil.example",
        "evil.example",
        "/%0d%0aLocation:",
        "http:evil.example",
        "",
    ],
)
async def test_signing_in_sends_nobody_elsewhere(member: Reader, elsewhere: str) -> None:
    await member.sign_out()
    fields = {"next": elsewhere, "email": EMAIL, "password": PASSWORD}
    answer = await member.client.post("/signin", data=fields)
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/")
    assert not answer.headers["location"].startswith(("//", "/\\"))


async def test_an_unknown_address_and_a_wrong_password_are_told_the_same(api: Running, visitor: Reader) -> None:
    await visitor.sign_up("known@example.org")
    await visitor.sign_out()
    unknown = await visitor.sign_in("never@example.org", "not the right password")
    wrong = await visitor.sign_in("known@example.org", "not the right password")
    assert unknown.status == wrong.status == 401
    assert unknown.answer.text.replace("never@", "known@") == wrong.answer.text


async def test_a_new_session_begins_with_each_sign_in_and_the_one_before_ends(api: Running, member: Reader) -> None:
    before = member.client.cookies["ioc_session"]
    await member.sign_out()
    await member.sign_in()
    first = member.client.cookies["ioc_session"]
    await member.post("/signin", {"email": EMAIL, "password": PASSWORD})
    assert len({before, first, member.client.cookies["ioc_session"]}) == 3
    async with reading(api.app) as thief:
        for stale in (before, first):
            thief.client.cookies.set("ioc_session", stale)
            assert not await thief.is_signed_in()


async def test_a_session_that_somebody_planted_is_not_taken_over(api: Running, visitor: Reader) -> None:
    planted = "A" * 43
    visitor.client.cookies.set("ioc_session", planted, domain="ioc.example", path="/")
    await visitor.sign_up()
    async with reading(api.app) as attacker:
        attacker.client.cookies.set("ioc_session", planted)
        assert not await attacker.is_signed_in()


async def test_signing_out_ends_the_session_on_the_server(api: Running, member: Reader) -> None:
    secret = member.client.cookies["ioc_session"]
    await member.sign_out()
    async with reading(api.app) as thief:
        thief.client.cookies.set("ioc_session", secret)
        assert not await thief.is_signed_in()


async def test_the_session_cookie_is_out_of_reach_of_scripts_and_other_sites(visitor: Reader) -> None:
    fields = {"email": EMAIL, "password": PASSWORD}
    cookie = (await visitor.client.post("/signup", data=fields)).headers["set-cookie"]
    assert cookie.startswith("ioc_session=")
    assert {"httponly", "samesite=lax", "path=/"} <= set(cookie.lower().split("; "))


async def test_behind_https_the_cookie_is_bound_to_the_host(tmp_path: Path) -> None:
    async with running(tmp_path, ioc_base_url="https://ioc.example") as api, reading(api.app) as visitor:
        answer = await visitor.client.post("/signup", data={"email": EMAIL, "password": PASSWORD})
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith("__Host-ioc_session=")
        assert {"secure", "path=/"} <= set(cookie.lower().split("; "))
        assert "domain" not in cookie.lower()


async def test_a_session_ends_after_twelve_hours_without_use(api: Running, member: Reader) -> None:
    api.clock.forward(timedelta(hours=11, minutes=59).total_seconds())
    assert await member.is_signed_in()
    api.clock.forward(timedelta(hours=12, seconds=1).total_seconds())
    assert not await member.is_signed_in()


async def test_a_session_ends_after_seven_days_in_any_case(api: Running, member: Reader) -> None:
    for _ in range(16):
        api.clock.forward(timedelta(hours=10).total_seconds())
        assert await member.is_signed_in()
    api.clock.forward(timedelta(hours=9).total_seconds())
    assert not await member.is_signed_in()


async def test_disabling_an_account_ends_its_sessions(api: Running, member: Reader) -> None:
    account = await api.store.accounts.get(account_id(EMAIL))
    assert account is not None
    await api.store.accounts.update(replace(account, disabled_at=api.clock()))
    assert not await member.is_signed_in()
    assert (await member.sign_in()).status == 401


async def guesses(api: Running, address: str, count: int, email: str = EMAIL) -> list[int]:
    """The answers to that many wrong passwords from an address, each in a browser of its own."""
    statuses = []
    for number in range(count):
        async with reading(api.app, address) as guesser:
            statuses.append((await guesser.sign_in(email, f"wrong guess {number}")).status)
    return statuses


@pytest.mark.promise("accounts.no-lock-out")
async def test_a_network_takes_ten_wrong_passwords_of_an_account_in_five_minutes(api: Running, member: Reader) -> None:
    assert await guesses(api, "203.0.113.1", 5) + await guesses(api, "203.0.113.254", 5) == [401] * 10
    async with reading(api.app, "203.0.113.99") as guesser:
        refused = await guesser.sign_in()
    assert refused.status == 429
    assert 1 <= int(refused.answer.headers["retry-after"]) <= 30
    assert "Try again in" in refused.text


@pytest.mark.promise("accounts.no-lock-out")
async def test_others_guesses_do_not_keep_the_owner_out_of_any_other_network(api: Running, member: Reader) -> None:
    assert await guesses(api, "203.0.113.1", 11) == [401] * 10 + [429]
    async with reading(api.app, "192.0.2.1") as owner:
        assert (await owner.sign_in()).status == 200


@pytest.mark.promise("accounts.no-lock-out")
async def test_others_guesses_do_not_keep_a_known_browser_out_of_their_network(api: Running, visitor: Reader) -> None:
    await visitor.sign_up()
    await visitor.sign_out()
    assert (await guesses(api, "198.51.100.7", 11))[-1] == 429
    async with reading(api.app) as stranger:
        assert (await stranger.sign_in()).status == 429
    assert (await visitor.sign_in()).status == 200


@pytest.mark.promise("accounts.no-lock-out")
async def test_a_known_browser_guesses_no_more_than_ten_times_in_five_minutes(visitor: Reader) -> None:
    await visitor.sign_up()
    await visitor.sign_out()
    tries = [(await visitor.sign_in(password=f"wrong guess {n}")).status for n in range(11)]
    assert tries == [401] * 10 + [429]


@pytest.mark.slow
@pytest.mark.promise("accounts.no-lock-out")
async def test_the_right_password_pays_nothing(api: Running, member: Reader) -> None:
    for _ in range(40):
        async with reading(api.app, "192.0.2.1") as owner:
            assert (await owner.sign_in()).status == 200
    assert await guesses(api, "192.0.2.1", 11) == [401] * 10 + [429]


@pytest.mark.slow
@pytest.mark.promise("accounts.no-lock-out")
async def test_a_network_takes_thirty_wrong_passwords_in_five_minutes_at_whichever_accounts(api: Running) -> None:
    began, tries = time.monotonic(), 0
    while await guesses(api, "203.0.113.1", 1, f"somebody{tries}@example.org") == [401]:
        tries += 1
    assert 30 <= tries <= 30 + (time.monotonic() - began) / 10  # one comes back in ten seconds


@pytest.mark.slow
@pytest.mark.promise("accounts.no-lock-out")
async def test_an_account_under_attack_takes_three_strangers_passwords_an_hour_from_each_network(
    api: Running, member: Reader
) -> None:
    for number in range(6):
        assert await guesses(api, f"203.0.{number}.1", 10) == [401] * 10
    assert await guesses(api, "192.0.2.1", 4) == [401] * 3 + [429]
    async with reading(api.app, "2001:db8::1") as owner:
        assert (await owner.sign_in()).status == 200
    await member.sign_out()
    assert (await member.sign_in()).status == 200


@pytest.mark.promise("accounts.no-lock-out")
async def test_a_known_browser_of_one_account_is_a_stranger_to_others_and_after_a_new_password(api: Running) -> None:
    async with reading(api.app) as known, reading(api.app, "192.0.2.1") as other:
        await known.sign_up()
        await other.sign_up("other@example.org")
        cookie = known.client.cookies["ioc_device"]
        await other.sign_out()
        other.client.cookies.set("ioc_device", cookie, domain="ioc.example")
        assert await guesses(api, "192.0.2.1", 10, "other@example.org") == [401] * 10
        assert (await other.sign_in("other@example.org")).status == 429
        account = await api.store.accounts.get(account_id(EMAIL))
        assert account is not None
        await api.store.accounts.update(replace(account, session_epoch=account.session_epoch + 1))
        assert await guesses(api, "198.51.100.7", 10) == [401] * 10
        assert (await known.sign_in()).status == 429


async def test_the_cookie_of_a_known_browser_opens_nothing_and_is_out_of_reach_of_scripts(
    api: Running, visitor: Reader
) -> None:
    answer = await visitor.client.post("/signup", data={"email": EMAIL, "password": PASSWORD})
    (cookie,) = [one for one in answer.headers.get_list("set-cookie") if one.startswith("ioc_device=")]
    assert {"httponly", "samesite=lax", "path=/"} <= set(cookie.lower().split("; "))
    async with reading(api.app) as thief:
        for name in ("ioc_device", "ioc_session"):
            thief.client.cookies.set(name, visitor.client.cookies["ioc_device"])
        assert not await thief.is_signed_in()


@pytest.mark.promise("accounts.operator")
@each(
    "email",
    [
        "admin@localhost", "ADMIN@LocalHost", " admin@localhost ", "admin@localhost.", "admin@locaIhost".lower(),
        "admin@\uff4cocalhost", "admin@localho\u017ft", "admin@box", "admin@box.local", "admin@127.0.0.1",
        "admin@[127.0.0.1]", "admin@2130706433", "admin@host.localhost", "admin@box.lan", "admin@.", "admin@a..b",
    ],
)  # fmt: skip
async def test_nobody_signs_up_with_an_address_of_a_local_name(api: Running, visitor: Reader, email: str) -> None:
    page = await visitor.sign_up(email)
    assert (page.status, "public internet" in page.text or "must be an e-mail" in page.text) == (422, True)
    assert await api.store.accounts.all() == ()


async def test_twenty_accounts_an_hour_are_made_from_one_address(visitor: Reader) -> None:
    made = [(await visitor.post("/signup", {"email": "x", "password": "y"})).status for _ in range(21)]
    assert made == [422] * 20 + [429]


@pytest.mark.promise("settings.signup-closed")
@pytest.mark.promise("settings.signup-closed")
async def test_closed_sign_up_makes_no_account(tmp_path: Path) -> None:
    async with running(tmp_path, ioc_signup="closed", **GENEROUS) as api, reading(api.app) as visitor:
        assert "/signup" not in (await visitor.open("/")).links("//header").values()
        assert "closed" in (await visitor.open("/signup")).text
        page = await visitor.post("/signup", {"email": EMAIL, "password": PASSWORD})
        assert page.status == 403
        assert await api.store.accounts.all() == ()


async def test_new_accounts_may_only_read_where_the_operator_says_so(tmp_path: Path) -> None:
    async with running(tmp_path, ioc_signup_role="reader", **GENEROUS) as api, reading(api.app) as visitor:
        assert "submit articles" not in (await visitor.open("/signup")).text
        for email in ("first@example.org", EMAIL):
            await visitor.sign_up(email)
            await visitor.sign_out()
        roles = {account.email: account.role for account in await api.store.accounts.all()}
        assert roles == {"first@example.org": "administrator", EMAIL: "reader"}


async def test_an_address_that_has_an_account_gets_no_second_one(member: Reader, visitor: Reader) -> None:
    page = await visitor.sign_up(EMAIL.upper())
    assert page.status == 409
    assert "has an account already" in page.text


@each(
    ("email", "password", "told"),
    [
        ("reader@example.org", "short", "at least 12 characters"),
        ("reader@example.org", "x" * 257, "at most 256 characters"),
        ("no address", PASSWORD, "must be an e-mail address"),
        ('"><script>@example.org\x00', PASSWORD, "must be an e-mail address"),
    ],
)
async def test_a_sign_up_that_is_refused_says_why(visitor: Reader, email: str, password: str, told: str) -> None:
    page = await visitor.sign_up(email, password)
    assert page.status == 422
    assert told in page.text
    assert password not in page.answer.text or password == "short"


async def test_the_password_stands_in_no_page_and_no_log(visitor: Reader, capsys: pytest.CaptureFixture[str]) -> None:
    pages = [await visitor.sign_up(), await visitor.open("/settings")]
    assert not any(PASSWORD in page.answer.text for page in pages)
    written = capsys.readouterr()
    assert PASSWORD not in written.out + written.err
