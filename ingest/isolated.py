"""Running a function over a stranger's bytes in a process that can be killed.

A parser that hangs, eats memory or crashes takes its own process with it and nothing else. Processes are forked from
one that has everything imported (`ingest.fork_server`), so a job costs a fork; the kernel enforces the limits. One
that did its job well may do a few more for the same account, and for no other: what an author did to it meets nobody
else. What comes back is data (`ingest.messages`), checked against the type that the function promised.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from typing import Any, Final, TypeVar, TypeVarTuple

import structlog

from ingest import messages
from ingest.fork_server import LENGTH_BYTES
from ingest.idle_readers import WAIT_SECONDS, IdleReaders
from ingest.messages import IsolationLimits, Job, MalformedMessage, Shape, read_refusal, shape_of, written
from ingest.reading_slots import ReadingSlots
from intel.errors import IsolationFailed
from intel.ids import OPERATOR

__all__ = ["Isolation", "IsolationLimits"]

log = structlog.get_logger()

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_LOADED: Final = ("ingest.indicators.iocextract_step:start", "ingest.archives", "pypdf")
_PRELOAD: Final = ("ingest.reading:warm_up", *_LOADED)
# An import's few processes read all of its files, so that they are warm with the first of these. To warm others as well
# takes two seconds of a processor, and one that waits for what is saved is needed again.
_PRELOAD_FOR_ONE_IMPORT: Final = ("ingest.reading:load", *_LOADED)
_WAIT_IN_ONE_IMPORT_SECONDS: Final = 60.0
_BOOT: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from ingest.fork_server import serve; serve(int(sys.argv[2]), sys.argv[3:])"
)
_PASSED_ON: Final = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH")
_STARTING_SECONDS: Final = 30.0
_PIECE: Final = 1 << 18
# Each may take hundreds of megabytes.
_AT_ONCE: Final = 2
_LONGEST_WORD: Final = 200


class Isolation:
    """Runs `at_once` jobs at a time, each within `limits`, fair by account (`ReadingSlots`); `close` ends them all.

    `preload` are the modules that a job needs, or `module:function` to warm up. The process that forks is started with
    the first job, or by `start`; one that has read waits `wait_seconds` for its next job.
    """

    def __init__(
        self,
        limits: IsolationLimits | None = None,
        at_once: int | None = None,
        preload: Sequence[str] = _PRELOAD,
        *,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        self._limits = limits or IsolationLimits()
        at_once = at_once or max(1, min(_AT_ONCE, os.cpu_count() or 1))
        self._slots = ReadingSlots(at_once)
        self._idle = IdleReaders(at_once, wait_seconds)
        self._preload = preload
        self._forking: _ForkServer | None = None

    @classmethod
    def for_one_import(cls) -> Isolation:
        """Return one whose jobs are all of one import."""
        return cls(preload=_PRELOAD_FOR_ONE_IMPORT, wait_seconds=_WAIT_IN_ONE_IMPORT_SECONDS)

    @property
    def limits(self) -> IsolationLimits:
        return self._limits

    async def run(
        self, function: Callable[[*Ts], T], *args: *Ts, account_id: str = OPERATOR, is_large: bool = False
    ) -> T:
        """Do as `run_within`, within the limits of all jobs."""
        return await self.run_within(self._limits, function, *args, account_id=account_id, is_large=is_large)

    async def run_within(
        self,
        limits: IsolationLimits,
        function: Callable[[*Ts], T],
        *args: *Ts,
        account_id: str = OPERATOR,
        is_large: bool = False,
    ) -> T:
        """Return the result of `function(*args)`, run for an account; of large jobs one runs at a time.

        The function is of a module's top level; its signature says of which types the arguments and the result are:
        such as `ingest.messages` can write. Raises what it raises where that is an IngestFailed, else IsolationFailed:
        `parse_timeout`, `parse_memory`, `parse_crashed`, `parse_too_large`, or `busy` before a large one.
        """
        # A large page leaves much memory behind.
        owner = None if is_large else account_id
        async with (
            self._slots.taken(account_id, is_large=is_large),
            contextlib.aclosing(self._items(limits, function, args, owner)) as items,
        ):
            results: list[T] = [result async for result in items]
        if len(results) != 1:
            raise self._death(0.0, limits, "not one result")
        return results[0]

    async def stream(
        self,
        limits: IsolationLimits,
        function: Callable[[*Ts], Iterator[T]],
        *args: *Ts,
        account_id: str | None = None,
    ) -> AsyncGenerator[T, None]:
        """Yield the items of a generator, as they are made; it waits while nobody asks for the next one.

        Takes none of the slots of `run`, and a process of its own unless an account is named. Raises as `run_within`.
        """
        async with contextlib.aclosing(self._items(limits, function, args, account_id)) as items:
            async for item in items:
                yield item

    def start(self) -> None:
        """Begin importing what jobs need, so that the first one does not wait for that."""
        self._running()

    async def close(self) -> None:
        """End all jobs and the process that forks them."""
        self._idle.close()
        if self._forking is not None:
            ended, self._forking = self._forking, None
            await asyncio.to_thread(ended.end)

    def _running(self) -> _ForkServer:
        if self._forking is None or not self._forking.alive:
            if self._forking is not None:
                log.warning("the process that reading processes are forked from had died; starting another")
                self._forking.end()
            self._forking = _ForkServer(self._preload)
        return self._forking

    async def _items(
        self, limits: IsolationLimits, function: Callable[..., Any], args: tuple[Any, ...], owner: str | None = None
    ) -> AsyncGenerator[Any, None]:
        """Yield the items of a job, done by a process that has worked for `owner` where one waits."""
        job = Job(f"{function.__module__}:{function.__qualname__}", len(args), limits)
        shape, begun = shape_of(function), time.monotonic()
        reader = (self._idle.take(owner) if owner is not None else None) or self._forked()
        answer = _Answer(reader, limits)
        try:
            # Not before its turn has come: a page would wait twice in memory.
            await answer.ask(written(job), written(args))
            while (item := await answer.item(shape)) is not None:
                yield item
                begun = time.monotonic()
        except MalformedMessage as error:
            raise self._death(time.monotonic() - begun, limits, str(error)) from None
        except (TimeoutError, ConnectionError):
            raise self._death(time.monotonic() - begun, limits, "killed") from None
        finally:
            if answer.has_stayed and owner is not None:
                self._idle.put(owner, reader)
            else:
                reader.close()

    def _forked(self) -> socket.socket:
        """Return the socket of a process that is being made."""
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with theirs:
            self._running().hand_over(theirs)
        return ours

    def _death(self, seconds: float, limits: IsolationLimits, how: str) -> IsolationFailed:
        """Say why a process died; the kernel names no limit, but no clock kills a process before its time."""
        if how == "killed" and seconds >= min(limits.cpu_seconds, limits.wall_seconds):
            return IsolationFailed("parse_timeout", "Reading the page took longer than a page may take.")
        log.warning("a reading process crashed", error=how)
        died = self._forking is None or not self._forking.alive
        return IsolationFailed("parse_crashed", "The page could not be read: its reader crashed.", retryable=died)


class _ForkServer:
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


class _Answer:
    """The answer to a job while it comes in: frame by frame, each within bounds."""

    def __init__(self, ours: socket.socket, limits: IsolationLimits) -> None:
        self._ours = ours
        self._limits = limits
        self._left = limits.result_bytes
        self.has_stayed = False

    async def ask(self, *frames: bytes) -> None:
        """Send a job."""
        loop = asyncio.get_running_loop()
        async with self._in_time():
            for frame in frames:
                await loop.sock_sendall(self._ours, len(frame).to_bytes(LENGTH_BYTES, "big"))
                await loop.sock_sendall(self._ours, frame)

    async def item(self, shape: Shape) -> Any:
        """Return the next item, None at the end. Raises IngestFailed, MalformedMessage, TimeoutError or
        ConnectionError.
        """
        assembled = shape.assembled()
        async with self._in_time():
            while True:
                kind, payload = await self._frame()
                if kind == messages.ITEM_ENDS:
                    return assembled.value()
                if kind == messages.ANSWER_ENDS:
                    self.has_stayed = payload == messages.STAYS
                    return None
                if kind != messages.PIECE:
                    raise _failure(kind, payload)
                assembled.add(payload)
                # A long answer lets others have their turn.
                await asyncio.sleep(0)

    async def _frame(self) -> tuple[bytes, bytearray]:
        head = await self._exactly(messages.HEAD_BYTES)
        length = int.from_bytes(head[1:], "big")
        if length > messages.LARGEST_FRAME:
            raise MalformedMessage("a frame beyond all bounds")
        self._left -= len(head) + length
        if self._left < 0:
            raise _failure(messages.TOO_LARGE, b"")
        return bytes(head[:1]), await self._exactly(length)

    async def _exactly(self, length: int) -> bytearray:
        loop, data = asyncio.get_running_loop(), bytearray()
        while len(data) < length:
            piece = await loop.sock_recv(self._ours, min(length - len(data), _PIECE))
            if not piece:
                raise ConnectionResetError
            data += piece
        return data

    def _in_time(self) -> asyncio.Timeout:
        return asyncio.timeout(self._limits.wall_seconds + _STARTING_SECONDS)


def _failure(kind: bytes, payload: bytes | bytearray) -> Exception:
    """Return what a frame that is no piece of an answer tells."""
    if kind == messages.REFUSED:
        return read_refusal(payload)
    if kind == messages.OUT_OF_MEMORY:
        return IsolationFailed("parse_memory", "Reading the page took more memory than a page may take.")
    if kind == messages.TOO_LARGE:
        return IsolationFailed("parse_too_large", "The page holds more than can be taken in.")
    return MalformedMessage(payload[:_LONGEST_WORD].decode("ascii", "replace") or "an unknown frame")
