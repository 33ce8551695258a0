"""`/admin`: how the service stands, its feeds, its accounts, and who did what; for administrators alone."""

from __future__ import annotations

import platform
import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Final, get_args

from starlette.responses import Response

from api import VERSION
from api.auditing import Action
from api.problems import Problem
from api.sources import health_of
from api.web.addresses import with_query
from api.web.pages.sources import health
from api.web.visit import Visit
from ingest.assembly import fetch_allow
from ingest.feed_lists import LONGEST_NAME, ListedFeed, new_feed
from ingest.following import change_feed, due_at_once, paused, resumed
from intel.audit import AuditEntry
from intel.errors import NotFound, RefusedUrl
from intel.records import Account, Feed, Role
from intel.store import SQLITE_FILE, Store

_FEEDS: Final = "/admin/feeds"
_ACCOUNTS: Final = "/admin/accounts"
_ACCOUNTS_SHOWN: Final = 100
_ENTRIES_SHOWN: Final = 50
_ENTRIES_READ: Final = 1_000
_ROLES: Final[tuple[Role, ...]] = get_args(Role)
_OWN_ACCOUNT: Final = "You cannot change your own role or disable yourself: another administrator has to."


async def show(visit: Visit) -> Response:
    service = visit.service
    totals = await service.store.totals()
    return visit.page(
        "admin.html",
        totals=totals,
        catalogues=await service.store.catalogues.all(),
        policy=service.settings.ioc_signup,
        signup_role=service.settings.ioc_signup_role,
        served=service.settings.served,
        store_bytes=_store_bytes(visit),
        versions=(
            ("IOC Intelligence", VERSION),
            ("Python", platform.python_version()),
            *((("SQLite", sqlite3.sqlite_version),) if not service.settings.served else ()),
        ),
        retention=service.settings.ioc_retention_days,
    )


def _store_bytes(visit: Visit) -> int | None:
    """Return how large the embedded store is on the disk; None where it is elsewhere."""
    if visit.service.settings.served:
        return None
    files = visit.service.settings.data_dir.glob(f"{SQLITE_FILE}*")
    return sum(file.stat().st_size for file in files if file.is_file())


async def show_feeds(visit: Visit) -> Response:
    return await _feeds_page(visit)


async def change_feeds(visit: Visit) -> Response:
    """Add a feed, or do to one that is followed what its button says."""
    wanted = visit.form.get("do", "")
    change = _CHANGES.get(wanted)
    if change is None:
        raise Problem(422, "invalid_parameter", f"do must be one of {', '.join(_CHANGES)}.")
    return await change(visit)


async def _add_feed(visit: Visit) -> Response:
    service = visit.service
    url, name = visit.form.get("url", "").strip(), visit.form.get("name", "").strip()
    try:
        feed = new_feed(ListedFeed(url, name[:LONGEST_NAME] or None), fetch_allow(service.settings), service.clock())
    except RefusedUrl as refused:
        return await _feeds_page(visit, 422, refused.detail, url, name)
    if not await service.store.feeds.add(feed):
        return await _feeds_page(visit, 409, "This feed is followed already.", url, name)
    await visit.audit.note("feed.added", feed.name, feed.url)
    return visit.go(_FEEDS)


async def _pause(visit: Visit) -> Response:
    return await _change_feed(visit, "feed.paused", paused)


async def _resume(visit: Visit) -> Response:
    return await _change_feed(visit, "feed.resumed", partial(resumed, now=visit.service.clock()))


async def _check(visit: Visit) -> Response:
    return await _change_feed(visit, "feed.checked", partial(due_at_once, now=visit.service.clock()))


async def _change_feed(visit: Visit, action: Action, change: Callable[[Feed], Feed]) -> Response:
    feed = await change_feed(visit.service.store, visit.form.get("feed", ""), change)
    if feed is None:
        raise _unknown_feed()
    await visit.audit.note(action, feed.name, feed.url)
    return visit.go(_FEEDS)


async def _remove_feed(visit: Visit) -> Response:
    id = visit.form.get("feed", "")
    feed = await visit.service.store.feeds.get(id)
    if feed is None or not await visit.service.store.feeds.remove(id):
        raise _unknown_feed()
    await visit.audit.note("feed.removed", feed.name, feed.url)
    return visit.go(_FEEDS)


