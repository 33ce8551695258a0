"""Giving a turn back before its submission is done: a turn is for fetching and reading, and whoever only waits for what
was read to be saved lets another page be read meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

GiveBack = Callable[[], None]

_GIVE_BACK: ContextVar[GiveBack | None] = ContextVar("give_back", default=None)


@contextmanager
def turn_given_back_by(give_back: GiveBack) -> Iterator[None]:
    """Let what runs within, in the same task, give its turn back by this function, which may be called again."""
    token = _GIVE_BACK.set(give_back)
    try:
        yield
    finally:
        _GIVE_BACK.reset(token)


def give_back_turn() -> None:
    """Give back the turn of the submission that is being read in this task; nothing where there is none."""
    if give_back := _GIVE_BACK.get():
        give_back()
