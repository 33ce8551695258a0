"""What processes hold, with all that they started: memory, files, sockets, threads."""

from __future__ import annotations

import contextlib
import re
import socket
import sys
from collections.abc import Collection, Sequence
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


def held_by(pids: Sequence[int], but_from: Collection[str] = ()) -> Held:
    """Return what these processes and their descendants hold now, without connections from those IPv4 addresses."""
    memory = files = sockets = threads = 0
    theirs = _connected_to(but_from)
    for process in (Path(f"/proc/{each}") for pid in pids for each in tree_of(pid)):
        # It may end at any moment.
        with contextlib.suppress(OSError):
            found = _PROPORTIONAL.search((process / "smaps_rollup").read_text())
            memory += int(found[1]) if found else 0
            threads += sum(1 for _ in (process / "task").iterdir())
            for file in (process / "fd").iterdir():
                with contextlib.suppress(OSError):
                    found_there = str(file.readlink())
                    if found_there not in theirs:
                        files, sockets = files + 1, sockets + found_there.startswith("socket:")
    return Held(memory / 1024, files, sockets, threads)


def _connected_to(addresses: Collection[str]) -> set[str]:
    """Return the sockets whose other end has one of these addresses, as a process's list of files names them."""
    # The kernel prints an address as the number that it is in memory.
    remote = {f"{int.from_bytes(socket.inet_aton(address), sys.byteorder):08X}" for address in addresses}
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return {f"socket:[{fields[9]}]" for fields in lines if fields[2].partition(":")[0] in remote}
