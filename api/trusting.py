"""Changing how far a source is trusted, from REST, from its page and on the command line."""

from __future__ import annotations

from api.auditing import Auditing
from api.parameters import read_text
from intel.confidence import MOST_TRUST
from intel.errors import InvalidQuery
from intel.store import Store

_WRONG = f"must be a whole number from 0 to {MOST_TRUST}"


def read_trust(raw: str) -> int:
    """Return a trust as somebody writes it. Raises InvalidQuery."""
    text = raw.strip()
    if not (text.isascii() and text.isdecimal() and len(text) < 4):
        raise InvalidQuery("trust", _WRONG)
    return int(text)


async def change_trust(store: Store, audit: Auditing, source: str, trust: int) -> str:
    """Trust a source so far from now on, note who said so, and return its name. Raises InvalidQuery."""
    name = read_text("name", source)
    if not name:
        raise InvalidQuery("name", "must be the name of a source")
    if not 0 <= trust <= MOST_TRUST:
        raise InvalidQuery("trust", _WRONG)
    before = await store.trusts.set(name, trust)
    if before != trust:
        await audit.note("source.trusted", name, f"{before} -> {trust}")
    return name


async def trust_of(store: Store, source: str) -> int | None:
    """Return how far a source is trusted; None for as usual."""
    return (await store.trusts.all()).get(source)
