"""What all engines share: an address, a word on where it came from, and how a process is awaited and ended."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

LEFT_OUT = "none"
MEMORY_FOR_DATA = 4 << 30


@dataclass(frozen=True, slots=True)
class Engine:
    """One engine in use: `address` is a URL or a path, `origin` says in a few words where it came from."""

    address: str
    origin: str


class NotToBeHad(Exception):
    """No such engine can be used here; the text says why."""


Source = Callable[[], AbstractContextManager[Engine]]


@contextmanager
def given(variable: str) -> Iterator[Engine]:
    """The engine an environment variable names: also how one process hands its engines to another."""
    address = os.environ.get(variable)
    if not address or address == LEFT_OUT:
        raise NotToBeHad(f"{variable} names none")
    yield Engine(address, f"{address} ({variable})")


@contextmanager
def first_of(variable: str, *sources: Source) -> Iterator[Engine]:
    """The engine the variable names, else the first source that has one; raises NotToBeHad with every reason."""
    candidates: tuple[Source, ...] = (lambda: given(variable),)
    if os.environ.get(variable) != LEFT_OUT:
        candidates += sources
    reasons: list[str] = []
    with ExitStack() as stack:
        for source in candidates:
            try:
                engine = stack.enter_context(source())
                break
            except NotToBeHad as reason:
                reasons.append(str(reason))
        else:
            raise NotToBeHad("; ".join(reasons))
        yield engine


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def free_port() -> int:
    """A port below those that systems give to clients, so that no connection takes it before its server is there."""
    while True:
        port = 20_000 + secrets.randbelow(12_000)
        with socket.socket() as listener, contextlib.suppress(OSError):
            listener.bind(("127.0.0.1", port))
            return port


def memory_folder() -> Path | None:
    """Return the folder that is kept in memory, where one has room for what tests write and programs may run in it."""
    folder = Path("/dev/shm")  # noqa: S108 # folders with names of their own are made in it
    try:
        found = os.statvfs(folder)
    except OSError:
        return None
    fits = found.f_bavail * found.f_frsize >= MEMORY_FOR_DATA and not found.f_flag & os.ST_NOEXEC
    return folder if fits and os.access(folder, os.W_OK) else None


def wait_until(process: subprocess.Popen[bytes], answers: Callable[[], bool], seconds: float) -> None:
    """Returns when the process answers; raises NotToBeHad when it ends before or the time is over."""
    deadline = time.monotonic() + seconds
    while not answers():
        with contextlib.suppress(subprocess.TimeoutExpired):
            raise NotToBeHad(f"{process.args!r} ended with status {process.wait(timeout=0.2)}")
        if time.monotonic() > deadline:
            raise NotToBeHad(f"{process.args!r} did not answer within {seconds:.0f} s")


@contextmanager
def running(process: subprocess.Popen[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """Ends the process at the end: politely, then together with the processes it started (it leads its own session)."""
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def succeeds(command: list[str], seconds: float) -> bool:
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def program(name: str, debian_package: str) -> str:
    """The path of a program; on Debian, and as root, its package is installed first where it is missing."""
    path = shutil.which(name)
    if path is None and os.geteuid() == 0 and shutil.which("apt-get"):
        with _installing():
            path = shutil.which(name) or _installed(name, debian_package)
    if path is None:
        raise NotToBeHad(f"{name} is not installed")
    return path


@contextmanager
def _installing() -> Iterator[None]:
    """Lets the processes of a test run install one after the other, for apt refuses the second of two at once."""
    with (Path(tempfile.gettempdir()) / "ioc-tests-installing").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _installed(name: str, debian_package: str) -> str | None:
    say(f"Installing {debian_package}")
    quiet = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq", "-o", "DPkg::Lock::Timeout=300"]
    succeeds([*quiet, "update"], 120)
    succeeds([*quiet, "install", "-y", "--no-install-recommends", debian_package], 600)
    return shutil.which(name)


def tree_of(pid: int) -> Iterator[int]:
    """Yield a process and all that it started and that still run (on Linux)."""
    yield pid
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in (thread / "children").read_text().split():
                yield from tree_of(int(child))
