"""`/openapi.json` and `/docs`."""

from __future__ import annotations

import json
import re

import pytest

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
    "/api/v1/sources": {"get"},
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
}


@pytest.mark.promise("description.openapi")
async def test_the_description_names_every_path_and_no_other(api: Running) -> None:
    described = (await api.get("/openapi.json")).json()
    assert {path: set(operations) for path, operations in described["paths"].items()} == PATHS
    assert described["openapi"].startswith("3.")


@pytest.mark.promise("description.openapi")
async def test_the_description_refers_to_nothing_that_is_missing(api: Running) -> None:
    described = (await api.get("/openapi.json")).json()
    for name in re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(described)):
        assert name in described["components"]["schemas"], name


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
        "/api/v1/export",
        "/api/v1/changes",
        "/api/v1/extract",
        "/api/v1/iocs/lookup",
        "/api/v1/iocs/{id}/false-positive",
        "/api/v1/searches",
        "/api/v1/searches/{id}",
        "/api/v1/searches/{id}/deliveries",
        "/api/v1/searches/{id}/deliveries/{delivery_id}/again",
        "/api/v1/submit",
        "/api/v1/submissions/{id}",
        "/api/v1/usage",
    }


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
