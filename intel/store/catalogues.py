"""The part of the store that keeps catalogues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from intel.records import Catalogue


class Catalogues(Protocol):
    """Lists that others publish, in parts that are read by key."""

    async def put(self, catalogue: Catalogue, parts: Mapping[str, bytes], over: int | None = None) -> bool:
        """Replace a catalogue and all its parts (at most 2,048, each at most 1 MB) in one step.

        Until it returns everybody reads the former one; what was put by a process that died is never read. With `over`,
        the number that `get` told or 0, it is put only while that import counts: return False, with nothing changed,
        where another one was quicker. Who adds to a catalogue gets it first, then its parts, and begins anew after
        False.
        """

    async def get(self, name: str) -> tuple[Catalogue, int] | None:
        """Return a catalogue as it counts now, and the number of its import, which each import raises from 1 on."""

    async def all(self) -> tuple[Catalogue, ...]:
        """Return the imported catalogues, by name."""

    async def imported_at(self, name: str) -> datetime | None:
        """Return when the catalogue of that name was imported; None where it was not."""

    async def parts(self, name: str, keys: Sequence[str]) -> dict[str, bytes]:
        """Return those of the given parts of a catalogue that exist, all of one import."""
