"""OPTIONS, which costs nothing: the methods of an address, and which pages of other origins may read it (CORS)."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Mount
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.limits.policy import is_data

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_ANSWERED_ALIKE = {"GET": ("GET", "HEAD")}
_ANY = "*"
_EXPOSED = (
    "Content-Disposition, ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, X-RateLimit-Limit, "
    "X-RateLimit-Remaining, X-RateLimit-Reset, X-TAXII-Date-Added-First, X-TAXII-Date-Added-Last, X-Total-Count"
)
# A browser asks again after two hours at most, whatever it is told.
_PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, HEAD",
    "Access-Control-Allow-Headers": "Accept, Authorization, If-None-Match",
    "Access-Control-Max-Age": "7200",
}


class OptionsMiddleware:
    """ASGI middleware that answers OPTIONS, and lets scripts on pages of the `origins` read data.

    They send their key themselves: cookies are never allowed along, so that no page reads in its visitor's name.
    """

    def __init__(self, app: ASGIApp, origins: Sequence[str]) -> None:
        self._app = app
        self._origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_shared = bool(self._origins) and is_data(scope["path"])
        answer = self._sharing(scope, send) if is_shared else send
        methods = allowed_methods(scope, scope["app"].routes) if scope["method"] == "OPTIONS" else []
        if not methods:
            await self._app(scope, receive, answer)
            return
        headers = {"Allow": ", ".join([*methods, "OPTIONS"])}
        if is_shared and "GET" in methods and self._allowed_origin(scope):
            headers |= _PREFLIGHT
        await Response(status_code=204, headers=headers)(scope, receive, answer)

    def _allowed_origin(self, scope: Scope) -> str | None:
        if _ANY in self._origins:
            return _ANY
        origin = Headers(scope=scope).get("origin", "")
        return origin if origin in self._origins else None

    def _sharing(self, scope: Scope, send: Send) -> Send:
        allowed = self._allowed_origin(scope)

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=list(message.get("headers", ())))
                if allowed is not None:
                    headers["Access-Control-Allow-Origin"] = allowed
                    headers["Access-Control-Expose-Headers"] = _EXPOSED
                if allowed != _ANY:
                    headers.add_vary_header("Origin")
                message = {**message, "headers": headers.raw}
            await send(message)

        return answer


def allowed_methods(scope: Scope, routes: Sequence[BaseRoute]) -> list[str]:
    """Return the methods that an address answers to, over all routes that lead there; none where there is nothing."""
    found = [route for route in routes if not isinstance(route, Mount) and _leads(route, scope)]
    methods = (m for m in _METHODS if any(route.matches({**scope, "method": m})[0] is Match.FULL for route in found))
    return [name for method in methods for name in _ANSWERED_ALIKE.get(method, (method,))]


def _leads(route: BaseRoute, scope: Scope) -> bool:
    return route.matches(scope)[0] is not Match.NONE
