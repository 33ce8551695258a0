"""Makes .venv at the project's root: hash-locked packages, the project itself and its commands. Standard library only.

The project is put in with a .pth file and two generated launchers instead of `pip install --editable`: that would fetch
a build backend which no lock covers, and asks more of pip than the one some systems ship can do.
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
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PIP_INDEX = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX", "PIP_CONFIG_FILE")
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


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a finished environment was made from; written last, so that a half-made one has none."""

    root: str
    python: str
    dev: bool
    inputs: str


@dataclass(frozen=True, slots=True)
class Environment:
    """The .venv folder of one project root."""

    root: Path

    @property
    def folder(self) -> Path:
        return self.root / ".venv"

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def stamp_file(self) -> Path:
        return self.folder / "installed.json"

    @property
    def unfinished(self) -> Path:
        return self.folder / "unfinished"

    def stamp(self) -> Stamp | None:
        try:
            return Stamp(**json.loads(self.stamp_file.read_text()))
        except (OSError, ValueError, TypeError):
            return None

    def lock(self, dev: bool) -> Path:
        return self.root / ("requirements-dev.txt" if dev else "requirements.txt")

    def version(self) -> str | None:
        """Return the version its interpreter reports, e.g. "3.13.0"; None when it does not run."""
        try:
            command = [str(self.python), "-I", "-c", "import platform; print(platform.python_version())"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    def wanted(self, dev: bool) -> Stamp:
        inputs = hashlib.sha256()
        for file in (self.lock(dev), self.root / "pyproject.toml", Path(__file__)):
            if file.exists():
                inputs.update(hashlib.sha256(file.read_bytes()).digest())
        return Stamp(str(self.root), self.version() or "", dev, inputs.hexdigest())


def say(text: str) -> None:
    print(text, flush=True)


def remove(folder: Path) -> None:
    if folder.is_symlink():
        folder.unlink()
    elif folder.exists():
        shutil.rmtree(folder)


def too_old(version: str) -> bool:
    return tuple(int(part) for part in version.split(".")[:2]) < (3, 11)


def has_pip(environment: Environment) -> bool:
    return subprocess.run([str(environment.python), "-I", "-c", "import pip"], capture_output=True).returncode == 0


def usable(environment: Environment) -> bool:
    """Tell whether packages may be put into the folder as it is; what was interrupted, moved or lost its Python may
    not.
    """
    stamp, version = environment.stamp(), environment.version()
    if version is None or too_old(version) or environment.unfinished.exists():
        return False
    if stamp and (stamp.root != str(environment.root) or stamp.python != version):
        return False
    return has_pip(environment)


def make_environment(environment: Environment) -> None:
    if importlib.util.find_spec("ensurepip") is None:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise CannotInstall(
            f"{sys.executable} (Python {version}) is here, but not the part that makes environments. Install it with\n"
            f"    apt install python3-venv      (for another than the system's default Python: python{version}-venv)\n"
            "as root, then run this again.",
            EXIT_CANNOT_START,
        )
    say(f"Making .venv with Python {sys.version.split()[0]} ({sys.executable})")
    remove(environment.folder)
    environment.folder.mkdir()
    environment.unfinished.touch()
    venv.EnvBuilder(with_pip=True, symlinks=True).create(environment.folder)


def locked_count(lock: Path) -> int:
    return len(re.findall(r"^[A-Za-z0-9._-]+==", lock.read_text(), re.MULTILINE))


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


def advice(lines: Iterable[str]) -> str:
    text = "\n".join(lines)
    return next((words for sign, words in ADVICE.items() if sign in text), "pip could not finish.")


def install_with_pip(environment: Environment, lock: Path) -> None:
    # Wheels only: a source package would run its own build code, with a backend fetched outside the lock.
    options = ["--disable-pip-version-check", "--no-input", "--no-user", "--require-hashes", "--only-binary", ":all:"]
    command = [
        str(environment.python),
        "-I",
        "-m",
        "pip",
        "install",
        *options,
        "--progress-bar",
        "off",
        "-r",
        str(lock),
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as pip:
        last = show_progress(pip.stdout or (), locked_count(lock))
    if pip.returncode:
        raise CannotInstall("\n".join([*last, "", advice(last)]))


def install_with_uv(environment: Environment, lock: Path) -> bool:
    """False where uv is not on PATH, only pip is told which index to use, or uv fails."""
    uv = shutil.which("uv")
    if uv is None or any(name in os.environ for name in PIP_INDEX):
        return False
    options = ["--require-hashes", "--only-binary", ":all:", "-r", str(lock)]
    done = subprocess.run([uv, "pip", "install", "--python", str(environment.python), *options])
    if done.returncode:
        say("uv did not succeed; going on with pip.")
    return done.returncode == 0


def write_executable(path: Path, text: str) -> None:
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.chmod(0o755)
    part.replace(path)


def launcher(python: Path, module: str, function: str) -> str:
    # sh reads the first line, Python a string literal: a #! line with the interpreter's path would break on blanks.
    return (
        f"#!/bin/sh\n'''exec' {shlex.quote(str(python))} \"$0\" \"$@\"\n' '''\n"
        f"import sys\n\nfrom {module} import {function}\n\nsys.exit({function}())\n"
    )


def add_project(environment: Environment) -> None:
    """Put the project's root on the environment's path, and its console scripts into bin."""
    ask = [str(environment.python), "-I", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = Path(subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip())
    (packages / "ioc_intelligence.pth").write_text(f"{environment.root}\n", encoding="utf-8")
    project = tomllib.loads((environment.root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for name, target in project["scripts"].items():
        module, _, function = target.partition(":")
        write_executable(environment.folder / "bin" / name, launcher(environment.python, module, function))


def complete(environment: Environment, dev: bool) -> bool:
    commands = all((environment.folder / "bin" / name).exists() for name in ("ioc", "ioc-mcp"))
    return commands and not environment.unfinished.exists() and environment.stamp() == environment.wanted(dev)


def install(environment: Environment, dev: bool) -> None:
    stamp = environment.stamp()
    dev = dev or (stamp is not None and stamp.dev)
    if complete(environment, dev):
        return
    if not usable(environment):
        make_environment(environment)
    environment.unfinished.touch()
    lock = environment.lock(dev)
    say(f"Installing {lock.name} into .venv")
    if not install_with_uv(environment, lock):
        install_with_pip(environment, lock)
    add_project(environment)
    environment.stamp_file.write_text(json.dumps(asdict(environment.wanted(dev))))
    environment.unfinished.unlink()
    say("Ready: .venv/bin/ioc and .venv/bin/ioc-mcp")


@contextlib.contextmanager
def alone(root: Path) -> Iterator[None]:
    """Hold a lock on the root folder, so that two scripts started at once do not write one environment."""
    descriptor = os.open(root, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another script is making this environment: waiting for it")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/install", description="Makes .venv with the project's commands in it."
    )
    parser.add_argument("--dev", action="store_true", help="also what tests and checks need")
    arguments = parser.parse_args()
    try:
        with alone(ROOT):
            install(Environment(ROOT), arguments.dev)
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
