"""The OpenAPI description: what the framework gathers, with the one error shape and the key made plain."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from api.extract_models import ExtractBody
from api.limits.policy import Policies
from api.models import FalsePositiveBody, LookupBody, ProblemModel, SubmitBody, SubmitManyBody
from api.search_models import MatchedModel, SavedSearchBody, SearchChangesBody

_DESCRIPTION = """Give it an article, get its indicators of compromise.

Lists and searches are open to everybody; a key (`Authorization: Bearer ioc_…`) raises the limits, allows paging on, and
is needed to submit. Buckets are refilled continuously, so that a full one and its refill can pass within one window.
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
)


def describe(app: FastAPI, policies: Policies) -> dict[str, Any]:
    """Return the description of the application, made once."""
    if app.openapi_schema:
        return app.openapi_schema
    made = get_openapi(title="IOC Intelligence API", version=app.version, description=_DESCRIPTION, routes=app.routes)
    schemas = made.setdefault("components", {}).setdefault("schemas", {})
    _, ours = models_json_schema(
        [(model, "validation") for model in _OURS], ref_template="#/components/schemas/{model}"
    )
    schemas |= ours["$defs"]
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    made["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer", "bearerFormat": "ioc_…"}}
    for path, operations in made["paths"].items():
        for method, operation in operations.items():
            access = policies.described(method.upper(), path)
            operation["security"] = [{"key": []}] if access.key else [{}, {"key": []}]
            _without_framework_errors(operation)
    app.openapi_schema = made
    return made


def _without_framework_errors(operation: dict[str, Any]) -> None:
    """Drop the 422 that the framework announces for path parameters: any text is one."""
    if "HTTPValidationError" in str(operation["responses"].get("422")):
        del operation["responses"]["422"]
