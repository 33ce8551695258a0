"""A receiver of webhooks on the loopback: it verifies what it is sent as Standard Webhooks says."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Receiver:
    """Keeps what was posted as (path, id, body), and answers with `statuses` in turn, then 204."""

    url: str = ""
    secrets: dict[str, str] = field(default_factory=dict)
    posted: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    slow: threading.Event | None = None
    wrong: list[str] = field(default_factory=list)

    def values(self, path: str = "/") -> list[str]:
        """The values that were told at a path, in order."""
        return [item["value"] for at, _, body in self.posted if at == path for item in body["items"]]


def signature(secret: str, id: str, timestamp: str, body: bytes) -> str:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    return base64.b64encode(hmac.new(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256).digest()).decode()


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            told = json.loads(body)
            id, at = self.headers["webhook-id"], self.headers["webhook-timestamp"]
            secret = receiver.secrets.get(told["search"]["id"])
            if secret and self.headers["webhook-signature"] != f"v1,{signature(secret, id, at, body)}":
                receiver.wrong.append(id)
            if receiver.slow is not None and self.path == "/slow":
                receiver.slow.wait(20)
            receiver.posted.append((self.path, id, told))
            self.send_response(receiver.statuses.pop(0) if receiver.statuses else 204)
            self.send_header("Location", f"{receiver.url}/elsewhere")
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        if receiver.slow is not None:
            receiver.slow.set()
        server.shutdown()
        thread.join(10)
        server.server_close()
