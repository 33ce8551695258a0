"""`/settings/two-factor`: turn two-factor codes on and off; `/signin/code`: give one after the password."""

from __future__ import annotations

from dataclasses import replace

import structlog
from starlette.responses import Response

from api.accounts.boxes import Box
from api.accounts.tickets import account_of
from api.accounts.two_factor import TwoFactor
from api.web.addresses import here
from api.web.pages.accounts import enter, known_as
from api.web.qr import qr_svg
from api.web.visit import Visit, too_many

log = structlog.get_logger()

_HERE = "/settings/two-factor"
_WRONG = "This code is not right, or it was used already. Wait for the next one."
_TOO_MANY_WRONG = "There were too many wrong codes."


async def show(visit: Visit) -> Response:
    return _page(visit)


async def change(visit: Visit) -> Response:
    """Turn codes on with the first of them, or off with one."""
    account, now, factors = visit.member.account, visit.service.clock(), _factors(visit)
    attempt = await visit.back_off.second_factor(account.id, visit.member.session.id)
    if attempt.refusal is not None:
        raise too_many(attempt.refusal, _TOO_MANY_WRONG)
    code = visit.form.get("code", "")
    if account.two_factor:
        if await factors.passed(account, code, now) is None:
            return _page(visit, 422, _WRONG)
        await visit.service.store.accounts.update(replace(account, two_factor={}))
        await attempt.was_right()
        await visit.audit.note("account.two_factor_off", account.email)
        return visit.go(f"{_HERE}?done=off")
    begun = await factors.begin(account, visit.form.get("pending", ""), code, now)
    if begun is None:
        return _page(visit, 422, _WRONG)
    changed, recovery_codes = begun
    await visit.service.store.accounts.update(changed)
    await attempt.was_right()
    # Sessions that were begun with the password alone end.
    for session in await visit.sessions.live(changed):
        if session.id != visit.member.session.id:
            await visit.sessions.end(session)
    await visit.audit.note("account.two_factor_on", account.email)
    return visit.page(
        "two_factor.html", on=True, left=len(recovery_codes), recovery_codes=recovery_codes, fault="", done=""
    )


async def show_code(visit: Visit) -> Response:
    return visit.go("/signin")


async def give_code(visit: Visit) -> Response:
    """Sign in where ticket and code are right."""
    back, ticket = here(visit.form.get("next")), visit.form.get("ticket", "")
    account = await account_of(_box(visit), visit.service.store, ticket, visit.service.clock())
    if account is None or not account.two_factor:
        return visit.go("/signin")
    attempt = await visit.back_off.second_factor(account.id, known_as(visit, account))
    if attempt.refusal is not None:
        raise too_many(attempt.refusal, _TOO_MANY_WRONG)
    used = await _factors(visit).passed(account, visit.form.get("code", ""), visit.service.clock())
    if used is None:
        log.info("sign-in refused: wrong code", account=account.id, address=visit.address)
        return visit.page("signin_code.html", 401, back=back, ticket=ticket, fault=_WRONG)
    await visit.service.store.accounts.update(used)
    await attempt.was_right()
    log.info("signed in with a code", account=account.id)
    return await enter(visit, used, back)


def _page(visit: Visit, status: int = 200, fault: str = "") -> Response:
    account = visit.member.account
    on = bool(account.two_factor)
    offer = None if on else _factors(visit).offer(account, visit.form.get("pending", ""))
    return visit.page(
        "two_factor.html",
        status,
        on=on,
        left=len(account.two_factor.get("recovery", ())),
        offer=offer,
        picture=qr_svg(offer.uri) if offer else "",
        recovery_codes=(),
        fault=fault,
        done=visit.query.get("done", ""),
    )


def _box(visit: Visit) -> Box:
    return Box(visit.service.cursors.secret)


def _factors(visit: Visit) -> TwoFactor:
    return TwoFactor(_box(visit), visit.service.limiter)
