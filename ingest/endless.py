"""Work that goes on until it is cancelled, whatever one of its rounds meets."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog

from intel.errors import StoreUnavailable

log = structlog.get_logger()

T = TypeVar("T")


async def one_round(work: Callable[[], Awaitable[T]], doing: str) -> T | None:
    """Do one round of endless work; None where it failed.

    A store that is out of reach is waited for in silence, since whoever sweeps the submissions warns of it; what nobody
    foresaw goes to the log, named by `doing`.
    """
    try:
        return await work()
    except StoreUnavailable:
        return None
    except Exception:
        log.exception(f"{doing} failed in an unforeseen way")
        return None
