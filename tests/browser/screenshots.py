"""Takes the pictures of the documents: a fresh service with the sample articles, in a browser of 1280 by 800."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
from playwright.sync_api import sync_playwright

from tests.engines.chromium import chromium
from tests.engines.engine import free_port

TARGET = Path(__file__).parents[2] / "docs" / "screenshots"
PAGES = {"home": "/", "search": "/search", "focus": "/focus", "weekly": "/weekly"}
_PATIENCE_SECONDS = 120


def main() -> None:
    """Write one picture a page."""
    TARGET.mkdir(exist_ok=True)
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as folder:
        command = [str(Path(sys.executable).with_name("ioc")), "serve", "--port", str(port), "--first-run"]
        process = subprocess.Popen(command, env=os.environ | {"IOC_DATA_DIR": folder}, stdout=subprocess.DEVNULL)
        try:
            _wait(address)
            _take(address)
        finally:
            process.terminate()
            process.wait(20)


def _wait(address: str) -> None:
    end = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            if httpx.get(f"{address}/readyz").status_code == 200:
                return
        except httpx.HTTPError:
            pass
        if time.monotonic() > end:
            raise SystemExit("the service did not start")
        time.sleep(0.5)


def _take(address: str) -> None:
    with chromium() as engine, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=engine.address, args=["--no-sandbox"])
        page = browser.new_page(base_url=address, viewport={"width": 1280, "height": 800}, color_scheme="light")
        for name, path in PAGES.items():
            page.goto(path)
            page.screenshot(path=TARGET / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
