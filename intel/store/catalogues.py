"""The part of the store that keeps catalogues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from intel.records import Catalogue


class Catalogues(Protocol):
    """Lists that others publish, in parts that are read by key."""

    async def put(self, catalogue: Catalogue, parts: Mapping[str, bytes]) -> None:
        """Replace a catalogue and all its parts (at most 2,048, each at most 1 MB) in one step.

        Until it returns everybody reads the former one; what was put by a process that died is never read.
        """

    async def all(self) -> tuple[Catalogue, ...]:
        """Return the imported catalogues, by name."""

    async def has(self, name: str) -> bool:
        """Tell whether a catalogue of that name was imported."""

    async def parts(self, name: str, keys: Sequence[str]) -> dict[str, bytes]:
        """Return those of the given parts of a catalogue that exist, all of one import."""
