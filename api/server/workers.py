"""Several processes that serve together: started, watched and ended by their parent, which does nothing else.

They are forked, so that they share the memory of what is imported. The first is started alone, because it prepares the
store; when it is ready the others follow. One that dies is replaced, and its socket, which the parent holds too, keeps
what came in meanwhile. They end when the parent does, however it dies.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable

import structlog

log = structlog.get_logger()

_ENDING_SECONDS = 10.0
# A worker that dies at once is not replaced in a loop.
_REPLACING_SECONDS = 0.5
_READY = signal.SIGUSR1
_CAUGHT = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, signal.SIGALRM, _READY})

# What a worker does, from its number (0 is the first) and what to call as soon as it is ready; returns when it ends.
Work = Callable[[int, Callable[[], None]], None]


class Workers:
    """`count` processes that do `work`."""

    def __init__(self, count: int, work: Work) -> None:
        self._work = work
        self._running: dict[int, int] = {}
        self._missing = set(range(1, count))
        self._first_is_ready = False
        self._lifeline, self._parent_lives = os.pipe()

    def run(self) -> int:
        """Run them until SIGTERM or SIGINT; return 0, or the exit status of a first worker that never was ready."""
        signal.pthread_sigmask(signal.SIG_BLOCK, _CAUGHT)
        self._start(0)
        while (caught := signal.sigwait(_CAUGHT)) not in (signal.SIGTERM, signal.SIGINT):
            if caught == _READY:
                self._first_is_ready = True
            ended = self._ended()
            if ended and not self._first_is_ready:
                return ended[0]
            if ended:
                signal.setitimer(signal.ITIMER_REAL, _REPLACING_SECONDS)
            elif self._first_is_ready:
                self._start_missing()
        self._end()
        return 0

    def _start_missing(self) -> None:
        while self._missing:
            self._start(min(self._missing))

    def _start(self, number: int) -> None:
        self._missing.discard(number)
        parent = os.getpid()
        child = os.fork()
        if child:
            self._running[child] = number
            return
        os.close(self._parent_lives)
        threading.Thread(target=self._end_with_the_parent, daemon=True).start()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        # Ctrl-C reaches every process of a terminal; the parent ends its workers.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _CAUGHT - {signal.SIGINT})
        self._work(number, lambda: os.kill(parent, _READY))
        raise SystemExit(0)

    def _end_with_the_parent(self) -> None:
        os.read(self._lifeline, 1)
        os.kill(os.getpid(), signal.SIGTERM)

    def _ended(self) -> list[int]:
        """Return the exit statuses of the workers that have ended, and note that they are missing."""
        statuses = []
        while self._running:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                break
            number = self._running.pop(pid)
            self._missing.add(number)
            statuses.append(os.waitstatus_to_exitcode(status))
            if self._first_is_ready:
                log.warning("a worker died; another takes its place", worker=number, status=statuses[-1])
        return statuses

    def _end(self) -> None:
        """End all workers: by SIGTERM, those that do not end in time by SIGKILL."""
        self._signal_all(signal.SIGTERM)
        end = time.monotonic() + _ENDING_SECONDS
        while self._running:
            signal.setitimer(signal.ITIMER_REAL, max(0.01, end - time.monotonic()))
            signal.sigwait({signal.SIGCHLD, signal.SIGALRM})
            if time.monotonic() >= end:
                self._signal_all(signal.SIGKILL)
                end = time.monotonic() + _ENDING_SECONDS
            self._reap()

    def _reap(self) -> None:
        while self._running and (pid := os.waitpid(-1, os.WNOHANG)[0]):
            del self._running[pid]

    def _signal_all(self, number: signal.Signals) -> None:
        for pid in self._running:
            os.kill(pid, number)
