"""`ioc audit`."""

from __future__ import annotations

from api.cli.running import print_json, print_table, with_store
from intel.audit import AuditEntry
from intel.settings import Settings
from intel.store import Store
from intel.times import rfc3339

_AT_ONCE = 1_000


def print_audit(limit: int, *, as_json: bool) -> None:
    """Print the newest entries of the audit log."""

    async def read(store: Store, _: Settings) -> list[AuditEntry]:
        found: list[AuditEntry] = []
        while len(found) < limit:
            before = found[-1].id if found else None
            page = await store.audit.newest(min(_AT_ONCE, limit - len(found)), before)
            if not page:
                break
            found += page
        return found

    entries = with_store(read, reads=True)
    if as_json:
        members = ("actor", "action", "target", "detail")
        shown = [{"at": rfc3339(one.done_at)} | {name: getattr(one, name) for name in members} for one in entries]
        print_json({"items": shown})
        return
    rows = [(f"{one.done_at:%Y-%m-%d %H:%M:%S}", one.actor, one.action, one.target, one.detail) for one in entries]
    print_table("Audit log", ("when", "who", "did", "to", "detail"), rows)
