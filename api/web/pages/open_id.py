"""`/signin/oidc` and its `/callback`: sign in where the operator's provider knows one."""

from __future__ import annotations

import structlog
from starlette.responses import RedirectResponse, Response

from api.accounts.open_id import OpenId
from api.accounts.sign_up import check_email
from api.auditing import Auditing
from api.web import cookies
from api.web.addresses import here
from api.web.pages.accounts import enter_or_ask, show_fault
from api.web.visit import Visit, private, too_many
from intel.errors import AccountExists, Forbidden, InvalidQuery, NotFound
from intel.ids import account_id
from intel.records import Account

log = structlog.get_logger()

_CALLBACK = "/signin/oidc/callback"


async def begin(visit: Visit) -> Response:
    """Send the browser to the provider."""
    provider = _provider(visit)
    await _pay(visit)
    try:
        begun = await provider.begin(_redirect_uri(visit), here(visit.query.get("next")), visit.service.clock())
    except Forbidden as refused:
        return show_fault(visit, str(refused), 502)
    response = private(RedirectResponse(begun.location, 303))
    cookies.keep_open_id(response, visit.request, visit.service.settings, begun.cookie)
    return response


async def finish(visit: Visit) -> Response:
    """Sign in who the provider says that it is; a new address gets an account."""
    provider = _provider(visit)
    await _pay(visit)
    cookie = cookies.open_id(visit.request, visit.service.settings)
    try:
        who = await provider.finish(_redirect_uri(visit), cookie, visit.query, visit.service.clock())
        account = await _account(visit, check_email(who.email))
    except (Forbidden, InvalidQuery) as refused:
        log.info("sign-in through the provider refused", address=visit.address)
        response = show_fault(visit, str(refused), 403)
    else:
        response = await enter_or_ask(visit, account, here(who.back))
    cookies.drop_open_id(response, visit.request, visit.service.settings)
    return response


async def _account(visit: Visit, email: str) -> Account:
    store, now = visit.service.store, visit.service.clock()
    account = await store.accounts.get(account_id(email))
    if account is None:
        try:
            # No password has this hash: such an account signs in through the provider alone.
            account = await store.accounts.create(
                Account(account_id(email), email, "", now, role=visit.service.settings.ioc_signup_role)
            )
            await Auditing(store, email, visit.service.clock).note("account.created", email, "through the provider")
        except AccountExists:
            account = await store.accounts.get(account_id(email))
    if account is None or account.disabled_at is not None:
        raise Forbidden("This account is disabled.")
    return account


async def _pay(visit: Visit) -> None:
    decision = await visit.back_off.open_id(visit.address)
    if not decision.allowed:
        raise too_many(decision, "There were too many sign-ins from your network.")


def _provider(visit: Visit) -> OpenId:
    if visit.service.open_id is None:
        raise NotFound("Signing in through a provider is not set up here.")
    return visit.service.open_id


def _redirect_uri(visit: Visit) -> str:
    return f"{visit.own_address}{_CALLBACK}"
