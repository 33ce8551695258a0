"""Compare another machine's clock with this one's."""

from __future__ import annotations


def seconds_ahead(theirs: float, asked_at: float, answered_at: float) -> float:
    """Return by how much a clock that was read between two moments of ours is surely ahead (negative: behind)."""
    if theirs > answered_at:
        return theirs - answered_at
    return min(0.0, theirs - asked_at)
