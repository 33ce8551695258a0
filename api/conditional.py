"""Answers that a client may keep: the same bytes are not sent twice to whoever says that it has them (RFC 9110)."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Iterable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.limits.caller import CALLER
from api.limits.policy import is_data

# For the description of a path that answers so.
UNCHANGED = {"description": "It is the one that `If-None-Match` names."}
# Follows the tag of an answer that is compressed: other bytes have another strong tag.
COMPRESSED = "-gzip"

_TAG = re.compile(r'(?:W/)?"([\x21\x23-\x7e\x80-\xff]*)"')
_INLINE_BYTES = 128 * 1024


class ConditionalMiddleware:
    """ASGI middleware that gives every whole answer to a GET for data its `ETag`, and answers 304 to who has it.

    Streams have none: nobody knows how they end when they begin. Tags are compared weakly, as RFC 9110 asks for
    `If-None-Match`, and a compressed answer counts as the plain one.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET" or not is_data(scope["path"]):
            await self._app(scope, receive, send)
            return
        start: Message | None = None

        async def answer(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start" and _is_whole(message):
                start = message
                return
            if start is not None:
                head, start = start, None
                head, message = await _unless_kept(scope, head, message)
                await send(head)
            await send(message)

        await self._app(scope, receive, answer)


def _is_whole(start: Message) -> bool:
    return start["status"] == 200 and any(name == b"content-length" for name, _ in start["headers"])


async def _unless_kept(scope: Scope, start: Message, body: Message) -> tuple[Message, Message]:
    """Return an answer with its tag, or 304 without its body where the request names that very one."""
    content = body.get("body", b"")
    digest = await asyncio.to_thread(_digest, content) if len(content) > _INLINE_BYTES else _digest(content)
    given = [value.decode("latin-1") for name, value in scope["headers"] if name == b"if-none-match"]
    held = _held(given, digest) if given else None
    headers = [header for header in start["headers"] if header[0] != b"etag"]
    headers.append((b"etag", (held or f'"{digest}"').encode()))
    if all(name != b"cache-control" for name, _ in headers):
        # Whoever keeps it asks each time whether it is still so; what a key was shown is its own.
        headers.append((b"cache-control", b"private, no-cache" if _has_identity(scope) else b"no-cache"))
    if held is None:
        return {**start, "headers": headers}, body
    kept = [(name, value) for name, value in headers if not name.startswith(b"content-") or name == _POLICY]
    return {**start, "status": 304, "headers": kept}, {**body, "body": b""}


_POLICY = b"content-security-policy"


def _held(given: Iterable[str], digest: str) -> str | None:
    """Return the tag by which the client has the answer of that digest, None where it has not."""
    text = ",".join(given).strip()
    if text == "*":
        return f'"{digest}"'
    tags = (digest, digest + COMPRESSED)
    return next((f'"{tag}"' for tag in _TAG.findall(text) if tag in tags), None)


def _digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()[:32]


def _has_identity(scope: Scope) -> bool:
    caller = scope.get(CALLER)
    return caller is not None and caller.identity is not None
