"""`ioc article tlp`."""

from __future__ import annotations

from api.auditing import on_command_line
from api.cli.running import say, with_store
from api.sharing import mark
from intel.settings import Settings
from intel.store import Store
from intel.tlp import read_tlp


def mark_article(id: str, written: str) -> None:
    """Say how far an article may be passed on; `none` for what nobody says."""
    tlp = None if written.strip().lower() == "none" else read_tlp(written)

    async def change(store: Store, _: Settings) -> None:
        await mark(store, on_command_line(store), id, tlp)

    with_store(change, reads=True)
    say(f"TLP:{tlp.upper()}" if tlp else "no TLP")
