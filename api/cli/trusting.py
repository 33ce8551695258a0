"""`ioc source trust`."""

from __future__ import annotations

from api.auditing import on_command_line
from api.cli.running import print_json, print_table, say, with_store
from api.trusting import change_trust, read_trust
from intel.confidence import USUAL_TRUST
from intel.settings import Settings
from intel.store import Store


def trust_source(name: str, trust: str, *, as_json: bool) -> None:
    """Trust a source so far from now on."""
    wanted = read_trust(trust)

    async def change(store: Store, _: Settings) -> str:
        return await change_trust(store, on_command_line(store), name, wanted)

    changed = with_store(change, reads=True)
    if as_json:
        print_json({"name": changed, "trust": wanted})
    else:
        say(f"{changed} has a trust of {wanted} of 100")


def list_trusts(*, as_json: bool) -> None:
    """List every source that is not trusted as usual, by name."""

    async def read(store: Store, _: Settings) -> dict[str, int]:
        return await store.trusts.all()

    found = with_store(read, reads=True)
    if as_json:
        print_json({"items": [{"name": name, "trust": trust} for name, trust in found.items()]})
    elif found:
        print_table("Sources", ("source", "trust"), [(name, str(trust)) for name, trust in found.items()])
    else:
        say(f"every source has the usual trust of {USUAL_TRUST}")
