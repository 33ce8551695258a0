"""The description is true: whatever is asked, answers are as it says, and none is a server error."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, assume, given, settings
from schemathesis import Case
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.schemas import OpenApiSchema

from tests.api.running import GENEROUS
from tests.api.serving import serving
from tests.api.test_lists import ONE_OF_EACH

OPERATIONS = (
    "GET /api/v1/iocs",
    "GET /api/v1/iocs/{id}",
    "POST /api/v1/iocs/lookup",
    "PUT /api/v1/iocs/{id}/false-positive",
    "DELETE /api/v1/iocs/{id}/false-positive",
    "POST /api/v1/iocs/{id}/tags",
    "GET /api/v1/iocs/{id}/notes",
    "POST /api/v1/iocs/{id}/notes",
    "DELETE /api/v1/iocs/{id}/notes/{note_id}",
    "GET /api/v1/articles",
    "GET /api/v1/articles/{id}",
    "DELETE /api/v1/articles/{id}",
    "GET /api/v1/articles/{id}/iocs",
    "GET /api/v1/articles/{id}/candidates",
    "POST /api/v1/articles/{id}/refetch",
    "POST /api/v1/articles/{id}/tags",
    "GET /api/v1/articles/{id}/notes",
    "POST /api/v1/articles/{id}/notes",
    "DELETE /api/v1/articles/{id}/notes/{note_id}",
    "PUT /api/v1/articles/{id}/tlp",
    "GET /api/v1/articles/{id}/revisions",
    "GET /api/v1/articles/{id}/revisions/{revision}",
    "GET /api/v1/weekly",
    "GET /api/v1/weekly/{week}",
    "GET /api/v1/weekly/{week}/revisions",
    "GET /api/v1/weekly.atom",
    "GET /api/v1/focus",
    "GET /api/v1/focus/{id}",
    "GET /api/v1/focus.atom",
    "GET /api/v1/iocs.atom",
    "GET /api/v1/articles.atom",
    "GET /api/v1/awareness",
    "GET /api/v1/awareness/{slug}",
    "GET /api/v1/catalogues",
    "PUT /api/v1/catalogues/{name}",
    "GET /api/v1/changes",
    "GET /api/v1/export",
    "GET /api/v1/sources",
    "PUT /api/v1/sources/{name}/trust",
    "POST /api/v1/extract",
    "POST /api/v1/submit",
    "GET /api/v1/submissions/{id}",
    "GET /api/v1/searches",
    "POST /api/v1/searches",
    "GET /api/v1/searches/{id}",
    "PATCH /api/v1/searches/{id}",
    "DELETE /api/v1/searches/{id}",
    "GET /api/v1/searches/{id}/deliveries",
    "POST /api/v1/searches/{id}/deliveries/{delivery_id}/again",
    "GET /api/v1/usage",
)
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
# Where any text is a path's only parameter nothing can be malformed.
ANY_TEXT = (
    "/{id}",
    "DELETE /api/v1/iocs/{id}/false-positive",
    "DELETE /api/v1/articles/{id}",
    "DELETE /api/v1/searches/{id}",
    "/again",
    "/refetch",
    "/revisions/{revision}",
    "/{week}",
    "/{slug}",
    "/catalogues/{name}",
)
ASKED = [
    *((label, GenerationMode.POSITIVE) for label in OPERATIONS),
    *((label, GenerationMode.NEGATIVE) for label in OPERATIONS if not label.endswith(ANY_TEXT)),
]
EXAMPLES = settings(
    max_examples=15,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    folder: Path = tmp_path_factory.mktemp("fuzz")
    with serving(folder, *ONE_OF_EACH, ioc_rate_key="100000000/second", **GENEROUS) as started:
        yield started


@pytest.fixture(scope="module")
def schema(service: tuple[str, str]) -> OpenApiSchema:
    described = httpx.get(f"{service[0]}/api/v1/openapi.json", timeout=60).json()
    loaded: OpenApiSchema = schemathesis.openapi.from_dict(described)
    return loaded


def test_the_fuzzed_operations_are_those_described(schema: OpenApiSchema) -> None:
    described = {f"{method.upper()} {path}" for path, each in schema.raw_schema["paths"].items() for method in each}
    assert described == set(OPERATIONS)


@pytest.mark.promise("errors.never-5xx", "description.openapi")
@pytest.mark.parametrize("keyed", [True, False], ids=["with a key", "without"])
@pytest.mark.parametrize(("label", "mode"), ASKED)
@pytest.mark.slow
def test_answers_are_as_described(
    service: tuple[str, str], schema: OpenApiSchema, label: str, keyed: bool, mode: GenerationMode
) -> None:
    address, key = service
    headers = {"Authorization": f"Bearer {key}"} if keyed else {}
    operation = schema.find_operation_by_label(label)
    assert operation is not None

    @EXAMPLES
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: Case[Any]) -> None:
        # Nothing may be fetched from the internet by a test.
        assume(not (isinstance(case.body, dict) and str(case.body.get("url")).startswith("http")))
        case.headers.pop("Authorization", None)
        answer = case.call(base_url=address, headers=headers)
        # A MISP event is JSON as a list is, and its members are for MISP to describe.
        is_misp = isinstance(case.query, dict) and case.query.get("format") == "misp"
        case.validate_response(answer, checks=CHECKS[:-1] if is_misp else CHECKS)

    ask()
