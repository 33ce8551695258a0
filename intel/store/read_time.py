"""The time that the reads of one answer share while a part of the store does not answer."""

from __future__ import annotations

import math
from contextvars import ContextVar
from typing import Final

ANSWER_SECONDS: Final = 5.0


class ReadTime:
    """What an answer that somebody waits for has left for reads that a part of the store keeps waiting."""

    def __init__(self) -> None:
        self._left = ANSWER_SECONDS
        self._counted_until = 0.0

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return max(self._left, 0.0)

    def spend(self, begun: float, ended: float) -> None:
        """Take away the time of a read (monotonic seconds); what reads beside each other take counts once."""
        self._left -= max(0.0, ended - max(begun, self._counted_until))
        self._counted_until = ended

    def end(self) -> None:
        """Let all further reads take their own time: the answer has begun."""
        self._left = math.inf


_READ_TIME: ContextVar[ReadTime | None] = ContextVar("read_time", default=None)


def begin_read_time() -> ReadTime:
    """Let all reads from here on, in this task and those that it starts, be reads of one answer."""
    time = ReadTime()
    _READ_TIME.set(time)
    return time


def read_time() -> ReadTime | None:
    """Return what the answer that is being made has left; None where nobody waits for one."""
    return _READ_TIME.get()


def read_for_many() -> None:
    """Let the reads of this task, which several answers need, be none of a single one's."""
    _READ_TIME.set(None)
