"""The installed commands as processes of their own, on a folder and engines of their own."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import httpx

from tests.end_to_end.forking import inherited, may_be_forked, run_forked
from tests.engines.engine import free_port

T = TypeVar("T")

PROGRAMS = Path(sys.executable).parent
PASSWORD = "correct horse battery staple"
_PATIENCE_SECONDS = 120.0


def until(look: Callable[[], T | None], what: str, seconds: float = _PATIENCE_SECONDS) -> T:
    """What `look` finds as soon as it is something true; fails where that takes too long."""
    end = time.monotonic() + seconds
    while True:
        found = look()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"after {seconds:.0f} s still not: {what}")
        time.sleep(0.1)


class Installation:
    """Commands that share one environment; whatever was started and still runs is killed at the end."""

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        self.folder = folder
        self.environment = inherited() | {
            "IOC_DATA_DIR": str(folder / "data"),
            "IOC_FETCH_ALLOW": "127.0.0.0/8",
            # So that waiting for a submission runs into no limit.
            "IOC_RATE_KEY": "100000/minute",
            **settings,
        }
        self._started: list[subprocess.Popen[bytes]] = []

    @property
    def database(self) -> Path:
        return self.folder / "data" / "ioc.sqlite3"

    def start(self, *arguments: str, program: str = "ioc", within: Sequence[str] = ()) -> subprocess.Popen[bytes]:
        """Starts `ioc …` or another installed program; what it prints goes to `output`.

        `within` is a command that runs what follows it in other surroundings.
        """
        with (self.folder / "output").open("ab") as output:
            process = subprocess.Popen(
                [*within, PROGRAMS / program, *arguments],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self._started.append(process)
        return process

    def serve(self, *command: str, program: str = "ioc", within: Sequence[str] = (), ready: int = 200) -> Server:
        """Starts `ioc serve`, or another command that serves, on a free port; waits until `/readyz` answers `ready`."""
        port = free_port()
        process = self.start(*(command or ("serve",)), "--port", str(port), program=program, within=within)
        server = Server(process, f"http://127.0.0.1:{port}")
        until(lambda: self._answers(server, ready), f"/readyz answers {ready}")
        return server

    def _answers(self, server: Server, status: int) -> bool:
        assert server.process.poll() is None, self.output()
        with contextlib.suppress(httpx.HTTPError):
            return httpx.get(f"{server.address}/readyz", timeout=5).status_code == status
        return False

    def run(self, *arguments: str, typed: str = "", seconds: float = 200.0) -> subprocess.CompletedProcess[str]:
        """Runs `ioc …` to its end."""
        if may_be_forked(self.environment):
            return run_forked(arguments, self.folder, self.environment, typed, seconds)
        return subprocess.run(
            [PROGRAMS / "ioc", *arguments],
            cwd=self.folder,
            env=self.environment,
            input=typed,
            capture_output=True,
            text=True,
            timeout=seconds,
        )

    def key(self, email: str = "analyst@example.org") -> str:
        """A new key of a new account, made on the command line."""
        made = self.run("account", "create", email, typed=f"{PASSWORD}\n")
        assert made.returncode == 0, made.stderr
        created = self.run("key", "create", email)
        assert created.returncode == 0, created.stderr
        return created.stdout.strip()

    def output(self) -> str:
        """All that the started processes printed."""
        return (self.folder / "output").read_text(errors="replace")

    def close(self) -> None:
        for process in self._started:
            if process.poll() is None:
                kill(process)


def after(script: str) -> list[str]:
    """The beginning of a command that runs a shell script first."""
    return ["bash", "-ec", f'{script}; exec "$@"', "bash"]


class Server:
    """One running `ioc serve`."""

    def __init__(self, process: subprocess.Popen[bytes], address: str) -> None:
        self.process = process
        self.address = address

    def get(self, path: str, key: str | None = None, **parameters: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return httpx.get(f"{self.address}/api/v1{path}", params=parameters, headers=headers, timeout=60)

    def submit(self, url: str, key: str) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {key}"}
        answer = httpx.post(f"{self.address}/api/v1/submit", json={"url": url}, headers=headers, timeout=60)
        assert answer.status_code == 202, answer.text
        accepted: dict[str, Any] = answer.json()
        return accepted

    def ended(self, id: str, key: str) -> dict[str, Any]:
        """The submission, once it is done or failed."""

        def look() -> dict[str, Any] | None:
            answer = self.get(f"/submissions/{id}", key)
            assert answer.status_code == 200, answer.text
            found: dict[str, Any] = answer.json()
            return found if found["status"] in ("done", "failed") else None

        return until(look, f"submission {id} has ended", 50)


def kill(process: subprocess.Popen[bytes]) -> None:
    """SIGKILL for the process and everything that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def terminate(process: subprocess.Popen[bytes], seconds: float = 60.0) -> int:
    """SIGTERM, and the exit status that follows it."""
    process.terminate()
    return process.wait(seconds)


def installed(folder: Path, settings: Mapping[str, str]) -> Iterator[Installation]:
    """For fixtures: an installation whose processes end with the test."""
    made = Installation(folder, settings)
    try:
        yield made
    finally:
        made.close()
