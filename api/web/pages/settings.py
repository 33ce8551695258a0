"""`/settings`: password, sessions and colours of one account."""

from __future__ import annotations

from dataclasses import replace

import structlog
from starlette.responses import Response

from api.web.pages.accounts import enter
from api.web.visit import Visit, too_many
from intel.errors import InvalidQuery

log = structlog.get_logger()

_HERE = "/settings"


async def show(visit: Visit) -> Response:
    return await _page(visit)


async def change_password(visit: Visit) -> Response:
    """Set a new password, end every session but a new one here, and revoke the API keys where that is asked for."""
    service, account = visit.service, visit.member.account
    attempt = await visit.back_off.known(visit.member.session.id)
    if attempt.refusal is not None:
        raise too_many(attempt.refusal, "There were too many wrong passwords from this browser.")
    if not await service.passwords.matches(visit.form.get("current_password", ""), account.password_hash):
        return await _page(visit, 422, "current_password", "This is not your current password.")
    await attempt.was_right()
    try:
        hashed = await service.passwords.hash(visit.form.get("new_password", ""), account.email)
    except InvalidQuery as wrong:
        return await _page(visit, 422, "new_password", f"The new password {wrong.message}.")
    changed = replace(account, password_hash=hashed, session_epoch=account.session_epoch + 1)
    await service.store.accounts.update(changed)
    await visit.audit.note("account.password", account.email)
    revoked = 0
    if visit.form.get("revoke_keys"):
        revoked = await service.keys.revoke_all(account.id) + await service.feed_tokens.revoke_all(account.id)
    log.info("password changed", account=account.id, keys_revoked=revoked)
    return await enter(visit, changed, f"{_HERE}?done={'password-and-keys' if revoked else 'password'}")


async def end_session(visit: Visit) -> Response:
    """End one of the account's own sessions, or all but this one."""
    wanted, member = visit.form.get("session", ""), visit.member
    for session in await visit.sessions.live(member.account):
        if session.id == wanted or (wanted == "others" and session.id != member.session.id):
            await visit.sessions.end(session)
    return visit.go(f"{_HERE}?done=session")


async def show_elsewhere(visit: Visit) -> Response:
    return visit.go(_HERE)


async def _page(visit: Visit, status: int = 200, field: str = "", fault: str = "") -> Response:
    return visit.page(
        "settings.html",
        status,
        sessions=await visit.sessions.live(visit.member.account),
        this_session=visit.member.session.id,
        field=field,
        fault=fault,
        done=visit.query.get("done", ""),
    )
