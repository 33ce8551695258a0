"""Whatever the service says in STIX, checked by the validator of OASIS."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.apart import LOCKS, made_apart, run
from tests.api.serving import serving
from tests.api.test_formats import HOSTILE_VALUES
from tests.api.test_lists import ONE_OF_EACH
from tests.contract.store.builders import make_article

# Warnings are errors, but that ids are no random ones and that links to pages have no hash: ids are the same each time.
ALLOWED = "103,302"


@pytest.fixture
def service(tmp_path: Path, either_engines: dict[str, str]) -> Iterator[tuple[str, str]]:
    with serving(tmp_path / "data", *ONE_OF_EACH, *HOSTILE_VALUES, "domain github.com", **either_engines) as started:
        yield started


@pytest.fixture(scope="module")
def validator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the validator's programs, in an environment of its own."""
    return made_apart(tmp_path_factory.mktemp("validator") / "env", LOCKS / "requirements-validator.txt")


def collection(client: httpx.Client) -> dict[str, Any]:
    """All objects of the TAXII collection of everything, as a bundle."""
    accepted = {"Accept": "application/taxii+json;version=2.1"}
    page = client.get("/taxii2/api/collections/all/objects/", headers=accepted).json()
    return {"type": "bundle", "id": "bundle--5ab8ba2b-a1b3-4d6d-9d6d-6bfbb8e4a7b1", "objects": page["objects"]}


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.promise("formats.stix-validator")
def test_the_validator_of_oasis_finds_no_fault(service: tuple[str, str], validator: Path, tmp_path: Path) -> None:
    address, key = service
    article = make_article("report").id
    with httpx.Client(base_url=address, headers={"Authorization": f"Bearer {key}"}) as client:
        vote = f"/api/v1/iocs/{client.get('/api/v1/iocs?value=github.com').json()['items'][0]['id']}/false-positive"
        client.put(vote).raise_for_status()
        paths = ("export?format=stix", "export?format=stix&q=nothing", "iocs?format=stix&limit=50")
        said = {f"{n}.json": client.get(f"/api/v1/{path}").json() for n, path in enumerate(paths)}
        said["article.json"] = client.get(f"/api/v1/articles/{article}?format=stix").json()
        said["taxii.json"] = collection(client)
        client.delete(f"/api/v1/articles/{article}").raise_for_status()
        said["revoked.json"] = collection(client)
    assert len(said["1.json"]["objects"]) == 2
    assert any(made.get("revoked") for made in said["revoked.json"]["objects"])
    files = [tmp_path / name for name in said]
    for file in files:
        file.write_text(json.dumps(said[file.name]))
    told = run(validator, "stix2_validator", "--version", "2.1", "--strict", "--disable", ALLOWED, *files)
    assert told.count("STIX JSON: Valid") == len(files), told
