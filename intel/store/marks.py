"""The part of the store that keeps which indicators stand on a warning list, so that lists can leave them out."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from datetime import datetime
from typing import NamedTuple, Protocol


class Marked(NamedTuple):
    """An indicator, and whether it is marked as standing on a warning list."""

    id: str
    type: str
    value: str
    warned: bool


class Marking(NamedTuple):
    """When the lists were imported, None where none are; and `Marks.basis`."""

    imported_at: datetime | None
    basis: str


class Marks(Protocol):
    """Marks of indicators. A new one is marked by its first save, as its sightings say; a mark is no change of it."""

    async def basis(self) -> str:
        """Return what `settle` was told last: the lists by which all are marked; empty before."""

    async def settle(self, basis: str) -> None:
        """Note that all indicators are marked by these lists."""

    def every(self) -> AsyncGenerator[tuple[Marked, ...], None]:
        """Yield all indicators, some at a time, in no order; one that is added meanwhile may be left out."""

    async def mark(self, warned: Mapping[str, bool]) -> None:
        """Mark those of these indicators that are stored, by id (at most 10,000); when it returns, lists see it."""
