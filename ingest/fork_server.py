"""The fork server, the process that confined processes are forked from; see `ingest.isolated`.

It has imported everything that reading a page needs, has one thread, and was started afresh, so that neither the
service's secrets nor its connections are in its memory. Whoever holds the other end of its control socket sends it one
socket for each process that it wants, and jobs through that, one after the other.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import inspect
import logging
import math
import os
import resource
import select
import signal
import socket
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

from ingest.messages import (
    ANSWER_ENDS,
    CRASHED,
    ITEM_ENDS,
    OUT_OF_MEMORY,
    PIECE,
    STAYS,
    TOO_LARGE,
    IsolationLimits,
    framed,
    read_arguments,
    read_job,
    refusal_frame,
    shape_of,
)
from intel.errors import IngestFailed

LENGTH_BYTES: Final = 8
_READ_BYTES: Final = 1 << 20
# What a process may have done when it takes one more job.
_MOST_JOBS: Final = 50
_NO_MORE: Final = object()
_STAYING: Final = framed(ANSWER_ENDS, STAYS)


def serve(control_fd: int, preload: Sequence[str]) -> None:
    """Fork a process for every socket that comes in, until the other end is closed; then end all of them at once.

    `preload` names modules to import, or `module:function` to call as well; a generator's further steps are done while
    no job waits.
    """
    control = socket.socket(fileno=control_fd)
    further = chain.from_iterable([_preloaded(entry) for entry in preload])
    _keep_what_is_there()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps: no zombies
    while True:
        while not select.select([control], [], [], 0)[0] and next(further, _NO_MORE) is not _NO_MORE:
            _keep_what_is_there()
        message, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not message:
            os.killpg(0, signal.SIGKILL)
        if os.fork() == 0:
            control.close()
            _work(socket.socket(fileno=descriptors[0]))
        os.close(descriptors[0])


def _preloaded(entry: str) -> Iterator[object]:
    """Preload one entry, up to the first step of a generator; return its further ones."""
    module, _, function = entry.partition(":")
    imported = importlib.import_module(module)
    steps = iter(getattr(imported, function)() or ()) if function else iter(())
    next(steps, None)
    return steps


def _keep_what_is_there() -> None:
    """Let the garbage collector of forked processes leave alone what was made before, whose pages they share."""
    gc.collect()
    gc.freeze()


def _work(job: socket.socket) -> None:
    """Run jobs and end the process, whatever happens: with the first that does not end well, or the other end."""
    try:
        for left in reversed(range(_MOST_JOBS)):
            ending = _ending(job, is_last=not left)
            job.sendall(ending)
            if ending != _STAYING:
                break
    finally:
        os._exit(0)


def _ending(job: socket.socket, *, is_last: bool) -> bytes:
    """Answer a job; the frame that says how that ended."""
    try:
        asked = read_job(_received(job))
        _confine(asked.limits)
        module, _, name = asked.function.partition(":")
        function = getattr(importlib.import_module(module), name)
        arguments = read_arguments(function, asked.arguments, _received(job))
        _answer(job, asked.limits, function, arguments)
        # The kernel lets it compute for two jobs of the longest kind in all.
        return framed(ANSWER_ENDS) if is_last or time.process_time() > asked.limits.cpu_seconds / 2 else _STAYING
    except _TooLarge:
        return framed(TOO_LARGE)
    except IngestFailed as error:
        return refusal_frame(error)
    except MemoryError:
        return framed(OUT_OF_MEMORY)
    except BaseException as error:  # this process's outermost edge
        return framed(CRASHED, _place_of(error).encode("ascii", "replace"))


class _TooLarge(Exception):
    """A result beyond its limit."""


def _answer(
    job: socket.socket, limits: IsolationLimits, function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    """Send what a function returns, or item by item what a generator gives, as fast as the other end reads."""
    shape, sent = shape_of(function), 0
    items = function(*arguments) if inspect.isgeneratorfunction(function) else _once(function, arguments)
    while True:
        signal.setitimer(signal.ITIMER_REAL, max(limits.wall_seconds, 0.001))
        # Passes of the garbage collector take a tenth of a page's time, for some hundred objects.
        gc.disable()
        try:
            item = next(items)
        except StopIteration:
            return
        finally:
            gc.enable()
            signal.setitimer(signal.ITIMER_REAL, 0)
        for piece in shape.pieces(item):
            sent += len(piece)
            if sent > limits.result_bytes:
                raise _TooLarge
            job.sendall(framed(PIECE, piece))
        job.sendall(framed(ITEM_ENDS))


def _once(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Iterator[Any]:
    yield function(*arguments)


def _received(job: socket.socket) -> bytearray:
    length = int.from_bytes(_exactly(job, LENGTH_BYTES), "big")
    return _exactly(job, length)


def _exactly(job: socket.socket, length: int) -> bytearray:
    data = bytearray()
    while len(data) < length:
        piece = job.recv(min(length - len(data), _READ_BYTES))
        if not piece:
            os._exit(0)
        data += piece
    return data


def _confine(limits: IsolationLimits) -> None:
    """Have the kernel end this process at the limits of a job, also where no Python code runs any more."""
    for handled in (signal.SIGALRM, signal.SIGXCPU, signal.SIGCHLD):
        signal.signal(handled, signal.SIG_DFL)
    _lower(resource.RLIMIT_CPU, 2 * limits.cpu_seconds, math.ceil(time.process_time()) + limits.cpu_seconds)
    _lower(resource.RLIMIT_AS, limits.memory_bytes)
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, 0)
    # Libraries quote the page in what they log.
    logging.disable(logging.CRITICAL)
    with Path(os.devnull).open("r+b", buffering=0) as nowhere:
        os.dup2(nowhere.fileno(), 2)


def _lower(kind: int, most: int, now: int | None = None) -> None:
    """Set a limit that is never raised again, and the part of it that is given for now."""
    _, before = resource.getrlimit(kind)
    if before != resource.RLIM_INFINITY:
        most = min(most, before)
    with contextlib.suppress(ValueError, OSError):  # macOS does not limit address space
        resource.setrlimit(kind, (most if now is None else min(now, most), most))


def _place_of(error: BaseException) -> str:
    """Return kind and place of an error, without its message: that may quote the page."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "nowhere"
    return f"{type(error).__name__} at {place}"
