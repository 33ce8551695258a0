"""The route class of what is asked most: it reads the query parameters that are given, and no more."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from typing import Any
from urllib.parse import parse_qsl

from fastapi._compat import field_annotation_is_sequence
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

_Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class QueryRoute(APIRoute):
    """A route that is quick where its endpoint takes the request and optional query parameters alone.

    FastAPI describes and checks these as anywhere else. It would also validate those that are absent, a dozen of them,
    and look for a body and for dependencies, which costs more than all else of an answer. `quick` answers a request; it
    is None where the endpoint takes more.
    """

    quick: _Handler | None = None

    def get_route_handler(self) -> _Handler:
        asked, endpoint = self.dependant, self.endpoint
        fields = [
            (field, field.alias, ("query", field.alias), field_annotation_is_sequence(field.field_info.annotation))
            for field in asked.query_params
        ]
        others = (asked.path_params, asked.header_params, asked.cookie_params, asked.body_params, asked.dependencies)
        if any(others) or any(field.field_info.is_required() for field in asked.query_params):
            return super().get_route_handler()

        async def answer(request: Request) -> Response:
            pairs = parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True)
            query = dict(pairs)  # of what is given twice, the last
            values: dict[str, Any] = {}
            errors: list[Any] = []
            for field, alias, place, is_list in fields if query else ():
                if alias in query:
                    given = [value for name, value in pairs if name == alias] if is_list else query[alias]
                    values[field.name], wrong = field.validate(given, values, loc=place)
                    errors += wrong
            if errors:
                raise RequestValidationError(errors)
            response: Response = await endpoint(request, **values)
            return response

        self.quick = answer
        return answer


class QuickRoutes:
    """ASGI app before the router: a request for a quick route's path is answered at once.

    The router tries its hundred routes one after the other and prepares what only dependencies and forms need, which
    costs as much as a look-up. `routes` stand under `prefix`.
    """

    def __init__(self, router: ASGIApp, prefix: str, routes: Iterable[BaseRoute]) -> None:
        self._router = router
        quick = (route for route in routes if isinstance(route, QueryRoute) and route.quick)
        self._routes = {(method, f"{prefix}{route.path}"): route for route in quick for method in route.methods or ()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        route = self._routes.get((scope["method"], scope["path"])) if scope["type"] == "http" else None
        if route is None or route.quick is None or scope.get("root_path"):
            await self._router(scope, receive, send)
            return
        scope.update(route=route, endpoint=route.endpoint, path_params={})
        response = await route.quick(Request(scope, receive, send))
        await response(scope, receive, send)
