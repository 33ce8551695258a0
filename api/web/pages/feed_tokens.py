"""`/settings/feeds`: the account's five feed addresses. A new one is shown once, as its token is kept nowhere."""

from __future__ import annotations

from starlette.responses import Response

from api.accounts.keys import LONGEST_NAME, NewKey, key_prefix
from api.web.pages.keys import handle, make, revoke_listed
from api.web.visit import Visit
from intel.records import KEYS_PER_ACCOUNT

_HERE = "/settings/feeds"
_FULL = f"Your account already has {KEYS_PER_ACCOUNT} feed addresses, which is the limit. Revoke one to make another."


async def show(visit: Visit) -> Response:
    return await _page(visit)


async def create(visit: Visit) -> Response:
    return await make(visit, visit.service.feed_tokens, "address", _FULL, _page)


async def revoke(visit: Visit) -> Response:
    await revoke_listed(visit, visit.service.feed_tokens, visit.form.get("token", ""))
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
