"""Wraps every answer: adds security headers, counts it, and answers errors that nothing else handled."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable
from urllib.parse import unquote_plus

import structlog
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.limits.caller import TIER
from api.limits.policy import PREFIX, is_blank
from api.metrics import Metrics
from api.problems import Problem, ProblemResponse
from api.streaming import HEAD_ONLY
from api.web.routes import failure_page, is_page
from intel.store.read_time import begin_read_time

log = structlog.get_logger()

_REQUEST_ID = "ioc.request_id"

_Header = tuple[bytes, bytes]

_API_POLICY = b"default-src 'none'; frame-ancestors 'none'; sandbox"
_PAGE_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    b"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_FIXED = ((b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer"))
# What web servers note for a client that went away before it was answered.
_CLIENT_WENT_AWAY = 499
_HTTPS_ONLY = ((b"strict-transport-security", b"max-age=31536000"),)


class AnswerMiddleware:
    """ASGI middleware that adds security headers to every answer and counts it; `https` if the public address is."""

    def __init__(self, app: ASGIApp, metrics: Metrics, https: bool) -> None:
        self._app = app
        self._metrics = metrics
        fixed = _FIXED + (_HTTPS_ONLY if https else ())
        self._of_api = (*fixed, (b"content-security-policy", _API_POLICY))
        self._of_pages = (*fixed, (b"content-security-policy", _PAGE_POLICY))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), _CLIENT_WENT_AWAY
        scope[_REQUEST_ID] = request_id = secrets.token_hex(8)
        # Every request runs in a context of its own.
        structlog.contextvars.bind_contextvars(request_id=request_id)
        named, read_time = (b"x-request-id", request_id.encode()), begin_read_time()

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                read_time.end()
                secure = self._of_pages if is_page(scope["path"]) else self._of_api
                message["headers"] = [*_secured(message.get("headers", ()), secure), named]
            await send(message)

        try:
            await self._app(scope, receive, answer)
        except Exception:
            status = 500
            raise
        finally:
            seconds = time.perf_counter() - started
            self._metrics.answered(scope["method"], _route(scope), scope.get(TIER, "none"), status, seconds)


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
            scope["query_string"] = b"&".join(pair for pair in pairs if not _is_blank(pair))
        await self._app(scope, receive, send)


def _is_blank(pair: bytes) -> bool:
    value = pair.partition(b"=")[2]
    # Most begin with a letter or a digit, which costs less to see than to decode.
    return not value[:1].isalnum() and is_blank(unquote_plus(value.decode("latin-1")))


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
            request_id = scope.get(_REQUEST_ID) or secrets.token_hex(8)
            log.exception("a request failed in an unforeseen way", route=_route(scope), request_id=request_id)
            if begun or scope["type"] != "http":
                raise
            await _failure(scope, request_id)(scope, receive, send)


def _failure(scope: Scope, request_id: str) -> ASGIApp:
    """Answer people with a page and programs with the one error shape; both say how the log names it."""
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


def _secured(headers: Iterable[_Header], secure: Iterable[_Header]) -> list[_Header]:
    """Return the headers with those of `secure` that the answer has not set itself."""
    answer = list(headers)
    given = {name for name, _ in answer}
    return answer + [header for header in secure if header[0] not in given]
