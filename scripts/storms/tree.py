"""What processes hold, with all that they started: memory, files, sockets, threads."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.engines.engine import tree_of

_PROPORTIONAL = re.compile(r"^Pss:\s+(\d+) kB", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Held:
    """Memory in MB is each page's share where processes have it in common."""

    memory: float
    files: float
    sockets: float
    threads: float


def held_by(pids: Sequence[int]) -> Held:
    """Return what these processes and their descendants hold now."""
    memory = files = sockets = threads = 0
    for process in (Path(f"/proc/{each}") for pid in pids for each in tree_of(pid)):
        # It may end at any moment.
        with contextlib.suppress(OSError):
            found = _PROPORTIONAL.search((process / "smaps_rollup").read_text())
            memory += int(found[1]) if found else 0
            threads += sum(1 for _ in (process / "task").iterdir())
            for file in (process / "fd").iterdir():
                with contextlib.suppress(OSError):
                    is_socket = str(file.readlink()).startswith("socket:")
                    files, sockets = files + 1, sockets + is_socket
    return Held(memory / 1024, files, sockets, threads)
