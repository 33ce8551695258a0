"""Who is told how long the engine takes: the metrics, or nobody."""

from __future__ import annotations

from collections.abc import Callable

# Takes what was asked (`read` or `write`) and the seconds that the answer took; costs microseconds.
Observe = Callable[[str, float], None]


def unobserved(operation: str, seconds: float) -> None:
    """Tell nobody."""
