"""What each route asks of its callers: said beside the route, read by the limits before the route is run.

A GET is open to everybody, any other method needs a key, and so does paging on (a `cursor`, wherever a route has that
parameter). A key needs the scope `read` for a GET, `submit` for any other method. A route for which that is wrong says
so with `@access(...)`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar
from urllib.parse import unquote_plus

from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from intel.records import Scope

PREFIX = "/api/v1"
_DATA = ("/api/", "/misp/", "/taxii2/")

_READS_AS_GET = frozenset({"HEAD", "OPTIONS"})
_READING = frozenset({"GET", "QUERY"})
_ACCESS = "ioc_access"
_SCOPES = "ioc_scopes"
_Endpoint = TypeVar("_Endpoint", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Access:
    """Who may ask. `key`: only a key gets an answer. `costs`: an answer costs a token. `watched`: callers are told
    apart at all. `basic`: the key may come as the password of HTTP Basic too. `token`: a feed token in the address is
    read. `export`: its answers are paid from a bucket of their own. `paged`: the route has a `cursor`. `scopes`: a key
    needs one of them; any key will do where there are none.
    """

    key: bool = False
    costs: bool = True
    watched: bool = True
    basic: bool = False
    token: bool = False
    export: bool = False
    paged: bool = False
    scopes: tuple[Scope, ...] = ()

    def needs_key(self, query: str) -> bool:
        """Tell whether a request with this query string (still encoded) is answered to a key alone."""
        return self.key or (self.paged and is_given(query, "cursor"))


_ANYONE = Access()
_UNWATCHED = Access(costs=False, watched=False)


def access(
    *,
    key: bool = False,
    costs: bool = True,
    watched: bool = True,
    basic: bool = False,
    token: bool = False,
    export: bool = False,
    scopes: tuple[Scope, ...] | None = None,
) -> Callable[[_Endpoint], _Endpoint]:
    """Say who may ask an endpoint; stands below its route. Without `scopes` its method says which a key needs."""

    def say(endpoint: _Endpoint) -> _Endpoint:
        said = Access(key, costs, watched, basic, token, export)
        setattr(endpoint, _ACCESS, said)
        setattr(endpoint, _SCOPES, scopes)
        return endpoint

    return say


def access_of(route: APIRoute) -> Access:
    """Return what a route asks of its callers."""
    said: Access | None = getattr(route.endpoint, _ACCESS, None)
    reads = bool(methods_of(route) & _READING)
    stated = said or Access(key="GET" not in methods_of(route))
    named: tuple[Scope, ...] | None = getattr(route.endpoint, _SCOPES, None)
    by_method: tuple[Scope, ...] = ("read",) if reads else ("submit",)
    paged = any(parameter.alias == "cursor" for parameter in route.dependant.query_params)
    return replace(stated, paged=paged, scopes=by_method if named is None else named)


def methods_of(route: APIRoute) -> frozenset[str]:
    """Return the methods that a route answers to."""
    return frozenset(route.methods or ())


class _Asked(NamedTuple):
    """A route and what it asks of its callers."""

    route: APIRoute
    methods: frozenset[str]
    access: Access


class Policies:
    """What routes ask of their callers: `routes` stand under the prefix, `at_root` beside it."""

    def __init__(self, routes: Iterable[BaseRoute], at_root: Iterable[BaseRoute] = ()) -> None:
        self._routes = _with_access(routes)
        self._at_root = _with_access(at_root)

    def of(self, method: str, path: str) -> Access:
        """Return what the route for a request asks; where there is none, anyone gets that answer, and pays for it under
        the prefix.
        """
        if path != PREFIX and not path.startswith(PREFIX + "/"):
            return _asked(self._at_root, method, path, _UNWATCHED)
        return _asked(self._routes, method, path.removeprefix(PREFIX), _ANYONE)

    def described(self, method: str, template: str) -> Access:
        """Return what the route with that path template asks."""
        below = template.removeprefix(PREFIX)
        named = (asked for asked in self._routes if asked.route.path_format == below)
        return next((asked.access for asked in named if method in asked.methods), _ANYONE)


def is_data(path: str) -> bool:
    """Tell whether programs read data there, in answers that they may keep."""
    return path.startswith(_DATA)


def is_search(query: str) -> bool:
    """Tell whether the query string (still encoded) has a `q` or `value` that is not blank."""
    return is_given(query, "q", "value")


def is_given(query: str, *names: str) -> bool:
    """Tell whether the query string (still encoded) has a parameter of one of these names that is not blank."""
    pairs = (pair.partition("=") for pair in query.split("&"))
    return any(unquote_plus(name) in names and not is_blank(unquote_plus(value)) for name, _, value in pairs)


def is_blank(text: str) -> bool:
    """Tell whether a parameter counts as absent: nothing but white space after NFKC."""
    return not unicodedata.normalize("NFKC", text).strip()


def _with_access(routes: Iterable[BaseRoute]) -> list[_Asked]:
    return [_Asked(route, methods_of(route), access_of(route)) for route in routes if isinstance(route, APIRoute)]


def _asked(routes: Sequence[_Asked], method: str, path: str, otherwise: Access) -> Access:
    verb = _verb(method)
    found = (asked.access for asked in routes if verb in asked.methods and asked.route.path_regex.match(path))
    return next(found, otherwise)


def _verb(method: str) -> str:
    return "GET" if method in _READS_AS_GET else method
