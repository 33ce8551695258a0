"""`/signup`, `/signin`, `/signout`, and which colours to show."""

from __future__ import annotations

import structlog
from starlette.responses import Response

from api.accounts.boxes import Box
from api.accounts.devices import device_token, known_device
from api.accounts.sign_up import check_public_email, create_account
from api.accounts.tickets import new_ticket
from api.auditing import Auditing
from api.problems import Problem
from api.web import cookies
from api.web.addresses import here
from api.web.visit import Visit, too_many
from intel.errors import AccountExists, InvalidQuery
from intel.ids import account_id
from intel.records import Account

log = structlog.get_logger()

_AFTER_SIGN_UP = "/settings/api-keys"
_LONGEST_EMAIL = 256
_TOO_MANY_WRONG = (
    "There were too many wrong passwords from your network. "
    "A browser that has signed in to the account before is not held up by them."
)
_NOT_SIGNED_IN = "The e-mail address or the password is not right."


async def show_sign_in(visit: Visit) -> Response:
    back = here(visit.query.get("next"))
    return visit.go(back) if visit.signed_in else _sign_in_page(visit, back)


async def sign_in(visit: Visit) -> Response:
    email, back = visit.form.get("email", "").strip()[:_LONGEST_EMAIL], here(visit.form.get("next"))
    account = await visit.service.store.accounts.get(account_id(email))
    attempt = await visit.back_off.sign_in(account_id(email), visit.address, known_as(visit, account))
    if attempt.refusal is not None:
        raise too_many(attempt.refusal, _TOO_MANY_WRONG)
    # Hashed whether or not there is such an account: how long it takes tells nothing.
    hashed = account.password_hash if account else None
    right = await visit.service.passwords.matches(visit.form.get("password", ""), hashed)
    if account is None or not right or account.disabled_at is not None:
        log.info("sign-in refused", account=account_id(email), address=visit.address)
        return _sign_in_page(visit, back, 401, email, _NOT_SIGNED_IN)
    await attempt.was_right()
    return await enter_or_ask(visit, account, back)


async def enter_or_ask(visit: Visit, account: Account, back: str) -> Response:
    """Sign in, or ask for the code where the account wants one."""
    if account.two_factor:
        ticket = new_ticket(Box(visit.service.cursors.secret), account, visit.service.clock())
        return visit.page("signin_code.html", back=back, ticket=ticket, fault="")
    log.info("signed in", account=account.id)
    return await enter(visit, account, back)


def show_fault(visit: Visit, fault: str, status: int) -> Response:
    """Answer with the sign-in page that says what went wrong elsewhere."""
    return _sign_in_page(visit, "/", status, "", fault)


def known_as(visit: Visit, account: Account | None) -> str | None:
    """Name the browser where it is signed in to the account, or was before."""
    if account is None:
        return None
    if visit.signed_in is not None and visit.signed_in.account.id == account.id:
        return visit.signed_in.session.id
    service = visit.service
    token = cookies.device(visit.request, service.settings)
    return known_device(service.cursors.secret, account, token, service.clock())


async def show_sign_up(visit: Visit) -> Response:
    return visit.go(_AFTER_SIGN_UP) if visit.signed_in else _sign_up_page(visit)


async def sign_up(visit: Visit) -> Response:
    if visit.service.settings.ioc_signup == "closed":
        return _sign_up_page(visit, 403)
    decision = await visit.back_off.sign_up(visit.address)
    if not decision.allowed:
        raise too_many(decision, "Very many accounts were made from this address.")
    service, email = visit.service, visit.form.get("email", "")[:_LONGEST_EMAIL]
    try:
        check_public_email(email)
        password, role = visit.form.get("password", ""), service.settings.ioc_signup_role
        account = await create_account(service.store, service.passwords, service.clock, email, password, role)
    except InvalidQuery as wrong:
        return _sign_up_page(visit, 422, email, wrong.field, f"{_FIELDS[wrong.field]} {wrong.message}.")
    except AccountExists:
        return _sign_up_page(visit, 409, email, "email", "This e-mail address has an account already.")
    await Auditing(service.store, account.email, service.clock).note("account.created", account.email, account.role)
    return await enter(visit, account, _AFTER_SIGN_UP)


async def show_sign_out(visit: Visit) -> Response:
    return visit.page("signout.html") if visit.signed_in else visit.go("/")


async def sign_out(visit: Visit) -> Response:
    if visit.signed_in is not None:
        await visit.sessions.end(visit.signed_in.session)
        log.info("signed out", account=visit.signed_in.account.id)
    response = visit.go("/")
    cookies.drop_session(response, visit.request, visit.service.settings)
    return response


async def show_theme(visit: Visit) -> Response:
    return visit.go("/settings" if visit.signed_in else "/")


async def keep_theme(visit: Visit) -> Response:
    wanted = visit.form.get("theme", "")
    if wanted not in ("auto", "light", "dark"):
        raise Problem(422, "invalid_parameter", "The colours are light, dark or auto.")
    response = visit.go(here(visit.form.get("next")))
    cookies.keep_theme(response, visit.request, visit.service.settings, wanted)
    return response


async def enter(visit: Visit, account: Account, back: str) -> Response:
    """Sign in under a new session and remember the browser.

    Whichever session came with the request ends, so that nobody can plant one.
    """
    if visit.signed_in is not None:
        await visit.sessions.end(visit.signed_in.session)
    new = await visit.sessions.begin(account, visit.request.headers.get("user-agent", ""))
    response = visit.go(back)
    settings, token = visit.service.settings, device_token(visit.service.cursors.secret, account, visit.service.clock())
    cookies.keep_session(response, visit.request, settings, new.secret)
    cookies.keep_device(response, visit.request, settings, token)
    return response


_FIELDS = {"email": "The e-mail address", "password": "The password"}


def _sign_in_page(visit: Visit, back: str, status: int = 200, email: str = "", fault: str = "") -> Response:
    settings = visit.service.settings
    provider = settings.ioc_oidc_name if visit.service.open_id else ""
    return visit.page("signin.html", status, back=back, email=email, fault=fault, provider=provider)


def _sign_up_page(visit: Visit, status: int = 200, email: str = "", field: str = "", fault: str = "") -> Response:
    role = visit.service.settings.ioc_signup_role
    return visit.page("signup.html", status, email=email, field=field, fault=fault, signup_role=role)
