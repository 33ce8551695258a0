"""The OpenAPI description: what the framework gathers, made plain for those who generate clients from it.

Operations are called as their functions are. Whatever holds of many operations is added here: the one error shape, the
key, the limits' headers, and what a client may keep.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from api.annotation_models import SharingBody, TrustBody
from api.conditional import UNCHANGED
from api.content_models import CatalogueBody
from api.extract_models import ExtractBody
from api.limits.policy import Access, Policies
from api.models import (
    FalsePositiveBody,
    LookupBody,
    NoteBody,
    ProblemModel,
    SubmitBody,
    SubmitManyBody,
    TagsBody,
)
from api.problems import CODES_BY_STATUS
from api.problems import MEDIA_TYPE as PROBLEM
from api.search_models import MatchedModel, SavedSearchBody, SearchChangesBody

Json = dict[str, Any]

_DESCRIPTION = """Give it an article, get its indicators of compromise.

Lists and searches are open to everybody; a key (`Authorization: Bearer ioc_…`) raises the limits, allows paging on, and
is needed to submit. Buckets are refilled continuously, so that a full one and its refill can pass within one window.

Every answer to a GET that is not streamed has an `ETag`: send it as `If-None-Match`, and what has not changed is
answered 304. Answers are compressed for who sends `Accept-Encoding: gzip`. OPTIONS tells the methods of an address, and
costs nothing. Any address may also answer 404 and 405, 408 and 431 to a request that comes too slowly or has too large
a head, 421 to a host name that is not this service's, and 500; all in the shape `ProblemModel`.
"""
_OURS: tuple[type[BaseModel], ...] = (
    ProblemModel,
    SubmitBody,
    SubmitManyBody,
    SavedSearchBody,
    SearchChangesBody,
    MatchedModel,
    ExtractBody,
    LookupBody,
    FalsePositiveBody,
    CatalogueBody,
    TagsBody,
    NoteBody,
    TrustBody,
    SharingBody,
)
_CODES = {**CODES_BY_STATUS, 401: "missing_api_key", 409: "conflict", 429: "rate_limited", 503: "store_unavailable"}
_HEADERS: dict[str, tuple[str, str, str]] = {
    "RateLimit-Policy": ("string", "the bucket that paid: its capacity `q` for each `w` seconds", '"key";q=100;w=60'),
    "RateLimit": ("string", "what is left (`r`), and the seconds until the bucket is full (`t`)", '"key";r=99;t=1'),
    "X-RateLimit-Limit": ("integer", "the capacity of the bucket", "100"),
    "X-RateLimit-Remaining": ("integer", "what is left", "99"),
    "X-RateLimit-Reset": ("integer", "seconds until the bucket is full", "1"),
    "Retry-After": ("integer", "seconds after which to ask again", "6"),
    "ETag": (
        "string",
        "names this very answer, for `If-None-Match`; what is streamed has none",
        '"5d41402abc4b2a76b9719d911017c592"',
    ),
    "Link": ("string", "the next page, where there is one", '</api/v1/iocs?cursor=…&format=csv>; rel="next"'),
    "X-Total-Count": ("integer", "how many there are in all; on the first page", "1224"),
    "Location": ("string", "where to ask how it goes on", "/api/v1/submissions/5f0c1b3e-6d0a-5b4e-9a53-2f7c4f1d8e60"),
}
_LIMITS = ("RateLimit-Policy", "RateLimit", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")
# openapi-python-client makes a module that cannot be imported of an operation with several bodies and no optional
# parameter. By the rules of OpenAPI a parameter with this name is ignored, so that it does no harm.
_IGNORED = {"name": "Accept", "in": "header", "required": False, "schema": {"type": "string"}}
_ASK_LATER = ("429", "503")
_METHODS_OF_A_READER = ("get",)


def operation_id(route: APIRoute) -> str:
    """Return the name of an operation: that of its function."""
    return route.name


def describe(app: FastAPI, policies: Policies) -> Json:
    """Return the description of the application, made once."""
    if app.openapi_schema:
        return app.openapi_schema
    made = get_openapi(title="IOC Intelligence API", version=app.version, description=_DESCRIPTION, routes=app.routes)
    components = made.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    _, ours = models_json_schema(
        [(model, "validation") for model in _OURS], ref_template="#/components/schemas/{model}"
    )
    schemas |= ours["$defs"]
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    _without_null_defaults(schemas)
    components["securitySchemes"] = {
        "key": {"type": "http", "scheme": "bearer", "bearerFormat": "ioc_…"},
        "feed_token": {"type": "apiKey", "in": "query", "name": "token", "description": "made on Settings, Feeds"},
    }
    components["headers"] = {name: _header(*said) for name, said in _HEADERS.items()}
    for path, operations in made["paths"].items():
        for method, operation in operations.items():
            access = policies.described(method.upper(), path)
            operation["security"] = _security(access)
            _without_framework_errors(operation)
            parameters = operation.get("parameters", [])
            several = len(operation.get("requestBody", {}).get("content", ())) > 1
            if several and all(each["required"] for each in parameters):
                operation["parameters"] = [*parameters, _IGNORED]
            for status, response in operation["responses"].items():
                _complete(response, status, method, operation, access)
            if method in _METHODS_OF_A_READER:
                headers = ("ETag", *(_LIMITS if access.costs else ()))
                operation["responses"]["304"] = UNCHANGED | {"headers": _references(headers)}
    app.openapi_schema = made
    return made


def _security(access: Access) -> list[dict[str, list[str]]]:
    token: list[dict[str, list[str]]] = [{"feed_token": []}] if access.token else []
    return [{"key": []}] if access.key else [{}, {"key": []}, *token]


def _complete(response: Json, status: str, method: str, operation: Json, access: Access) -> None:
    """Add what holds of every response with that status."""
    content = response.get("content", {})
    # What the framework says of an answer that no model describes.
    if len(content) > 1 and content.get("application/json") == {"schema": {}}:
        del content["application/json"]
    if PROBLEM in content:
        content[PROBLEM]["example"] = _problem(int(status))
    names = list(_LIMITS) if access.costs else []
    names += ["Retry-After"] if status in _ASK_LATER else []
    names += ["ETag"] if status == "200" and method in _METHODS_OF_A_READER else []
    names += ["Location"] if status == "202" else []
    if status == "200" and {"format", "cursor"} <= {each["name"] for each in operation.get("parameters", ())}:
        names += ["Link", "X-Total-Count"]
    if names:
        response["headers"] = _references(names) | response.get("headers", {})


def _references(names: list[str] | tuple[str, ...]) -> dict[str, dict[str, str]]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _header(type: str, description: str, example: str) -> Json:
    return {
        "description": description,
        "schema": {"type": type},
        "example": int(example) if type == "integer" else example,
    }


def _problem(status: int) -> Json:
    """Return an example of an error."""
    code, title = _CODES.get(status, "error"), HTTPStatus(status).phrase
    made = {"type": "about:blank", "title": title, "status": status, "detail": "What happened, and what to do."}
    errors = {"errors": [{"field": "limit", "message": "must be at least 1"}]} if status == 422 else {}
    return made | {"instance": "/api/v1/iocs", "code": code} | errors


def _without_framework_errors(operation: Json) -> None:
    """Drop the 422 that the framework announces for path parameters: any text is one."""
    if "HTTPValidationError" in str(operation["responses"].get("422")):
        del operation["responses"]["422"]


def _without_null_defaults(schemas: dict[str, Json]) -> None:
    """Drop defaults of null: generators take a member with a default for one that is always there."""
    for schema in schemas.values():
        for member in schema.get("properties", {}).values():
            if member.get("default", ...) is None:
                del member["default"]
