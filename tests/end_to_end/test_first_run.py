"""What a newcomer sees: the first start, and the one after it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.end_to_end.processes import Installation, installed, terminate, until
from tests.engines.engine import free_port

pytestmark = pytest.mark.timeout(900)


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Installation]:
    yield from installed(tmp_path, {})


def started(here: Installation, port: int) -> str:
    """What one start prints until the service is ready; it is stopped again."""
    before = len(here.output()) if (here.folder / "output").exists() else 0
    process = here.start("serve", "--port", str(port), "--first-run")
    address = f"http://127.0.0.1:{port}"

    def ready() -> bool:
        assert process.poll() is None, here.output()
        try:
            return httpx.get(f"{address}/readyz", timeout=5).status_code == 200
        except httpx.HTTPError:
            return False

    until(ready, "the service is ready", 60)
    printed = here.output()[before:]
    check_service(address, printed)
    assert terminate(process) == 0, here.output()
    return printed


def check_service(address: str, printed: str) -> None:
    assert address in printed
    assert httpx.get(f"{address}/api/v1/articles").json()["total"] >= 5
    if key := re.search(r"ioc_\w{17}_\w{49}", printed):
        headers = {"Authorization": f"Bearer {key[0]}"}
        assert httpx.get(f"{address}/api/v1/usage", headers=headers).status_code == 200


@pytest.mark.promise("ways.start")
def test_the_first_start_greets_once_and_a_later_one_keeps_everything(here: Installation) -> None:
    port = free_port()
    first = started(here, port)
    assert "admin@localhost" in first
    assert re.search(r"Password\s+\S{12,}", first)
    assert len(re.findall(r"ioc_\w{17}_\w{49}", first)) >= 1
    assert len(re.findall(r"^\W*(curl|\S*ioc) ", first, re.MULTILINE)) >= 3
    second = started(here, port)
    assert "Password" not in second and not re.search(r"ioc_\w{17}_\w{49}", second)
    assert "Traceback" not in here.output()
