"""`/settings/feeds`: the account's five feed addresses. A new one is shown once, as its token is kept nowhere."""

from __future__ import annotations

from starlette.responses import Response

from api.accounts.keys import LONGEST_NAME, NewKey, key_prefix
from api.web.pages.keys import handle
from api.web.visit import Visit
from intel.errors import KeyLimitReached
from intel.records import KEYS_PER_ACCOUNT

_HERE = "/settings/feeds"
_FULL = f"Your account already has {KEYS_PER_ACCOUNT} feed addresses, which is the limit. Revoke one to make another."


async def show(visit: Visit) -> Response:
    return await _page(visit)


async def create(visit: Visit) -> Response:
    name = visit.form.get("name", "").strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        return await _page(visit, 422, fault=f"Give the address a name of 1 to {LONGEST_NAME} characters.", name=name)
    try:
        new = await visit.service.feed_tokens.create(visit.member.account.id, name)
    except KeyLimitReached:
        return await _page(visit, 409, fault=_FULL, name=name)
    return await _page(visit, new=new)


async def revoke(visit: Visit) -> Response:
    """Revoke the very token that was listed, never a newer one in its place."""
    wanted, tokens = visit.form.get("token", ""), visit.service.feed_tokens
    for token in await tokens.of(visit.member.account.id):
        if handle(token) == wanted:
            await tokens.revoke(token)
    return visit.go(_HERE)


async def show_revoke(visit: Visit) -> Response:
    return visit.go(_HERE)


async def _page(
    visit: Visit, status: int = 200, new: NewKey | None = None, fault: str = "", name: str = ""
) -> Response:
    tokens = await visit.service.feed_tokens.of(visit.member.account.id)
    return visit.page(
        "feed_tokens.html",
        status,
        tokens=[(token, handle(token), key_prefix(token)) for token in tokens],
        most=KEYS_PER_ACCOUNT,
        longest_name=LONGEST_NAME,
        new_name=new.record.name if new else "",
        address=f"{visit.own_address}/api/v1/iocs.atom?token={new.secret}" if new else "",
        fault=fault,
        name=name,
    )
