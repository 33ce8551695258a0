"""What `ioc doctor` says of one thing, and how it looks at what may not answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from redis.exceptions import RedisError

from intel.errors import ConfigurationError, IocError, StoreDamaged, WritesRefused

PATIENCE_SECONDS: Final = 5
# Sessions, leases and codes of two-factor sign-in bear a little.
MOST_APART_SECONDS: Final = 5.0
CORRECT_SETTING: Final = "Correct it in the environment, then run this again."
_REPAIR: Final = (
    "Stop the service and keep a copy of the file ioc.sqlite3 in the data folder. Restore the newest backup, or save"
    " what can be read: sqlite3 ioc.sqlite3 .recover | sqlite3 new.sqlite3. `PRAGMA integrity_check` lists the damage."
    " Then start again."
)
_MAKE_WRITABLE: Final = "Make room on the disk, or let the service's user write to the data folder and its files."
_SET_CLOCKS: Final = (
    "Let one time service (NTP) keep the clocks of all machines: leases, sessions and codes go by them."
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; `advice` says what to do where it is not well, or could be better.

    What is `absent` is not there and need not be.
    """

    what: str
    well: bool
    found: str
    advice: str = ""
    absent: bool = False


async def look(
    what: str, ask: Callable[[], Awaitable[Sequence[Finding]]], advice: str, seconds: float = PATIENCE_SECONDS
) -> list[Finding]:
    """Return what was found, or the one finding that it could not be asked, with this advice where none fits better."""
    try:
        async with asyncio.timeout(seconds):
            return [*await ask()]
    except StoreDamaged as error:
        return [Finding(what, False, str(error), _REPAIR)]
    except WritesRefused as error:
        return [Finding(what, False, str(error), _MAKE_WRITABLE)]
    except ConfigurationError as error:
        return [Finding(what, False, str(error), CORRECT_SETTING)]
    except (IocError, RedisError, OSError, TimeoutError) as error:
        return [Finding(what, False, str(error) or "no answer", advice)]


def of_clock(whose: str, ahead_seconds: float) -> Finding:
    """Return what is to be said of a clock that is so far ahead of this machine's."""
    direction = "ahead of" if ahead_seconds > 0 else "behind"
    found = f"{whose} is {abs(ahead_seconds):.1f} s {direction} this machine's"
    if abs(ahead_seconds) <= MOST_APART_SECONDS:
        return Finding("clock", True, found)
    return Finding("clock", False, found, _SET_CLOCKS)
