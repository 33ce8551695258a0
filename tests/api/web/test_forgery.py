from __future__ import annotations

from api.web.forgery import comes_from_here, form_token, is_form_token
from tests.api.web.reading import EMAIL, PASSWORD, Reader
from tests.cases import each

KEYS = "/settings/api-keys"
SECRET = b"a secret of this installation"


@each(
    "headers",
    [
        {"sec_fetch_site": "cross-site", "origin": "https://evil.example"},
        {"sec_fetch_site": "same-site", "origin": ""},
        {"sec_fetch_site": "", "origin": "https://evil.example"},
        {"sec_fetch_site": "", "origin": "null"},
        {"sec_fetch_site": "same-origin", "origin": "http://ioc.example.evil.example"},
    ],
)
async def test_a_form_from_another_site_does_nothing(member: Reader, headers: dict[str, str]) -> None:
    fields = (await member.open(KEYS)).fields(KEYS) | {"name": "forged"}
    page = await member.post(KEYS, fields, **headers)
    assert page.status == 403
    assert "forged" not in (await member.open(KEYS)).text


@each("token", ["", "00" * 32, "not hex", "aa"])
async def test_a_form_without_the_sessions_token_does_nothing(member: Reader, token: str) -> None:
    page = await member.post(KEYS, {"form_token": token, "name": "forged"})
    assert page.status == 403
    assert "forged" not in (await member.open(KEYS)).text


async def test_the_token_of_another_session_does_nothing(member: Reader, visitor: Reader) -> None:
    await visitor.sign_up("other@example.org")
    theirs = (await visitor.open(KEYS)).fields(KEYS)
    assert (await member.post(KEYS, theirs | {"name": "forged"})).status == 403


async def test_nobody_is_signed_out_or_in_by_another_site(member: Reader) -> None:
    assert (await member.post("/signout", {}, origin="https://evil.example")).status == 403
    fields = {"email": EMAIL, "password": PASSWORD}
    assert (await member.post("/signin", fields, sec_fetch_site="cross-site")).status == 403
    assert await member.is_signed_in()


async def test_opening_the_sign_out_page_signs_nobody_out(member: Reader) -> None:
    assert (await member.open("/signout")).heading == "Sign out"
    assert await member.is_signed_in()


async def test_a_form_of_ten_megabytes_is_refused(visitor: Reader) -> None:
    assert (await visitor.post("/signin", {"email": "x" * 10_000_000})).status == 413


async def test_a_body_that_is_no_form_is_refused(visitor: Reader) -> None:
    answer = await visitor.client.post("/signin", files={"email": b"x"})
    assert answer.status_code == 415
    answer = await visitor.client.post("/signin", json={"email": "x"})
    assert answer.status_code == 415


async def test_a_form_of_very_many_fields_is_refused(visitor: Reader) -> None:
    assert (await visitor.post("/signin", {f"f{n}": "1" for n in range(200)})).status == 400


def test_a_token_is_different_each_time_and_good_for_its_session_alone() -> None:
    first, second = form_token(SECRET, "session"), form_token(SECRET, "session")
    assert first != second
    assert is_form_token(SECRET, "session", first) and is_form_token(SECRET, "session", second)
    assert not is_form_token(SECRET, "other session", first)
    assert not is_form_token(b"another secret", "session", first)


def test_the_public_address_counts_as_here_behind_a_proxy_that_renames_the_host() -> None:
    headers = {"host": "10.0.0.5:8000", "origin": "https://ioc.example", "sec-fetch-site": "same-origin"}
    assert comes_from_here(headers, "https://ioc.example")
    assert not comes_from_here(headers, None)


def test_a_client_that_is_no_browser_says_nothing_of_where_it_comes_from() -> None:
    assert comes_from_here({"host": "ioc.example"}, None)
