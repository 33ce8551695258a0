"""`/settings/api-keys`: the account's five keys. A new one is shown once, on the answer to the form that made it."""

from __future__ import annotations

import json

from starlette.responses import Response

from api.accounts.keys import LONGEST_NAME, NewKey, key_prefix
from api.web.visit import Visit
from intel.errors import KeyLimitReached
from intel.records import KEYS_PER_ACCOUNT, ApiKey

_HERE = "/settings/api-keys"
_FULL = (
    f"Your account already has {KEYS_PER_ACCOUNT} API keys, and that is the limit: at most {KEYS_PER_ACCOUNT}. "
    "Revoke one to make another."
)


async def show(visit: Visit) -> Response:
    return await _page(visit)


async def create(visit: Visit) -> Response:
    name = visit.form.get("name", "").strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        return await _page(visit, 422, fault=f"Give the key a name of 1 to {LONGEST_NAME} characters.", name=name)
    try:
        new = await visit.service.keys.create(visit.member.account.id, name)
    except KeyLimitReached:
        return await _page(visit, 409, fault=_FULL, name=name)
    return await _page(visit, new=new)


async def revoke(visit: Visit) -> Response:
    """Revoke the very key that was listed, never a newer one in its place."""
    wanted = visit.form.get("key", "")
    for key in await visit.service.store.accounts.keys(visit.member.account.id):
        if handle(key) == wanted:
            await visit.service.keys.revoke(key)
    return visit.go(_HERE)


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
    keys = await visit.service.store.accounts.keys(visit.member.account.id)
    address, secret = visit.own_address, new.secret if new else ""
    return visit.page(
        "api_keys.html",
        status,
        keys=[(key, handle(key), key_prefix(key)) for key in keys],
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
