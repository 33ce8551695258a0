"""Every error of the REST API in its one shape, `application/problem+json`, from one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response

from intel.errors import (
    AccountExists,
    AccountQueueFull,
    BlockedDomain,
    Forbidden,
    InvalidQuery,
    IocError,
    KeyLimitReached,
    NotAnIndicator,
    NotFound,
    QueueFull,
    RefusedUrl,
    SearchLimitReached,
    StoreUnavailable,
)

MEDIA_TYPE = "application/problem+json"
TAXII_MEDIA_TYPE = "application/taxii+json;version=2.1"
TAXII = "/taxii2"

# By error: status, code.
TABLE: dict[type[IocError], tuple[int, str]] = {
    InvalidQuery: (422, "invalid_parameter"),
    NotAnIndicator: (422, "invalid_parameter"),
    BlockedDomain: (422, "blocked_domain"),
    RefusedUrl: (422, "invalid_parameter"),
    Forbidden: (403, "forbidden"),
    NotFound: (404, "not_found"),
    AccountExists: (409, "account_exists"),
    KeyLimitReached: (409, "key_limit_reached"),
    SearchLimitReached: (409, "search_limit_reached"),
    AccountQueueFull: (429, "account_queue_full"),
    QueueFull: (503, "queue_full"),
    StoreUnavailable: (503, "store_unavailable"),
}

CODES_BY_STATUS = {
    400: "invalid_json",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    413: "payload_too_large",
    415: "unsupported_media_type",
    422: "invalid_parameter",
}


class Problem(Exception):
    """An answer that is not 2xx; raise it anywhere below the application."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        errors: Sequence[Mapping[str, str]] = (),
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.headers = dict(headers or {})
        self.errors = tuple(errors)


class ProblemResponse(Response):
    """Renders a problem; `instance` is the path of the request. Clients of TAXII are told in its own words."""

    media_type = MEDIA_TYPE

    def __init__(self, problem: Problem, instance: str) -> None:
        if instance == TAXII or instance.startswith(f"{TAXII}/"):
            # A parameter that cannot be understood is a bad request there.
            status = 400 if problem.status == 422 else problem.status
            super().__init__(orjson.dumps(_taxii_error(problem, status)), status, problem.headers, TAXII_MEDIA_TYPE)
            return
        body: dict[str, Any] = {
            "type": "about:blank",
            "title": HTTPStatus(problem.status).phrase,
            "status": problem.status,
            "detail": problem.detail,
            "instance": instance.encode(errors="replace").decode(),
            "code": problem.code,
        }
        if problem.errors:
            body["errors"] = list(problem.errors)
        super().__init__(orjson.dumps(body), problem.status, problem.headers)


def _taxii_error(problem: Problem, status: int) -> dict[str, str]:
    return {
        "title": HTTPStatus(status).phrase,
        "description": problem.detail,
        "error_code": problem.code,
        "http_status": str(status),
    }


def problem_of(error: IocError) -> Problem:
    """Return the problem that the table makes of one of our errors."""
    status, code = next((TABLE[kind] for kind in type(error).__mro__ if kind in TABLE), (500, "internal_error"))
    if status == 500:
        return Problem(500, "internal_error", "The service failed to answer this; the fault is on its side.")
    headers = {}
    if isinstance(error, (StoreUnavailable, QueueFull)):
        headers["Retry-After"] = str(error.retry_after_seconds)
    if isinstance(error, StoreUnavailable):
        return Problem(status, code, error.told, headers=headers)
    errors = [{"field": field, "message": message} for field, message in _fields(error)]
    return Problem(status, code, _sentence(error), headers=headers, errors=errors)


def _fields(error: IocError) -> list[tuple[str, str]]:
    if isinstance(error, InvalidQuery):
        return [(error.field, error.message)]
    if isinstance(error, RefusedUrl):
        return [("url", error.detail)]
    return []


def _sentence(error: IocError) -> str:
    if isinstance(error, InvalidQuery):
        return f"{error.field} {error.message}"
    if isinstance(error, RefusedUrl):
        return error.detail
    return str(error) or "Nothing is stored here."


def respond(request: Request, problem: Problem) -> ProblemResponse:
    """Return the problem as the answer to a request."""
    return ProblemResponse(problem, request.url.path)
