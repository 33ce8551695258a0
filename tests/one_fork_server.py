"""One fork server for all services of a test process: hundreds of tests read a page, and each would import the readers
anew. What it forks is confined as ever; only that a service ends without ending it is different.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from ingest import isolated


@contextmanager
def one_fork_server() -> Iterator[None]:
    """Has every service fork its readers from the first one's server; ends it at the end."""
    own = isolated._ForkServer
    running: dict[tuple[str, ...], isolated._ForkServer] = {}

    class Shared:
        def __init__(self, preload: Sequence[str]) -> None:
            self._key = tuple(preload)
            if self._key not in running or not running[self._key].alive:
                running[self._key] = own(preload)

        @property
        def alive(self) -> bool:
            return running[self._key].alive

        def hand_over(self, job: socket.socket) -> None:
            running[self._key].hand_over(job)

        def end(self) -> None:
            """Leave it to the next service."""

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(isolated, "_ForkServer", Shared)
        yield
    for server in running.values():
        server.end()
