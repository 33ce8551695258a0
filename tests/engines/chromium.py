"""Chromium for tests: a given one, one on PATH, or the one that playwright keeps."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from tests.engines.engine import Engine, NotToBeHad, first_of, program, succeeds

VARIABLE = "TEST_CHROMIUM"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PLAYWRIGHT_PATH = (
    "from playwright.sync_api import sync_playwright as s\nwith s() as p: print(p.chromium.executable_path)"
)


def chromium() -> AbstractContextManager[Engine]:
    """A Chromium or Chrome; the address is the path of its executable."""
    return first_of(VARIABLE, on_path, kept_by_playwright, from_debian, fetched_by_playwright)


@contextmanager
def on_path() -> Iterator[Engine]:
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        raise NotToBeHad("chromium is not installed")
    yield Engine(path, path)


@contextmanager
def kept_by_playwright() -> Iterator[Engine]:
    ask = subprocess.run([sys.executable, "-c", PLAYWRIGHT_PATH], capture_output=True, text=True, timeout=60)
    path = Path(ask.stdout.strip() or "none")
    if not path.is_file():
        raise NotToBeHad("playwright keeps none")
    yield Engine(str(path), f"{path} (playwright)")


@contextmanager
def from_debian() -> Iterator[Engine]:
    path = program("chromium", "chromium")
    yield Engine(path, path)


@contextmanager
def fetched_by_playwright() -> Iterator[Engine]:
    if not succeeds([sys.executable, "-m", "playwright", "install", "chromium"], 600):
        raise NotToBeHad("playwright could not fetch it")
    with kept_by_playwright() as engine:
        yield engine
