"""Answers as bytes: orjson instead of the framework's encoder, which costs three times the query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import orjson
from starlette.requests import Request
from starlette.responses import Response

from api.limits.tiers import results_limit
from api.models import ProblemModel
from api.service import caller_of, service_of
from intel.errors import InvalidQuery
from intel.query import Position

# Room for the longest search, percent-encoded, and its filters.
_LONGEST_CURSOR = 30_000


def json_answer(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a JSON answer."""
    return Response(orjson.dumps(body), status, headers, "application/json")


@dataclass(frozen=True, slots=True)
class Listing:
    """One request for a page of a list: what was asked (JSON values), how many items to give, and after which place."""

    request: Request
    name: str
    asked: dict[str, Any]
    count: int
    position: Position | None

    @property
    def after(self) -> str | None:
        """The place as one text, for lists that are ordered by one."""
        return str(self.position.values[0]) if self.position else None

    def answer(
        self, items: Sequence[dict[str, Any] | orjson.Fragment], total: int | None, next: Position | None, **more: Any
    ) -> Response:
        """Return the page with the members that every list has; without a key there is no way on."""
        return json_answer({"items": items} | self.members(total, next) | more)

    def with_next(self, answer: Response, total: int | None, next: Position | None, **more: str) -> Response:
        """Add to a page in another format, which has no room for them, how many there are and where the next page is;
        `more` are parameters that its address keeps.
        """
        members = self.members(total, next)
        if total is not None:
            answer.headers["X-Total-Count"] = str(total)
        if cursor := members["next_cursor"]:
            asked = urlencode({"cursor": cursor, "limit": self.count, **more})
            answer.headers["Link"] = f'<{self.request.url.path}?{asked}>; rel="next"'
        return answer

    def members(self, total: int | None, next: Position | None) -> dict[str, Any]:
        """Return the members that every list has beside its items."""
        cursor = None
        if next is not None and caller_of(self.request).identity is not None:
            cursor = service_of(self.request).cursors.write(self.name, self.asked, next)
        return {"limit": self.count, "total": total if self.position is None else None, "next_cursor": cursor}


def read_listing(
    request: Request, name: str, asked: dict[str, Any], cursor: str | None, most: int | None = None
) -> Listing:
    """Read which list is asked for; a cursor stands for its whole query. InvalidQuery for a foreign cursor.

    A page holds as many items as the caller's tier allows, or `most`.
    """
    position = None
    if cursor is not None:
        if len(cursor) > _LONGEST_CURSOR:
            raise InvalidQuery("cursor", "is not a cursor of this service")
        before, position = service_of(request).cursors.read(name, cursor)
        asked = before | {"limit": asked["limit"] or before["limit"]}
    count = results_limit(asked["limit"], most or caller_of(request).tier.results_cap)
    return Listing(request, name, asked, count, position)


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the descriptions of the errors that a path may answer with, for OpenAPI."""
    words = {
        400: "The body is not JSON.",
        401: "The API key is missing or not valid.",
        403: "The account's role does not allow this.",
        404: "Nothing is stored here.",
        409: "That cannot be done with what is stored here.",
        413: "The body is too large.",
        415: "The body is not declared as JSON.",
        422: "A parameter or member cannot be understood.",
        429: "Too many requests; `Retry-After` says when the next one passes.",
        503: "The store is out of reach; `Retry-After` says when to try again.",
    }
    schema = {"schema": {"$ref": f"#/components/schemas/{ProblemModel.__name__}"}}
    return {
        status: {"description": words[status], "content": {"application/problem+json": schema}}
        for status in (*statuses, 401, 429, 503)
    }
