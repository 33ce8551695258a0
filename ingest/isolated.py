"""Running a function over a stranger's bytes in a process that can be killed.

A parser that hangs, eats memory or crashes takes its own process with it and nothing else. Processes are forked from
one that has everything imported (`ingest.zygote`), so a job costs a fork; the kernel enforces the limits.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar, TypeVarTuple

import structlog

from ingest import zygote
from ingest.zygote import IsolationLimits
from intel.errors import IngestFailed, IsolationFailed

__all__ = ["Isolation", "IsolationLimits"]

log = structlog.get_logger()

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_PRELOAD: Final = ("ingest.reading:warm_up", "ingest.indicators.iocextract_step")
_BOOT: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from ingest.zygote import serve; serve(int(sys.argv[2]), sys.argv[3:])"
)
_PASSED_ON: Final = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH")
_STARTING_SECONDS: Final = 30.0
_PIECE: Final = 1 << 18
# Each may take hundreds of megabytes.
_AT_ONCE: Final = 2
_TRUSTED_ROOMS: Final = ("intel", "ingest")


class Isolation:
    """Runs at most `at_once` jobs at a time, each within `limits`; `close` ends them all.

    `preload` are the modules that a job needs, or `module:function` to warm up. The process that forks is started with
    the first job, or by `start`.
    """

    def __init__(
        self, limits: IsolationLimits | None = None, at_once: int | None = None, preload: Sequence[str] = _PRELOAD
    ) -> None:
        self._limits = limits or IsolationLimits()
        self._slots = asyncio.Semaphore(at_once or max(1, min(_AT_ONCE, os.cpu_count() or 1)))
        self._preload = preload
        self._zygote: _Zygote | None = None

    async def run(self, function: Callable[[*Ts], T], *args: *Ts) -> T:
        """`run_within` the limits of all jobs."""
        return await self.run_within(self._limits, function, *args)

    async def run_within(self, limits: IsolationLimits, function: Callable[[*Ts], T], *args: *Ts) -> T:
        """What `function(*args)` returns; the function is of a module's top level, its arguments and result picklable.

        Raises what it raises where that is an IngestFailed, else IsolationFailed: `parse_timeout`, `parse_memory`,
        `parse_crashed`, `parse_too_large`.
        """
        async with self._slots:
            begun = time.monotonic()
            # Not before its turn has come: a page would wait twice in memory.
            answer = await self._answered(pickle.dumps((limits, function, args)), limits)
            result: T = self._read(answer, time.monotonic() - begun, limits)
            return result

    def start(self) -> None:
        """Begin importing what jobs need, so that the first one does not wait for that."""
        self._running()

    async def close(self) -> None:
        """End all jobs and the process that forks them."""
        if self._zygote is not None:
            ended, self._zygote = self._zygote, None
            await asyncio.to_thread(ended.end)

    def _running(self) -> _Zygote:
        if self._zygote is None or not self._zygote.alive:
            if self._zygote is not None:
                log.warning("the process that reading processes are forked from had died; starting another")
                self._zygote.end()
            self._zygote = _Zygote(self._preload)
        return self._zygote

    async def _answered(self, job: bytes, limits: IsolationLimits) -> bytes:
        """The status byte and its payload; nothing if the process died."""
        ours, theirs = socket.socketpair()
        with ours:
            ours.setblocking(False)
            with theirs:
                self._running().hand_over(theirs)
            try:
                async with asyncio.timeout(limits.wall_seconds + _STARTING_SECONDS):
                    return await _exchange(ours, job, limits.result_bytes)
            except (TimeoutError, ConnectionError):
                return b""

    def _read(self, answer: bytes, seconds: float, limits: IsolationLimits) -> Any:
        status, payload = answer[:1], answer[1:]
        if status in (zygote.RESULT, zygote.REFUSED):
            try:
                value = _OwnUnpickler(io.BytesIO(payload)).load()
            except Exception:  # cut short or tampered with: pickle raises anything
                raise self._death(seconds, limits, "a result that cannot be read") from None
            if status == zygote.REFUSED:
                raise _refusal(*value)
            return value
        if status == zygote.OUT_OF_MEMORY:
            raise IsolationFailed("parse_memory", "Reading the page took more memory than a page may take.")
        if status == zygote.TOO_LARGE:
            raise IsolationFailed("parse_too_large", "The page holds more than can be taken in.")
        raise self._death(seconds, limits, payload.decode("ascii", "replace")[:200] or "killed")

    def _death(self, seconds: float, limits: IsolationLimits, how: str) -> IsolationFailed:
        """The kernel does not say which limit a process ran into, but none is killed by a clock before its time."""
        if how == "killed" and seconds >= min(limits.cpu_seconds, limits.wall_seconds):
            return IsolationFailed("parse_timeout", "Reading the page took longer than a page may take.")
        log.warning("a reading process crashed", error=how)
        died = self._zygote is None or not self._zygote.alive
        return IsolationFailed("parse_crashed", "The page could not be read: its reader crashed.", retryable=died)


class _Zygote:
    """The forking process as its parent sees it: a control socket and a process group."""

    def __init__(self, preload: Sequence[str]) -> None:
        self._control, theirs = socket.socketpair()
        path = json.dumps([entry for entry in sys.path if entry])
        environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        with theirs:
            # A session of its own: Ctrl-C in a terminal is the parent's to handle. Its secrets stay in its environment.
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and program
                [sys.executable, "-I", "-c", _BOOT, path, str(theirs.fileno()), *preload],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env=environment,
                start_new_session=True,
            )

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def hand_over(self, job: socket.socket) -> None:
        """Have a process forked for this job. If that process is gone the job's other end reads end of file."""
        with contextlib.suppress(OSError):
            socket.send_fds(self._control, [b"J"], [job.fileno()])

    def end(self) -> None:
        self._control.close()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


class _OwnUnpickler(pickle.Unpickler):
    """Reads only values made of the service's own types: a reader that an author took over must not reach further."""

    def find_class(self, module: str, name: str) -> Any:
        found = super().find_class(module, name)
        if isinstance(found, type) and (module.partition(".")[0] in _TRUSTED_ROOMS or found.__module__ == "datetime"):
            return found
        raise pickle.UnpicklingError(f"{module}.{name} is not expected in a result")


def _refusal(
    kind: type[IngestFailed], reason: str, detail: str, retryable: bool, retry_after_seconds: float | None
) -> IngestFailed:
    return kind(reason, detail, retryable=retryable, retry_after_seconds=retry_after_seconds)


async def _exchange(ours: socket.socket, job: bytes, most_bytes: int) -> bytes:
    loop = asyncio.get_running_loop()
    await loop.sock_sendall(ours, len(job).to_bytes(zygote.LENGTH_BYTES, "big"))
    await loop.sock_sendall(ours, job)
    answer = bytearray()
    while piece := await loop.sock_recv(ours, _PIECE):
        answer += piece
        if len(answer) > most_bytes + 1:
            return zygote.TOO_LARGE
    return bytes(answer)
