"""`/openapi.json` and `/docs`."""

from __future__ import annotations

import json
import re

import pytest

from api.models import IOC_EXAMPLE, IocModel
from tests.api.running import Running

PATHS = {
    "/api/v1/iocs": {"get"},
    "/api/v1/iocs/{id}": {"get"},
    "/api/v1/iocs/lookup": {"post"},
    "/api/v1/iocs/{id}/false-positive": {"put", "delete"},
    "/api/v1/articles": {"get"},
    "/api/v1/articles/{id}": {"delete", "get"},
    "/api/v1/articles/{id}/iocs": {"get"},
    "/api/v1/articles/{id}/candidates": {"get"},
    "/api/v1/weekly": {"get"},
    "/api/v1/weekly/{week}": {"get"},
    "/api/v1/focus": {"get"},
    "/api/v1/awareness": {"get"},
    "/api/v1/awareness/{slug}": {"get"},
    "/api/v1/catalogues": {"get"},
    "/api/v1/catalogues/{name}": {"put"},
    "/api/v1/sources": {"get"},
    "/api/v1/sources/{name}/trust": {"put"},
    "/api/v1/export": {"get"},
    "/api/v1/changes": {"get"},
    "/api/v1/searches": {"get", "post"},
    "/api/v1/searches/{id}": {"get", "patch", "delete"},
    "/api/v1/searches/{id}/deliveries": {"get"},
    "/api/v1/searches/{id}/deliveries/{delivery_id}/again": {"post"},
    "/api/v1/submit": {"post"},
    "/api/v1/extract": {"post"},
    "/api/v1/submissions/{id}": {"get"},
    "/api/v1/articles/{id}/refetch": {"post"},
    "/api/v1/articles/{id}/revisions": {"get"},
    "/api/v1/articles/{id}/revisions/{revision}": {"get"},
    "/api/v1/weekly/{week}/revisions": {"get"},
    "/api/v1/focus/{id}": {"get"},
    "/api/v1/weekly.atom": {"get"},
    "/api/v1/focus.atom": {"get"},
    "/api/v1/articles.atom": {"get"},
    "/api/v1/iocs.atom": {"get"},
    "/api/v1/usage": {"get"},
    "/api/v1/iocs/{id}/tags": {"post"},
    "/api/v1/articles/{id}/tags": {"post"},
    "/api/v1/articles/{id}/tlp": {"put"},
    "/api/v1/iocs/{id}/notes": {"get", "post"},
    "/api/v1/iocs/{id}/notes/{note_id}": {"delete"},
    "/api/v1/articles/{id}/notes": {"get", "post"},
    "/api/v1/articles/{id}/notes/{note_id}": {"delete"},
}


@pytest.mark.slow
@pytest.mark.promise("description.openapi")
async def test_the_description_names_every_path_and_no_other(api: Running) -> None:
    described = (await api.get("/openapi.json")).json()
    assert {path: set(operations) for path, operations in described["paths"].items()} == PATHS
    assert described["openapi"].startswith("3.")


@pytest.mark.slow
@pytest.mark.promise("description.openapi")
async def test_the_description_refers_to_nothing_that_is_missing(api: Running) -> None:
    described = (await api.get("/openapi.json")).json()
    for name in re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(described)):
        assert name in described["components"]["schemas"], name


@pytest.mark.slow
@pytest.mark.promise("description.openapi", "description.generates-clients")
async def test_names_are_plain_and_every_answer_is_described(api: Running) -> None:
    described = (await api.get("/openapi.json")).json()
    assert not [name for name in described["components"]["schemas"] if "__" in name]
    operations = [(method, each) for path in described["paths"].values() for method, each in path.items()]
    ids = [each["operationId"] for _, each in operations]
    assert len(set(ids)) == len(ids) and all(re.fullmatch(r"[a-z]+(_[a-z]+)*", id) for id in ids)
    for method, each in operations:
        responses = each["responses"]
        assert {"401", "429", "503"} <= set(responses)
        assert ("304" in responses) == (method == "get")
        for status, response in responses.items():
            assert response["description"].strip(), each["operationId"]
            headers = set(response["headers"]) if "headers" in response else set()
            assert "RateLimit" in headers or each["operationId"] == "get_usage"
            assert ("Retry-After" in headers) == (status in ("429", "503"))
            assert ("ETag" in headers) == (method == "get" and status in ("200", "304"))
            for media_type, content in response.get("content", {}).items():
                assert content["schema"], (each["operationId"], media_type)
                if status[0] in "45":
                    assert media_type == "application/problem+json" and content["example"]["status"] == int(status)
        if each["operationId"].endswith("_feed"):
            assert list(responses["200"]["content"]) == ["application/atom+xml"]
    listed = described["paths"]["/api/v1/iocs"]["get"]["responses"]["200"]
    assert {"Link", "X-Total-Count"} <= set(listed["headers"])
    assert set(listed["content"]) >= {"application/json", "text/csv", "application/stix+json", "text/plain"}
    IocModel.model_validate(IOC_EXAMPLE)


@pytest.mark.slow
@pytest.mark.promise("description.openapi")
async def test_the_description_tells_which_paths_need_a_key(api: Running) -> None:
    paths = (await api.get("/openapi.json")).json()["paths"]
    keyed = {
        path for path, operations in paths.items() for each in operations.values() if each["security"] == [{"key": []}]
    }
    assert keyed == {
        "/api/v1/articles/{id}",
        "/api/v1/articles/{id}/iocs",
        "/api/v1/articles/{id}/refetch",
        "/api/v1/articles/{id}/tags",
        "/api/v1/articles/{id}/tlp",
        "/api/v1/articles/{id}/notes",
        "/api/v1/articles/{id}/notes/{note_id}",
        "/api/v1/export",
        "/api/v1/catalogues/{name}",
        "/api/v1/changes",
        "/api/v1/extract",
        "/api/v1/sources/{name}/trust",
        "/api/v1/iocs/lookup",
        "/api/v1/iocs/{id}/false-positive",
        "/api/v1/iocs/{id}/tags",
        "/api/v1/iocs/{id}/notes",
        "/api/v1/iocs/{id}/notes/{note_id}",
        "/api/v1/searches",
        "/api/v1/searches/{id}",
        "/api/v1/searches/{id}/deliveries",
        "/api/v1/searches/{id}/deliveries/{delivery_id}/again",
        "/api/v1/submit",
        "/api/v1/submissions/{id}",
        "/api/v1/usage",
    }


@pytest.mark.slow
@pytest.mark.promise("description.docs")
async def test_the_docs_page_loads_nothing_from_elsewhere(api: Running) -> None:
    page = await api.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    addresses = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert len(addresses) >= 3
    for address in addresses:
        assert address.startswith("/"), address
        answer = await api.client.get(address)
        assert answer.status_code == 200, address
    assert not re.search(r"https?://", page.text)
    assert "<script>" not in page.text


@pytest.mark.promise("description.docs")
async def test_slash_docs_leads_to_the_docs(api: Running) -> None:
    answer = await api.client.get("/docs")
    assert (answer.status_code, answer.headers["location"]) == (307, "/api/v1/docs")
