"""How much memory a process and all that it started hold."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Peak:
    """The most that was held at once, in MB: each page of memory counted once, and a single process's most."""

    together: float = 0.0
    single: float = 0.0


def descendants(pid: int) -> Iterator[int]:
    """A process and all that it started, and they."""
    parents: dict[int, list[int]] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parent = int(status.read_text().rpartition(")")[2].split()[1])
            parents.setdefault(parent, []).append(int(status.parent.name))
    waiting = [pid]
    while waiting:
        pid = waiting.pop()
        yield pid
        waiting += parents.get(pid, [])


def held_mb(pid: int) -> tuple[float, float]:
    """The proportional set size of a process's tree, and the largest resident set in it."""
    together = largest = 0.0
    for each in descendants(pid):
        with contextlib.suppress(OSError, IndexError):
            text = Path(f"/proc/{each}/smaps_rollup").read_text()
            sizes = {line.split()[0]: int(line.split()[1]) / 1024 for line in text.splitlines()[1:]}
            together += sizes["Pss:"]
            largest = max(largest, sizes["Rss:"])
    return together, largest


@asynccontextmanager
async def watched(pid: int | None = None) -> AsyncIterator[Peak]:
    """Looks a few times a second how much is held."""
    peak = Peak()

    async def watch() -> None:
        while True:
            together, single = await asyncio.to_thread(held_mb, pid or os.getpid())
            peak.together, peak.single = max(peak.together, together), max(peak.single, single)
            await asyncio.sleep(0.1)

    watching = asyncio.create_task(watch())
    try:
        yield peak
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
