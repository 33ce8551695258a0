"""Wraps every answer: adds security headers, counts it, and answers errors that nothing else handled."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from urllib.parse import unquote_plus

import structlog
from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.limits.policy import PREFIX, is_blank
from api.metrics import Metrics
from api.problems import Problem, ProblemResponse
from api.streaming import HEAD_ONLY
from api.web import failure_page, is_page

log = structlog.get_logger()

_API_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"
_PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_FIXED = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}
# What web servers note for a client that went away before it was answered.
_CLIENT_WENT_AWAY = 499
_HTTPS_ONLY = {"Strict-Transport-Security": "max-age=31536000"}


class AnswerMiddleware:
    """ASGI middleware that adds security headers to every answer and counts it; `https` if the public address is."""

    def __init__(self, app: ASGIApp, metrics: Metrics, https: bool) -> None:
        self._app = app
        self._metrics = metrics
        self._fixed = _FIXED | (_HTTPS_ONLY if https else {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), _CLIENT_WENT_AWAY

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _secure(MutableHeaders(scope=message), scope["path"], self._fixed)
            await send(message)

        try:
            await self._app(scope, receive, answer)
        except Exception:
            status = 500
            raise
        finally:
            route = _route(scope)
            seconds = time.perf_counter() - started
            self._metrics.answered(scope["method"], route, status, seconds)
            log.debug("answered", method=scope["method"], route=route, status=status, seconds=round(seconds, 4))


class HeadMiddleware:
    """ASGI middleware that answers HEAD as GET without its body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def answer(message: Message) -> None:
            # The server, and whoever counts, must see the request as it came.
            scope["method"] = "HEAD"
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        scope["method"] = "GET"
        scope[HEAD_ONLY] = True
        await self._app(scope, receive, answer)


class BlankParametersMiddleware:
    """ASGI middleware before the API: a parameter whose value is blank counts as absent, whichever it is."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["query_string"] and not is_page(scope["path"]):
            pairs = scope["query_string"].split(b"&")
            # In place: whoever is further out reads from the same scope which route answered.
            scope["query_string"] = b"&".join(pair for pair in pairs if not is_blank(_value(pair)))
        await self._app(scope, receive, send)


def _value(pair: bytes) -> str:
    return unquote_plus(pair.partition(b"=")[2].decode("latin-1"))


class UnforeseenErrorMiddleware:
    """ASGI middleware right around the routes that logs unexpected errors and answers them with a plain 500.

    A client that disconnects before its request is complete is not an error: it leaves one line in the log.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def answer(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, answer)
        except ClientDisconnect:
            log.info("a client disconnected before its request was complete", route=_route(scope))
        except Exception:
            request_id = secrets.token_hex(8)
            log.exception("a request failed in an unforeseen way", route=_route(scope), request_id=request_id)
            if begun or scope["type"] != "http":
                raise
            await _failure(scope, request_id)(scope, receive, send)


def _failure(scope: Scope, request_id: str) -> ASGIApp:
    """People get a page, programs the one error shape; both say how the log names it."""
    if is_page(scope["path"]):
        return failure_page(scope["app"].state.templates, request_id)
    detail = f"The service failed to answer this; the fault is on its side. Its log names this {request_id}."
    return ProblemResponse(Problem(500, "internal_error", detail), scope["path"])


def _route(scope: Scope) -> str:
    """Return the route's template, never the path: that is written by strangers."""
    route = scope.get("route")
    template = getattr(route, "path_format", getattr(route, "path", None))
    if template is None:
        return "unknown"
    # The router tells templates without the prefix that they stand under.
    return f"{PREFIX}{template}" if scope["path"].startswith(f"{PREFIX}/") else str(template)


def _secure(headers: MutableHeaders, path: str, fixed: Mapping[str, str]) -> None:
    for name, value in fixed.items():
        headers.setdefault(name, value)
    headers.setdefault("Content-Security-Policy", _API_POLICY if path.startswith("/api/") else _PAGE_POLICY)
