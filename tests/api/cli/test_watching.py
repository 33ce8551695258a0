"""`ioc watch` prints what is added beside it, and ends in order."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from intel.store.sqlite.store import SqliteStore
from tests.contract.store.builders import make_article, publish


def start(folder: Path, *args: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", "from api.cli import main; main()", "watch", *args]
    environment = {**os.environ, "IOC_DATA_DIR": str(folder)}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


@pytest.mark.promise("cli.watch")
def test_what_is_added_meanwhile_and_matches_is_printed_until_ctrl_c(tmp_path: Path) -> None:
    asyncio.run(add(tmp_path, "before", "domain kestrel-old.example"))
    watching = start(tmp_path, "kestrel", "--type", "domain", "--json")
    assert watching.stdout is not None and watching.stderr is not None
    try:
        assert "watching" in watching.stderr.readline()
        asyncio.run(add(tmp_path, "after", "domain kestrel-new.example", "ip 192.0.2.1", "domain other.example"))
        asyncio.run(add(tmp_path, "later", "domain kestrel-old.example", "domain kestrel-late.example"))
        values = [json.loads(watching.stdout.readline())["value"] for _ in range(2)]
        assert values == ["kestrel-new.example", "kestrel-late.example"]
        watching.send_signal(signal.SIGINT)
        rest, errors = watching.communicate(timeout=60)
        assert (watching.returncode, rest, errors) == (0, "", "")
    finally:
        watching.kill()
        watching.communicate()


@pytest.mark.promise("cli.watch")
def test_a_filter_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    refused = start(tmp_path, "--exclude", "harmless")
    _, errors = refused.communicate(timeout=120)
    assert refused.returncode == 1 and "warned, expired, false_positive" in errors


async def add(folder: Path, name: str, *indicators: str) -> None:
    store = SqliteStore(folder / "ioc.sqlite3")
    await store.setup()
    await publish(store, make_article(name), *indicators)
    await store.close()
