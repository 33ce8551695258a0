"""A client that openapi-python-client generates from the description, asking every operation of the running service."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest

from intel.ids import ioc_id
from tests.api.apart import LOCKS, made_apart, run
from tests.api.serving import serving
from tests.contract.store.builders import make_article
from tests.intel.catalogues.importing import kev_file

NAME = "ioc_intelligence_api_client"
IOC, ARTICLE = ioc_id("domain", "evil.example"), make_article("report").id
ANSWERED = range(200, 300)
# What is asked of an operation beside its id, and what may be answered where it is not 2xx.
ASKED: dict[str, dict[str, Any]] = {
    "get_lesson": {"slug": "three-copies"},
    "get_week": {"week": "2026-W47"},
    "list_week_revisions": {"week": "2026-W47"},
    "get_article_revision": {"revision": "1"},
    "deliver_again": {"delivery_id": "none"},
    "put_catalogue": {"name": "kev"},
    "remove_article_note": {"note_id": IOC},
    "remove_ioc_note": {"note_id": IOC},
    "put_trust": {"name": "Agency"},
}
BODIES: dict[str, tuple[str, dict[str, Any]]] = {
    "lookup_iocs": ("LookupBody", {"values": ["evil[.]example"]}),
    "extract_iocs": ("ExtractBody", {"text": "It called hxxps://evil[.]example/gate."}),
    "submit_article": ("SubmitBody", {"url": "https://site.example/never"}),
    "save_search": ("SavedSearchBody", {"name": "mine", "q": "evil"}),
    "change_search": ("SearchChangesBody", {"name": "ours"}),
    "tag_article": ("TagsBody", {"add": ["c2"], "remove": []}),
    "tag_ioc": ("TagsBody", {"add": ["c2"], "remove": ["old"]}),
    "put_catalogue": ("CatalogueBody", json.loads(kev_file({"CVE-2024-3400": "2026-11-15"}))),
    "note_article": ("NoteBody", {"text": "Seen in our proxy log."}),
    "note_ioc": ("NoteBody", {"text": "Seen in our proxy log."}),
    "put_article_tlp": ("SharingBody", {"tlp": "green"}),
    "put_trust": ("TrustBody", {"trust": 80}),
    "put_vote": ("FalsePositiveBody", {"note": "ours"}),
}
# There is no such thing in a store with one report, or nothing to be done.
MISSING = {
    **dict.fromkeys(("get_search", "change_search", "delete_search", "list_deliveries", "deliver_again"), 404),
    "get_focus": 404,
    "get_submission": 404,
    "remove_article_note": 404,
    "remove_ioc_note": 404,
}
LAST = "remove_article"


@pytest.fixture
def service(tmp_path: Path, either_engines: dict[str, str]) -> Iterator[tuple[str, str]]:
    with serving(tmp_path, "domain evil.example", ioc_rate_key="100000/second", **either_engines) as started:
        yield started


@pytest.fixture(scope="module")
def client_package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The generated package; the generator stands in an environment of its own, as it wants an older typer."""
    folder = tmp_path_factory.mktemp("generated")
    programs = made_apart(folder / "env", LOCKS / "requirements-generator.txt")
    described = folder / "openapi.json"
    with serving(folder / "data") as (address, _):
        described.write_bytes(httpx.get(f"{address}/api/v1/openapi.json").content)
    run(programs, "openapi-python-client", "generate", "--path", described, "--output-path", folder / "made")
    sys.path.insert(0, str(folder / "made"))
    try:
        yield importlib.import_module(NAME)
    finally:
        sys.path.remove(str(folder / "made"))


def operations() -> dict[str, Any]:
    """By name, what calls each operation."""
    package = importlib.import_module(f"{NAME}.api")
    found = (importlib.import_module(each.name) for each in pkgutil.walk_packages(package.__path__, f"{NAME}.api."))
    return {module.__name__.rpartition(".")[2]: module for module in found if hasattr(module, "sync_detailed")}


def arguments(name: str, call: Any) -> dict[str, Any]:
    """What to ask of an operation: an id of the kind that it needs, and a body."""
    asked = dict(ASKED.get(name, {}))
    wanted = inspect.signature(call).parameters
    if "id" in wanted:
        asked["id"] = ARTICLE if "article" in name or name == "list_candidates" else IOC
    if name in BODIES:
        model, body = BODIES[name]
        asked["body"] = getattr(importlib.import_module(f"{NAME}.models"), model).from_dict(body)
    return asked


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.promise("description.generates-clients")
def test_a_generated_client_calls_every_operation(client_package: ModuleType, service: tuple[str, str]) -> None:
    address, key = service
    described = httpx.get(f"{address}/api/v1/openapi.json").json()
    named = {each["operationId"] for path in described["paths"].values() for each in path.values()}
    found = operations()
    assert set(found) == named
    with client_package.AuthenticatedClient(base_url=address, token=key) as client:
        for name in sorted(found, key=lambda name: (name == LAST, name)):
            call = found[name].sync_detailed
            answer = call(client=client, **arguments(name, call))
            status = MISSING.get(name)
            assert answer.status_code == status if status else answer.status_code in ANSWERED, (name, answer.content)
            if answer.headers.get("content-type", "").startswith(("application/json", "application/problem+json")):
                assert answer.parsed is not None, name
            if name == "list_iocs":
                assert [ioc.value for ioc in answer.parsed.items] == ["evil.example"]
        refused = found["list_iocs"].sync_detailed(client=client, limit=0)
        assert (refused.status_code, refused.parsed.code) == (422, "invalid_parameter")
