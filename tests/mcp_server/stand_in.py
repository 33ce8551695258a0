"""A real HTTP server on loopback that stands for the service: its answers as the REST contract words them."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

KEY = "ioc_k1a2b3c4_0123456789abcdefghijklmnopqrstuvwxyzABCDEF"
MOST_RESULTS = 50

JsonObject = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """A request as it arrived."""

    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Reply:
    """An answer to give whatever is asked; after `slow_after` bytes of the body hardly anything comes.

    With `drips`, that is a byte every 50 ms, else nothing.
    """

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    slow_after: int | None = None
    drips: bool = False


@dataclass
class StandIn:
    """The service of a test: hold records, or answer everything alike."""

    base_url: str
    asked: list[Asked] = field(default_factory=list)
    records: list[JsonObject] = field(default_factory=list)
    reply: Reply | None = None
    closing: threading.Event = field(default_factory=threading.Event)

    def holds(self, *records: JsonObject) -> None:
        self.records.extend(records)

    def answers(self, status: int, body: JsonObject | bytes = b"", **headers: str) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.reply = Reply(status, body if isinstance(body, bytes) else json.dumps(body).encode(), named)

    def hangs(self, after: int = 0) -> None:
        self.reply = Reply(200, b'{"items": []}', slow_after=after)

    def drips(self) -> None:
        self.reply = Reply(200, b'{"items": []' + b" " * 1_000 + b"}", slow_after=5, drips=True)

    def replies_to(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        if self.reply is not None:
            return self.reply
        if asked.headers.get("authorization") != f"Bearer {KEY}":
            return problem(401, "invalid_api_key", "The API key is unknown or revoked.")
        if asked.path == "/api/v1/usage":
            return Reply(200, b'{"items": []}')
        return self._page(asked) if asked.path == "/api/v1/iocs" else problem(404, "not_found", "No such path.")

    def _page(self, asked: Asked) -> Reply:
        limit = min(int(asked.query.get("limit", "20")), MOST_RESULTS)
        matching = [record for record in self.records if _matches(record, asked.query)]
        page = {"items": matching[:limit], "limit": limit, "total": len(matching), "next_cursor": None}
        return Reply(200, json.dumps(page | {"query": asked.query.get("q")}).encode())


def record(type: str, value: str, **members: Any) -> JsonObject:
    """An IOC record with all that the REST contract gives one."""
    whole: JsonObject = {
        "id": "5a4f6f0e-9d0c-5c53-8c3e-3f6f8a1d2b3c",
        "type": type,
        "value": value,
        "defanged": value.replace(".", "[.]") if type in ("ip", "domain") else value,
        "first_seen": "2026-11-18T07:30:00Z",
        "last_seen": "2026-11-20T09:00:00Z",
        "sightings": 3,
        "sources": 2,
        "context": f"The loader contacted {value} twice.",
        "malware": ["Emotet"],
        "tags": [],
        "warnings": [],
        "status": "active",
        "article": {
            "id": "0f2f3f62-8a55-5d2c-9c1e-1d1f5b7b9a10",
            "title": "Kestrel loader targets shipping firms",
            "url": "https://blog.example/posts/kestrel",
            "source_name": "Bar Weekly",
            "published_at": "2026-11-20T09:00:00Z",
        },
    }
    return whole | members


def problem(status: int, code: str, detail: str, **headers: str) -> Reply:
    body = {"type": "about:blank", "title": code, "status": status, "detail": detail, "code": code}
    return Reply(status, json.dumps(body).encode(), headers)


@contextmanager
def running_stand_in(tls: ssl.SSLContext | None = None) -> Iterator[StandIn]:
    """A stand-in that listens until the block ends; what still hangs then is let go."""
    with _Server(("127.0.0.1", 0), _Handler) as server:
        if tls is not None:
            # Lazily, in the connection's own thread: a refused handshake must not stop the server.
            server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        stand_in = StandIn(f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}")
        server.stand_in = stand_in  # type: ignore[attr-defined]  # the handler's only way to its server's state
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield stand_in
        finally:
            stand_in.closing.set()
            server.shutdown()
            thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Nothing: a client that hangs up is what some tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        stand_in: StandIn = self.server.stand_in  # type: ignore[attr-defined]  # set by running_stand_in
        parts = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        headers = {name.lower(): value for name, value in self.headers.items()}
        self._send(stand_in.replies_to(Asked(parts.path, query, headers)), stand_in.closing)

    def _send(self, reply: Reply, closing: threading.Event) -> None:
        self.send_response(reply.status)
        for name, value in ({"Content-Type": "application/json"} | dict(reply.headers)).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(reply.body[: reply.slow_after])
            if reply.slow_after is not None:
                self.close_connection = True
                self._slow_rest(reply.body[reply.slow_after :] if reply.drips else b"", closing)

    def _slow_rest(self, rest: bytes, closing: threading.Event) -> None:
        for byte in rest:
            self.wfile.write(bytes([byte]))
            if closing.wait(0.05):
                return
        closing.wait(30)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the test's output is not a web server's log."""


def _matches(record: JsonObject, query: Mapping[str, str]) -> bool:
    if "type" in query and record["type"] != query["type"]:
        return False
    if "value" in query:
        return bool(record["value"] == query["value"].replace("[.]", ".").replace("hxxp", "http"))
    return query.get("q", "").lower() in (record["value"] + record["article"]["title"]).lower()
