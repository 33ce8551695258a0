"""Which revisions of the weekly roundups a removed article takes back with it, alike on every engine."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

# The basis of a revision that was taken back: nothing is computed from it.
TAKEN_BACK: Final = "taken back"
# A revision bears the time when computing it began, and servers' clocks differ.
_TOLD_EARLIER: Final = timedelta(minutes=10)


def could_be_told_since(fetched_at: datetime) -> datetime:
    """Return the earliest `generated_at` of a revision that an article fetched then can have a part in."""
    return fetched_at - _TOLD_EARLIER
