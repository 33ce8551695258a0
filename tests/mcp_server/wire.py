"""A stdio client of hand-written JSON-RPC lines, for clients older than the SDK at hand."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from tests.mcp_server.stand_in import KEY, StandIn

SERVER = (sys.executable, "-m", "mcp_server.main")
ROOT = Path(__file__).parents[2]
WAIT_SECONDS = 60.0

Message = dict[str, Any]


class Wire:
    """One running server; every wait for a line is bounded."""

    def __init__(self, process: subprocess.Popen[str], lines: queue.Queue[str | None], errors: IO[str]) -> None:
        self.process = process
        self.stdout_lines: list[str] = []
        self._lines = lines
        self._errors = errors

    def send(self, message: Message | str) -> None:
        assert self.process.stdin is not None
        text = message if isinstance(message, str) else json.dumps({"jsonrpc": "2.0"} | message)
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def answer_to(self, id: int) -> Message:
        """The next message with this id; what stands before it must be protocol too."""
        while True:
            line = self._lines.get(timeout=WAIT_SECONDS)
            assert line is not None, f"the server ended: {self.errors()}"
            self.stdout_lines.append(line)
            message: Message = json.loads(line)
            if message.get("id") == id:
                return message

    def request(self, id: int, method: str, params: Message) -> Message:
        self.send({"id": id, "method": method, "params": params})
        return self.answer_to(id)

    def initialize(self, protocol_version: str) -> Message:
        client = {"name": "test", "version": "1"}
        params = {"protocolVersion": protocol_version, "capabilities": {}, "clientInfo": client}
        result: Message = self.request(1, "initialize", params)["result"]
        self.send({"method": "notifications/initialized"})
        return result

    def call(self, id: int, tool: str, arguments: Message) -> Message:
        result: Message = self.request(id, "tools/call", {"name": tool, "arguments": arguments})["result"]
        return result

    def close(self) -> int:
        """End the client's side; the exit status."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        status = self.process.wait(WAIT_SECONDS)
        while (line := self._lines.get(timeout=WAIT_SECONDS)) is not None:
            self.stdout_lines.append(line)
        return status

    def errors(self) -> str:
        self._errors.seek(0)
        return self._errors.read()


def environment(**settings: str) -> dict[str, str]:
    """This process's environment with the server's own settings replaced by these."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("SERVICE_")}
    return others | settings


@contextmanager
def wire(service: StandIn, extra: Mapping[str, str] | None = None) -> Iterator[Wire]:
    """A server process over the stand-in, ended with the block."""
    settings = environment(SERVICE_API_KEY=KEY, SERVICE_BASE_URL=service.base_url, **(extra or {}))
    pipe = subprocess.PIPE
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(SERVER, env=settings, stdin=pipe, stdout=pipe, stderr=errors, text=True, cwd=ROOT)
        lines: queue.Queue[str | None] = queue.Queue()
        reader = threading.Thread(target=_read, args=(process, lines))
        reader.start()
        try:
            yield Wire(process, lines, errors)
        finally:
            with process:
                process.kill()
                reader.join()


def _read(process: subprocess.Popen[str], lines: queue.Queue[str | None]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        lines.put(line)
    lines.put(None)
