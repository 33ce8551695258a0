"""Makes .venv at the project's root: Python's own environment, the locked packages by pip, the project's commands.

Standard library only. The project is put in with a .pth file and two generated launchers instead of `pip install
--editable`: that would fetch a build backend which no lock covers.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import venv
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".venv"
PYTHON = FOLDER / "bin" / "python"
# What a finished environment was made from; taken away first and written last, so that a half-made one has none.
MARK = FOLDER / "installed.json"
COMMANDS = [FOLDER / "bin" / name for name in ("ioc", "ioc-mcp")]
EXIT_FAILED, EXIT_CANNOT_START, EXIT_INTERRUPTED = 1, 2, 130

ADVICE = {
    "DO NOT MATCH THE HASHES": "A download differs from what was locked. If a second run says so too, the package "
    "index serves other files than the lock names.",
    "No space left": "The disk is full: make room (about 500 MB) and run this again.",
    "CERTIFICATE_VERIFY_FAILED": "The package index was not trusted: name your CA file in PIP_CERT and run this again.",
    "connection broken": "The package index could not be reached: check the network, then run this again "
    "(PIP_INDEX_URL names another index, PIP_PROXY a proxy).",
    "No matching distribution": "The package index has no such file for this machine: check PIP_INDEX_URL, and that "
    "this Python is one of 3.11 to 3.14, then run this again.",
}


class CannotInstall(Exception):
    """Ends the run with one text for the person at the terminal and an exit status."""

    def __init__(self, text: str, status: int = EXIT_FAILED) -> None:
        super().__init__(text)
        self.status = status


def install(dev: bool) -> None:
    try:
        made = json.loads(MARK.read_text())
    except (OSError, ValueError):
        made = {}
    dev = dev or bool(made.get("dev"))
    lock = ROOT / ("requirements-dev.txt" if dev else "requirements.txt")
    inputs = hashlib.sha256(b"".join(file.read_bytes() for file in (lock, ROOT / "pyproject.toml", Path(__file__))))
    wanted = {"root": str(ROOT), "python": version(), "dev": dev, "inputs": inputs.hexdigest()}
    if made == wanted and all(command.exists() for command in COMMANDS):
        return
    # One that was interrupted, was moved or lost its Python is not to be mended.
    if any(made.get(key) != wanted[key] for key in ("root", "python")):
        make_environment()
    MARK.unlink(missing_ok=True)
    say(f"Installing {lock.name} into .venv")
    install_packages(lock)
    add_project()
    MARK.write_text(json.dumps(wanted | {"python": version()}))
    say("Ready: .venv/bin/ioc and .venv/bin/ioc-mcp")


def version() -> str | None:
    """Return the version of the environment's Python, e.g. "3.13.0"; None where it does not run."""
    try:
        command = [str(PYTHON), "-I", "-c", "import platform; print(platform.python_version())"]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None


def make_environment() -> None:
    if importlib.util.find_spec("ensurepip") is None:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise CannotInstall(
            f"{sys.executable} (Python {version}) is here, but not the part that makes environments. Install it with\n"
            f"    apt install python3-venv      (for another than the system's default Python: python{version}-venv)\n"
            "as root, then run this again.",
            EXIT_CANNOT_START,
        )
    say(f"Making .venv with Python {sys.version.split()[0]} ({sys.executable})")
    if FOLDER.is_symlink():
        FOLDER.unlink()
    elif FOLDER.exists():
        shutil.rmtree(FOLDER)
    venv.EnvBuilder(with_pip=True, symlinks=True).create(FOLDER)


def install_packages(lock: Path) -> None:
    # Wheels only: a source package would run its own build code, with a backend fetched outside the lock.
    options = ["--disable-pip-version-check", "--no-input", "--no-user", "--require-hashes", "--only-binary", ":all:"]
    command = [str(PYTHON), "-I", "-m", "pip", "install", *options, "--progress-bar", "off", "-r", str(lock)]
    total = len(re.findall(r"^[A-Za-z0-9._-]+==", lock.read_text(), re.MULTILINE))
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as pip:
        last = show_progress(pip.stdout or (), total)
    if pip.returncode:
        text = "\n".join(last)
        advice = next((words for sign, words in ADVICE.items() if sign in text), "pip could not finish.")
        raise CannotInstall(f"{text}\n\n{advice}")


def show_progress(lines: Iterable[str], total: int) -> list[str]:
    """Count pip's packages on the terminal as they come; returns pip's last lines, for when it fails."""
    last: deque[str] = deque(maxlen=12)
    count, live = 0, sys.stdout.isatty()
    for line in lines:
        last.append(line.rstrip())
        if line.startswith("Collecting "):
            count += 1
            if live:
                print(f"\r  package {count} of at most {total}", end="", flush=True)
        elif line.startswith("Installing collected"):
            say(f"{chr(10) if live else ''}  writing {count} packages to disk")
    return list(last)


def add_project() -> None:
    """Put the project's root on the environment's path, and its console scripts into bin."""
    ask = [str(PYTHON), "-I", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = Path(subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip())
    (packages / "ioc_intelligence.pth").write_text(f"{ROOT}\n", encoding="utf-8")
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    for command in COMMANDS:
        module, _, function = scripts[command.name].partition(":")
        part = command.with_name(command.name + ".part")
        # sh reads the first line, Python a string literal: a #! line with the interpreter's path breaks on blanks.
        part.write_text(
            f"#!/bin/sh\n'''exec' {shlex.quote(str(PYTHON))} \"$0\" \"$@\"\n' '''\n"
            f"import sys\n\nfrom {module} import {function}\n\nsys.exit({function}())\n",
            encoding="utf-8",
        )
        part.chmod(0o755)
        part.replace(command)


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Hold a lock on the root folder, so that two scripts started at once do not write one environment."""
    descriptor = os.open(ROOT, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another script is making this environment: waiting for it")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def say(text: str) -> None:
    print(text, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/install", description="Makes .venv with the project's commands in it."
    )
    parser.add_argument("--dev", action="store_true", help="also what tests and checks need")
    arguments = parser.parse_args()
    try:
        with alone():
            install(arguments.dev)
    except CannotInstall as error:
        print(f"\n{error}", file=sys.stderr)
        return error.status
    except KeyboardInterrupt:
        print("\nInterrupted. Run it again: it begins where that is safe.", file=sys.stderr)
        return EXIT_INTERRUPTED
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"\nThe environment could not be made: {error}", file=sys.stderr)
        return EXIT_FAILED
    return 0


if __name__ == "__main__":
    sys.exit(main())
