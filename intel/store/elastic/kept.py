"""What was read a moment ago, for who asks the same again at once: only where a short delay is promised."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

Changing = Callable[[], AbstractContextManager[None]]

_MOST = 10_000


class Kept(Generic[K, V]):
    """Answers of `read` that are `worth` keeping, for so many seconds from the beginning of their reading."""

    def __init__(self, seconds: float, worth: Callable[[V], bool]) -> None:
        self._seconds = seconds
        self._worth = worth
        self._answers: dict[K, tuple[float, V]] = {}
        self._changes = 0

    async def get(self, key: K, read: Callable[[], Awaitable[V]]) -> V:
        """Return what was read for the key within these seconds, else what `read` answers."""
        begun = time.monotonic()
        kept = self._answers.get(key)
        if kept is not None and begun - kept[0] < self._seconds:
            return kept[1]
        changes = self._changes
        answer = await read()
        # What began to be read before a change may not show it.
        if changes == self._changes and self._worth(answer):
            if len(self._answers) >= _MOST:
                self._answers.clear()
            self._answers[key] = (begun, answer)
        else:
            self._answers.pop(key, None)
        return answer

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Keep nothing that began to be read before the end of a change, whether or not that succeeds."""
        try:
            yield
        finally:
            self._changes += 1
            self._answers.clear()
