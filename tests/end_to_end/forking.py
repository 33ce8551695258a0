"""`ioc …` in processes forked from one that has imported it: what runs is the same, but no second goes into imports."""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_LARGEST_REQUEST = 150_000
# Python reads these when it starts, and Typer when it is imported: a process forked later can have no others.
_READ_AT_START = ("PYTHON", "LC_", "TERM", "FORCE_COLOR", "NO_COLOR", "LD_")


def inherited() -> dict[str, str]:
    """What commands take over from the environment of the tests."""
    return {name: os.environ[name] for name in ("PATH", "LANG", "HOME", "TMPDIR") if name in os.environ}


def may_be_forked(environment: Mapping[str, str]) -> bool:
    return not any(name.startswith(_READ_AT_START) for name in environment)


def run_forked(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str], typed: str, seconds: float
) -> subprocess.CompletedProcess[str]:
    """Run `ioc …` to its end, as `subprocess.run` would."""
    with contextlib.ExitStack() as stack:
        stdin, stdout, stderr = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(3))
        stdin.write(typed.encode())
        stdin.seek(0)
        told, tell = os.pipe()
        status = stack.enter_context(os.fdopen(told))
        request = json.dumps({"arguments": [*arguments], "folder": str(folder), "environment": {**environment}})
        socket.send_fds(_server(), [request.encode()], [stdin.fileno(), stdout.fileno(), stderr.fileno(), tell])
        os.close(tell)
        pid = int(status.readline())
        if not select.select([status], [], [], seconds)[0]:
            os.killpg(pid, signal.SIGKILL)
            raise subprocess.TimeoutExpired(["ioc", *arguments], seconds)
        code = int(status.readline())
        for file in (stdout, stderr):
            file.seek(0)
        # Line ends are those of `text=True`.
        said = [file.read().decode().replace("\r\n", "\n").replace("\r", "\n") for file in (stdout, stderr)]
        return subprocess.CompletedProcess(["ioc", *arguments], code, *said)


@cache
def _server() -> socket.socket:
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with its:
        command = [sys.executable, "-m", "tests.end_to_end.forking", str(its.fileno())]
        server = subprocess.Popen(
            command, cwd=_ROOT, env=inherited(), stdin=subprocess.DEVNULL, pass_fds=[its.fileno()]
        )
    atexit.register(_end, ours, server)
    return ours


def _end(connection: socket.socket, server: subprocess.Popen[bytes]) -> None:
    connection.close()
    server.wait()


def serve(connection: socket.socket) -> None:
    """Fork for each request; returns in the process that is to be `ioc`, and at the end of all requests."""
    from api import cli

    for module in pkgutil.iter_modules(cli.__path__, "api.cli."):
        import_module(module.name)
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        request, files, _, _ = socket.recv_fds(connection, _LARGEST_REQUEST, 4)
        if not request:
            sys.exit(0)
        if os.fork() == 0:
            connection.close()
            _watch_over_a_fork(files[3])
            return _become(files, **json.loads(request))
        for file in files:
            os.close(file)


def _watch_over_a_fork(status: int) -> None:
    """Return in a fork of this process, whose number and exit status this one tells."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if (forked := os.fork()) == 0:
        os.close(status)
        os.setsid()
        return
    os.write(status, f"{forked}\n".encode())
    _, ended = os.waitpid(forked, 0)
    os.write(status, f"{os.waitstatus_to_exitcode(ended)}\n".encode())
    os._exit(0)


def _become(files: Sequence[int], arguments: Sequence[str], folder: str, environment: Mapping[str, str]) -> None:
    for number, file in enumerate(files[:3]):
        os.dup2(file, number)
        os.close(file)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["ioc", *arguments]
    sys.modules["__main__"].__package__ = None  # or the usage would call it `python -m`


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
    from ioc_intelligence.commands import ioc

    ioc()
