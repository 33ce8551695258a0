"""What is put off is imported with the first use of it, and finds what it shall not not installed."""

from __future__ import annotations

import subprocess
import sys

_ASKS = """
import sys
import api
assert "structlog.dev" not in sys.modules
import structlog
structlog.get_logger("asked").info("said")
assert "structlog.dev" in sys.modules and "rich" not in sys.modules
import rich
"""


def test_logs_are_loaded_by_who_writes_one_and_find_no_colours() -> None:
    done = subprocess.run([sys.executable, "-c", _ASKS], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "said" in done.stdout
