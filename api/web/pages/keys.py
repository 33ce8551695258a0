"""`/settings/api-keys`: the account's five keys. A new one is shown once, on the answer to the form that made it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable

from starlette.responses import Response

from api.accounts.keys import LONGEST_NAME, Keys, NewKey, key_prefix, read_lifetime, read_scopes
from api.web.visit import Visit
from intel.errors import InvalidQuery, KeyLimitReached
from intel.records import KEYS_PER_ACCOUNT, ApiKey

_HERE = "/settings/api-keys"
_FULL = (
    f"Your account already has {KEYS_PER_ACCOUNT} API keys, and that is the limit: at most {KEYS_PER_ACCOUNT}. "
    "Revoke one to make another."
)

_SCOPE_CHOICES = (
    ("read submit export", "everything: read, submit, export"),
    ("read", "read"),
    ("read export", "read and export"),
    ("read submit", "read and submit"),
    ("submit", "submit"),
    ("export", "export"),
)
_LIFETIMES = (("", "never"), ("7", "in 7 days"), ("30", "in 30 days"), ("90", "in 90 days"), ("365", "in a year"))


async def show(visit: Visit) -> Response:
    return await _page(visit)


async def create(visit: Visit) -> Response:
    return await make(visit, visit.service.keys, "key", _FULL, _page)


async def make(visit: Visit, keys: Keys, noun: str, full: str, page: Callable[..., Awaitable[Response]]) -> Response:
    """Make a key as the form says; answer `page` with it, or with what is wrong: `full` where the account has five."""
    name = visit.form.get("name", "").strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        return await page(visit, 422, fault=f"Give the {noun} a name of 1 to {LONGEST_NAME} characters.", name=name)
    try:
        scopes = read_scopes(visit.form.get("scopes", ""))
        lifetime = read_lifetime(visit.form.get("expires_in_days", ""))
        new = await keys.create(visit.member.account.id, name, scopes, lifetime)
    except InvalidQuery as error:
        return await page(visit, 422, fault=f"{error.field} {error.message}.", name=name)
    except KeyLimitReached:
        return await page(visit, 409, fault=full, name=name)
    await visit.audit.note("key.created", key_prefix(new.record), name)
    return await page(visit, new=new)


async def revoke(visit: Visit) -> Response:
    await revoke_listed(visit, visit.service.keys, visit.form.get("key", ""))
    return visit.go(_HERE)


async def revoke_listed(visit: Visit, keys: Keys, wanted: str) -> None:
    """Revoke the very key that was listed with that handle, never a newer one in its place."""
    for key in await keys.of(visit.member.account.id):
        if handle(key) == wanted:
            await keys.revoke(key)
            await visit.audit.note("key.revoked", key_prefix(key), key.name)


async def show_revoke(visit: Visit) -> Response:
    return visit.go(_HERE)


def mcp_entry(address: str, key: str) -> str:
    """Return the configuration of an MCP client, as JSON."""
    env = {"SERVICE_API_KEY": key, "SERVICE_BASE_URL": address}
    return json.dumps({"mcpServers": {"ioc": {"command": "ioc-mcp", "args": [], "env": env}}}, indent=2)


def curl_line(address: str, key: str) -> str:
    """Return a first request to try."""
    return f"curl -H 'Authorization: Bearer {key}' '{address}/api/v1/iocs?limit=5'"


async def _page(
    visit: Visit, status: int = 200, new: NewKey | None = None, fault: str = "", name: str = ""
) -> Response:
    keys = await visit.service.keys.of(visit.member.account.id)
    address, secret, now = visit.own_address, new.secret if new else "", visit.service.clock()
    return visit.page(
        "api_keys.html",
        status,
        keys=[(key, handle(key), key_prefix(key), key.expired(now)) for key in keys],
        in_use=sum(not key.expired(now) for key in keys),
        scope_choices=_SCOPE_CHOICES,
        lifetimes=_LIFETIMES,
        most=KEYS_PER_ACCOUNT,
        longest_name=LONGEST_NAME,
        secret=secret,
        curl=curl_line(address, secret),
        mcp=mcp_entry(address, secret),
        new_name=new.record.name if new else "",
        fault=fault,
        name=name,
    )


def handle(key: ApiKey) -> str:
    """Return the name of one key in a form: its slot, and enough of its hash to tell it from the next one there."""
    return f"{key.slot}-{key.secret_hash[:16]}"
