"""The process that reading processes are forked from; see `ingest.isolated`.

It has imported everything that reading a page needs, has one thread, and was started afresh, so that neither the
service's secrets nor its connections are in its memory. Whoever holds the other end of its control socket sends it one
socket a job.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import logging
import os
import pickle
import resource
import signal
import socket
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from intel.errors import IngestFailed

RESULT: Final = b"R"
REFUSED: Final = b"F"
OUT_OF_MEMORY: Final = b"M"
TOO_LARGE: Final = b"L"
CRASHED: Final = b"X"

LENGTH_BYTES: Final = 8
_PIECE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class IsolationLimits:
    """What one job may take; `wall_seconds` counts from when the process begins."""

    cpu_seconds: int = 20
    wall_seconds: float = 30.0
    # Measured: 10 MB of a table with 90,000 indicators take 350 MB.
    memory_bytes: int = 384 << 20
    result_bytes: int = 64 << 20


def serve(control_fd: int, preload: Sequence[str]) -> None:
    """Fork a process for every socket that comes in, until the other end is closed; then end all of them at once.

    `preload` names modules to import, or `module:function` to call as well.
    """
    control = socket.socket(fileno=control_fd)
    for entry in preload:
        module, _, function = entry.partition(":")
        imported = importlib.import_module(module)
        if function:
            getattr(imported, function)()
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps: no zombies
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not message:
            os.killpg(0, signal.SIGKILL)
        if os.fork() == 0:
            control.close()
            _work(socket.socket(fileno=descriptors[0]))
        os.close(descriptors[0])


def _work(job: socket.socket) -> None:
    """Run one job and end the process, whatever happens."""
    try:
        status, payload = _answer(job)
        job.sendall(status + payload)
    finally:
        os._exit(0)


def _answer(job: socket.socket) -> tuple[bytes, bytes]:
    try:
        limits, function, args = pickle.loads(_received(job))  # noqa: S301 - from the service itself
        _confine(limits)
        result = pickle.dumps(function(*args))
        return (RESULT, result) if len(result) <= limits.result_bytes else (TOO_LARGE, b"")
    except IngestFailed as error:
        refusal = (type(error), error.reason, error.detail, error.retryable, error.retry_after_seconds)
        return REFUSED, pickle.dumps(refusal)
    except MemoryError:
        return OUT_OF_MEMORY, b""
    except BaseException as error:  # this process's outermost edge
        return CRASHED, _place_of(error).encode("ascii", "replace")


def _received(job: socket.socket) -> bytearray:
    length = int.from_bytes(_exactly(job, LENGTH_BYTES), "big")
    return _exactly(job, length)


def _exactly(job: socket.socket, length: int) -> bytearray:
    data = bytearray()
    while len(data) < length:
        piece = job.recv(min(length - len(data), _PIECE))
        if not piece:
            os._exit(0)
        data += piece
    return data


def _confine(limits: IsolationLimits) -> None:
    """The kernel ends this process at its limits, also where no Python code runs any more."""
    for handled in (signal.SIGALRM, signal.SIGXCPU, signal.SIGCHLD):
        signal.signal(handled, signal.SIG_DFL)
    _lower(resource.RLIMIT_CPU, limits.cpu_seconds)
    _lower(resource.RLIMIT_AS, limits.memory_bytes)
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, 0)
    signal.setitimer(signal.ITIMER_REAL, max(limits.wall_seconds, 0.001))
    # Libraries quote the page in what they log.
    logging.disable(logging.CRITICAL)
    os.dup2(os.open(os.devnull, os.O_RDWR), 2)


def _lower(kind: int, limit: int) -> None:
    _, most = resource.getrlimit(kind)
    if most != resource.RLIM_INFINITY:
        limit = min(limit, most)
    with contextlib.suppress(ValueError, OSError):  # macOS does not limit address space
        resource.setrlimit(kind, (limit, limit))


def _place_of(error: BaseException) -> str:
    """Kind and place of an error, without its message: that may quote the page."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "nowhere"
    return f"{type(error).__name__} at {place}"
