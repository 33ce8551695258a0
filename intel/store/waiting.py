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
            waiting = f"{self.of_account:,} submissions of this account wait to be read"
            raise AccountQueueFull(f"{waiting}; hand in more when some have ended.")
        if in_all >= self.in_all:
            raise QueueFull


@dataclass(frozen=True, slots=True)
class FileBounds:
    """How many bytes of files may wait to be read, in all and of one account."""

    in_all: int = 2_000_000_000
    of_account: int = 200_000_000

    def check(self, size: int, in_all: int, of_account: int) -> None:
        """Raise QueueFull or AccountQueueFull if there is no room for a file of that size beside what waits."""
        if of_account + size > self.of_account:
            waiting = f"{self.of_account // 1_000_000} MB of this account's files wait to be read"
            raise AccountQueueFull(f"{waiting}; hand in more when some have ended.")
        if in_all + size > self.in_all:
            raise QueueFull


BOUNDS: Final = WaitingBounds()
FILE_BOUNDS: Final = FileBounds()
# How many of each account `Submissions.due` names before it names more of anybody.
FIRST_OF_AN_ACCOUNT: Final = 10
