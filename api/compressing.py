"""Compressed answers for clients that take them."""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.gzip import GZipResponder
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.conditional import COMPRESSED
from api.formats.negotiating import weighed

# Below that, what is saved is less than a packet.
_SMALLEST_BYTES = 600
# Measured on a page of 50 indicators: one more costs a third more time for a twentieth less bytes.
_LEVEL = 3
_ACCEPTED = b"accept-encoding"
_VARY, _BY_ENCODING = b"vary", b"Accept-Encoding"
# They are compressed once and kept.
_STATIC = "/static/"


class CompressMiddleware:
    """ASGI middleware that compresses answers with gzip; a stream piece by piece, so that nothing of it waits.

    Compressed pages do not give their secrets away by their length: the token of a form has another mask each time.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith(_STATIC):
            await self._app(scope, receive, send)
        elif any(name == _ACCEPTED for name, _ in scope["headers"]) and takes_gzip(Headers(scope=scope)):
            packing = GZipResponder(self._app, _SMALLEST_BYTES, compresslevel=_LEVEL)
            await packing(scope, receive, _with_its_own_tag(send))
        else:
            await self._app(scope, receive, _varying(send))


def takes_gzip(headers: Headers) -> bool:
    """Tell whether a client accepts gzip, and likes it no less than what is not compressed (RFC 9110)."""
    weights = dict(weighed(",".join(headers.getlist("accept-encoding"))))
    weight = weights.get("gzip", weights.get("x-gzip", weights.get("*", 0.0)))
    return weight > 0 and weight >= weights.get("identity", 0.0)


def _with_its_own_tag(send: Send) -> Send:
    async def answer(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=message["headers"])
            if (tag := headers.get("etag")) and headers.get("content-encoding") == "gzip":
                headers["ETag"] = f'{tag[:-1]}{COMPRESSED}"'
        await send(message)

    return answer


def _varying(send: Send) -> Send:
    async def answer(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = message["headers"]
            length = next((int(value) for name, value in headers if name == b"content-length"), None)
            if length is None or length >= _SMALLEST_BYTES:
                place = next((place for place, (name, _) in enumerate(headers) if name == _VARY), None)
                if place is None:
                    headers.append((_VARY, _BY_ENCODING))
                else:
                    headers[place] = (_VARY, headers[place][1] + b", " + _BY_ENCODING)
        await send(message)

    return answer