_CHANGES: Final[dict[str, Callable[[Visit], Awaitable[Response]]]] = {
    "add": _add_feed,
    "check": _check,
    "pause": _pause,
    "resume": _resume,
    "remove": _remove_feed,
}


def _unknown_feed() -> NotFound:
    return NotFound("This feed is not followed.")


async def _feeds_page(visit: Visit, status: int = 200, fault: str = "", url: str = "", name: str = "") -> Response:
    store, now = visit.service.store, visit.service.clock()
    found = await health_of(store, await store.feeds.all())
    feeds = [(one.feed, health(one.feed, now), one.articles, one.iocs) for one in found]
    return visit.page("admin_feeds.html", status, feeds=feeds, fault=fault, url=url, name=name, longest=LONGEST_NAME)


async def show_accounts(visit: Visit) -> Response:
    return await _accounts_page(visit)


async def change_account(visit: Visit) -> Response:
    """Give an account a role, disable or enable it; never one's own, so that an administrator is left."""
    store, now = visit.service.store, visit.service.clock()
    account = await store.accounts.get(visit.form.get("account", ""))
    if account is None:
        raise NotFound("There is no such account.")
    if account.id == visit.member.account.id:
        return await _accounts_page(visit, 422, _OWN_ACCOUNT)
    match visit.form.get("do", ""):
        case "disable":
            await store.accounts.update(replace(account, disabled_at=now, session_epoch=account.session_epoch + 1))
            await visit.audit.note("account.disabled", account.email)
        case "enable":
            await store.accounts.update(replace(account, disabled_at=None))
            await visit.audit.note("account.enabled", account.email)
        case "role":
            await _set_role(visit, account)
        case _:
            raise Problem(422, "invalid_parameter", "do must be role, disable or enable.")
    return visit.go(_ACCOUNTS)


async def _set_role(visit: Visit, account: Account) -> None:
    role = next((one for one in _ROLES if one == visit.form.get("role")), None)
    if role is None:
        raise Problem(422, "invalid_parameter", f"role must be one of {', '.join(_ROLES)}.")
    await visit.service.store.accounts.update(replace(account, role=role))
    await visit.audit.note("account.role", account.email, f"{account.role} to {role}")


async def _accounts_page(visit: Visit, status: int = 200, fault: str = "") -> Response:
    wanted, after = visit.query.get("find", "").strip(), visit.query.get("after", "")
    every = await visit.service.store.accounts.all()
    found = [one for one in every if wanted.casefold() in one.email.casefold()]
    rest = [one for one in found if one.email > after]
    page, more = rest[:_ACCOUNTS_SHOWN], len(rest) > _ACCOUNTS_SHOWN
    next = with_query(_ACCOUNTS, {"find": wanted, "after": page[-1].email}) if more else ""
    return visit.page(
        "admin_accounts.html",
        status,
        accounts=page,
        total=len(found),
        roles=_ROLES,
        find=wanted,
        fault=fault,
        next_address=next,
    )


async def show_audit(visit: Visit) -> Response:
    """Show who did what, or of that what holds a word."""
    store, find = visit.service.store, visit.query.get("find", "").strip()[:200]
    entries = await _entries(store, find, visit.query.get("before", "")[:80] or None)
    page = entries[:_ENTRIES_SHOWN]
    asked = {"find": find} if find else {}
    next = with_query("/admin/audit", asked | {"before": page[-1].id}) if len(entries) > len(page) else ""
    iocs = await store.iocs.get_many([one.target for one in page if one.action.startswith("ioc.")])
    articles = await store.articles.get_many([one.target for one in page if one.action.startswith("article.")])
    return visit.page("admin_audit.html", entries=page, iocs=iocs, articles=articles, find=find, next_address=next)


async def _entries(store: Store, find: str, before: str | None) -> list[AuditEntry]:
    """Return the newest entries that hold a word in whatever case, at least one more than a page shows if there are."""
    sought, found = find.casefold(), list[AuditEntry]()
    at_once = _ENTRIES_READ if sought else _ENTRIES_SHOWN + 1
    while len(found) <= _ENTRIES_SHOWN:
        entries = await store.audit.newest(at_once, before)
        found += [
            one for one in entries if sought in f"{one.actor}\n{one.action}\n{one.target}\n{one.detail}".casefold()
        ]
        if len(entries) < at_once:
            break
        before = entries[-1].id
    return found
