"""How many submissions may wait, and who comes first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from intel.errors import AccountQueueFull, QueueFull


@dataclass(frozen=True, slots=True)
class WaitingBounds:
    """How many unended submissions there may be, in all and of one account."""

    in_all: int = 10_000
    of_account: int = 1_000

    def check(self, in_all: int, of_account: int) -> None:
        """Raise QueueFull or AccountQueueFull if there is no room for one more."""
        if of_account >= self.of_account:
            raise AccountQueueFull(self.of_account)
        if in_all >= self.in_all:
            raise QueueFull


BOUNDS: Final = WaitingBounds()
# How many of each account `Submissions.due` names before it names more of anybody.
FIRST_OF_AN_ACCOUNT: Final = 10
