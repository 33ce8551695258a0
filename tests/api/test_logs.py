"""What stands in a service's log: no secret, and of a broken connection one line."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from api.logs import masked
from tests.cases import each

_SAID = """
import asyncio, sys
from api.logs import configure_logs

configure_logs()

async def say() -> None:
    try:
        raise RuntimeError("the handler is closed")
    except RuntimeError as error:
        asyncio.get_running_loop().call_exception_handler({"message": sys.argv[1], "exception": error})

asyncio.run(say())
"""


def _logged(message: str) -> dict[str, Any]:
    ended = subprocess.run([sys.executable, "-c", _SAID, message], capture_output=True, text=True, check=True)
    (line,) = ended.stderr.splitlines()
    return dict(json.loads(line))


@pytest.mark.parametrize("what", ["Fatal error on SSL protocol", "Fatal read error on socket transport"])
def test_a_connection_that_broke_is_one_line_without_a_traceback(what: str) -> None:
    said = _logged(what)
    assert said["event"].startswith(what)
    assert said["level"] == "warning"
    assert "exception" not in said


def test_what_a_protocol_does_wrong_keeps_its_traceback() -> None:
    said = _logged("Fatal error: protocol.data_received() call failed.")
    assert said["level"] == "error"
    assert "RuntimeError: the handler is closed" in said["exception"]


_KEY = "ioc_" + "a1" * 8 + "b_" + "c3" * 12


@each(
    ("said", "shown"),
    [
        (f"refused {_KEY} there", "refused ioc_*** there"),
        (f"/feed?token={_KEY.replace('ioc_', 'iocfeed_')}", "/feed?token=ioc_***"),
        ("signed with whsec_dGhpcyBpcyBhIHNlY3JldA==", "signed with whsec_***"),
        ("redis://worker:p@ss@cache.example:6379/0 is away", "redis://***@cache.example:6379/0 is away"),
        (["https://token@feeds.example/a", {"key": _KEY}], ["https://***@feeds.example/a", {"key": "ioc_***"}]),
        ("https://news.example/@author and a@b.example", "https://news.example/@author and a@b.example"),
        (12, 12),
    ],
)
def test_no_secret_stands_in_a_line(said: object, shown: object) -> None:
    assert masked(None, "info", {"event": "one", "detail": said}) == {"event": "one", "detail": shown}
