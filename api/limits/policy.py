"""What each route asks of its callers: said beside the route, read by the limits before the route is run.

A GET is open to everybody, any other method needs a key, and so does paging on (a `cursor`, wherever a route has that
parameter). A route for which that is wrong says so with `@access(...)`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

PREFIX = "/api/v1"

_READS_AS_GET = frozenset({"HEAD", "OPTIONS"})
_ACCESS = "ioc_access"
_Endpoint = TypeVar("_Endpoint", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Access:
    """Who may ask. `key`: only a key gets an answer. `costs`: an answer costs a token. `watched`: callers are told
    apart at all. `paged`: the route has a `cursor`.
    """

    key: bool = False
    costs: bool = True
    watched: bool = True
    paged: bool = False

    def needs_key(self, query: str) -> bool:
        """Tell whether a request with this query string (still encoded) is answered to a key alone."""
        return self.key or (self.paged and is_given(query, "cursor"))


_ANYONE = Access()
_UNWATCHED = Access(costs=False, watched=False)


def access(*, key: bool = False, costs: bool = True, watched: bool = True) -> Callable[[_Endpoint], _Endpoint]:
    """Say who may ask an endpoint; stands below its route."""

    def say(endpoint: _Endpoint) -> _Endpoint:
        setattr(endpoint, _ACCESS, Access(key, costs, watched))
        return endpoint

    return say


def access_of(route: APIRoute) -> Access:
    """Return what a route asks of its callers."""
    said: Access | None = getattr(route.endpoint, _ACCESS, None)
    stated = said or Access(key="GET" not in methods_of(route))
    paged = any(parameter.alias == "cursor" for parameter in route.dependant.query_params)
    return Access(stated.key, stated.costs, stated.watched, paged)


def methods_of(route: APIRoute) -> frozenset[str]:
    """Return the methods that a route answers to."""
    return frozenset(route.methods or ())


class Policies:
    """What the routes under the prefix ask of their callers."""

    def __init__(self, routes: Iterable[BaseRoute]) -> None:
        self._routes = [(route, access_of(route)) for route in routes if isinstance(route, APIRoute)]

    def of(self, method: str, path: str) -> Access:
        """Return what the route for a request asks; where there is none, anyone gets that answer and pays for it."""
        if path != PREFIX and not path.startswith(PREFIX + "/"):
            return _UNWATCHED
        verb, below = _verb(method), path.removeprefix(PREFIX)
        found = (
            access for route, access in self._routes if verb in methods_of(route) and route.path_regex.match(below)
        )
        return next(found, _ANYONE)

    def described(self, method: str, template: str) -> Access:
        """Return what the route with that path template asks."""
        below = template.removeprefix(PREFIX)
        found = (access for route, access in self._routes if method in methods_of(route) and route.path_format == below)
        return next(found, _ANYONE)


def is_search(query: str) -> bool:
    """Tell whether the query string (still encoded) has a `q` or `value` that is not blank."""
    return is_given(query, "q", "value")


def is_given(query: str, *names: str) -> bool:
    """Tell whether the query string (still encoded) has a parameter of one of these names that is not blank."""
    pairs = parse_qsl(query, keep_blank_values=True)
    return any(name in names and not is_blank(value) for name, value in pairs)


def is_blank(text: str) -> bool:
    """Tell whether a parameter counts as absent: nothing but white space after NFKC."""
    return not unicodedata.normalize("NFKC", text).strip()


def _verb(method: str) -> str:
    return "GET" if method in _READS_AS_GET else method
