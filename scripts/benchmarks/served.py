"""The service as a process of its own: `uvicorn` on a free port of the loopback."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.engines.engine import NotToBeHad, free_port, running, wait_until

from .load import answers

WHOLE_SERVICE = "api.app:create_app"
_START_SECONDS = 60
_OURS = ("IOC_", "ELASTICSEARCH_", "REDIS_", "BENCH_")
_WIDE_OPEN = "100000000/second"
OPEN_RATES = dict.fromkeys(("IOC_RATE_KEY", "IOC_RATE_LIST", "IOC_RATE_SEARCH", "IOC_RATE_WRONG_KEY"), _WIDE_OPEN)


@contextmanager
def served(environment: Mapping[str, str], app: str = WHOLE_SERVICE, ready: str = "/readyz") -> Iterator[str]:
    """Give the address of the app, once it is ready. NotToBeHad where it does not start."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    options = ["--factory", "--host", "127.0.0.1", "--port", str(port), "--log-level", "warning", "--no-access-log"]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        output = Path(folder) / "output"
        with output.open("wb") as said:
            process = subprocess.Popen(
                [sys.executable, "-m", "uvicorn", app, *options],
                env={**inherited, **environment},
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        with running(process):
            try:
                wait_until(process, lambda: answers(port, ready), _START_SECONDS)
            except NotToBeHad as error:
                raise NotToBeHad(f"{error}: {output.read_text(errors='replace')[-600:]}") from error
            yield address
