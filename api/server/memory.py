"""Keeps the resident memory of a serving process near what it uses, where its C library is glibc.

glibc gives every thread a heap of its own and keeps what was freed there: a few threads that read hundreds of pages and
records each hold several times what any of them needs.
"""

from __future__ import annotations

import asyncio
import ctypes
from functools import cache

_M_ARENA_MAX = -8
_PAUSE_SECONDS = 10.0


@cache
def _glibc() -> ctypes.CDLL | None:
    library = ctypes.CDLL(None)
    return library if hasattr(library, "mallopt") and hasattr(library, "malloc_trim") else None


def use_one_heap() -> None:
    """Let all threads share one heap; to be called before there are others."""
    if library := _glibc():
        library.mallopt(_M_ARENA_MAX, 1)


async def give_back_unused(pause_seconds: float = _PAUSE_SECONDS) -> None:
    """Return freed memory to the system again and again, until cancelled; it takes some milliseconds of a thread."""
    if library := _glibc():
        while True:
            await asyncio.sleep(pause_seconds)
            await asyncio.to_thread(library.malloc_trim, 0)
