"""`ioc domain …`."""

from __future__ import annotations

from datetime import datetime

from api.auditing import on_command_line
from api.cli.running import print_json, print_table, say, with_store
from ingest.blocking import read_domain
from intel.errors import NotFound
from intel.settings import Settings
from intel.store import Store
from intel.times import rfc3339, utc_now


def block_domain(text: str) -> None:
    """Refuse every page of a domain and of what is below it."""
    domain = read_domain(text)

    async def block(store: Store, _: Settings) -> bool:
        blocked = await store.domains.block(domain, utc_now())
        await on_command_line(store).note("domain.blocked", domain)
        return blocked

    say(f"{domain} is blocked" if with_store(block) else f"{domain} was blocked already")


def unblock_domain(text: str) -> None:
    """Let the pages of a domain be fetched again."""
    domain = read_domain(text)

    async def unblock(store: Store, _: Settings) -> bool:
        unblocked = await store.domains.unblock(domain)
        if unblocked:
            await on_command_line(store).note("domain.unblocked", domain)
        return unblocked

    if not with_store(unblock, reads=True):
        raise NotFound(f"{domain} is not blocked; see: ioc domain list")
    say(f"{domain} is not blocked any more")


def list_domains(*, as_json: bool) -> None:
    """List every blocked domain, by name."""

    async def read(store: Store, _: Settings) -> dict[str, datetime]:
        return await store.domains.blocked()

    found = [{"domain": domain, "blocked_at": rfc3339(at)} for domain, at in with_store(read, reads=True).items()]
    if as_json:
        print_json({"items": found})
    else:
        print_table("Blocked domains", ("domain", "blocked"), [tuple(one.values()) for one in found])
