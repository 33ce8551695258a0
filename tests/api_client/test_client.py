"""The shipped client against a running service."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from api_client import Client, NotReachable, RateLimited, ServiceRefused, shapes
from tests.api.serving import serving
from tests.test_rooms import ROOT

DOMAINS = [f"domain d{number}.kestrel-cdn.net" for number in range(120)]
# Which shape of the description each of the client's is.
SHAPES = {
    "Ioc": "IocModel",
    "ArticleRef": "ArticleRefModel",
    "Warned": "WarningModel",
    "Change": "ChangeModel",
    "Changes": "ChangesModel",
    "Article": "FoundArticleModel",
    "Submission": "SubmissionModel",
    "Extracted": "ExtractedIocModel",
    "RemovedIoc": "RemovedIocModel",
    "VoteCount": "VoteCountModel",
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    folder = tmp_path_factory.mktemp("service")
    with serving(folder, *DOMAINS, "domain c2-kestrel.net", "ip 8.8.8.8", ioc_rate_list="3/hour") as started:
        yield started


@pytest.mark.slow
@pytest.mark.promise("clients.python")
def test_the_client_reads_everything_however_much_it_is(service: tuple[str, str], tmp_path: Path) -> None:
    address, key = service
    with Client(address, key) as client:
        assert len({ioc["id"] for ioc in client.iocs(type="domain")}) == len(DOMAINS) + 1
        assert [ioc["value"] for ioc in client.iocs(type=["ip", "url"])] == ["8.8.8.8"]
        assert [ioc["value"] for ioc in client.iocs(type="ip", exclude=["warned", "expired"])] == []
        (best, *_) = client.iocs("c2-kestrel[.]net")
        assert client.ioc(best["id"])["value"] == "c2-kestrel.net"
        values = [f"d{number}[.]kestrel-cdn[.]net" for number in range(1_500)]
        known = client.lookup(values)
        assert list(known) == values and sum(map(bool, known.values())) == len(DOMAINS)
        page = client.changes()
        assert len(page["items"]) == len(DOMAINS) + 2 and not page["more"]
        assert client.changes(page["next"])["items"] == []
        lines = b"".join(client.export(type="domain")).splitlines()
        assert {json.loads(line)["type"] for line in lines} == {"domain"} and len(lines) == len(DOMAINS) + 1
        assert [each["value"] for each in client.extract("It called hxxps://evil[.]example/gate.")]
        (tmp_path / "report.md").write_text("# Kestrel\n\nIt called new-kestrel[.]net.\n")
        submission = client.ended(client.submit_file(tmp_path / "report.md", "Ours")["id"])
        assert submission["status"] == "done" and submission["ioc_count"] == 1
        assert next(client.articles("kestrel"))["title"] == "Kestrel"


@pytest.mark.slow
@pytest.mark.promise("clients.python")
def test_refusals_say_what_was_wrong(service: tuple[str, str]) -> None:
    address, key = service
    with Client(address, key) as client:
        with pytest.raises(ServiceRefused) as refused:
            list(client.iocs("x" * 513))
        assert (refused.value.status, refused.value.code, [*refused.value.fields]) == (422, "invalid_parameter", ["q"])
        with pytest.raises(ServiceRefused, match="404 not_found"):
            client.ioc("nothing/../of it")
    with Client(address, "ioc_wrong") as stranger, pytest.raises(ServiceRefused, match="401 invalid_api_key"):
        next(stranger.export())
    with Client(address) as visitor, pytest.raises(RateLimited) as limited:
        for _ in range(4):
            assert len(list(visitor.iocs())) == 50
    assert 0 < limited.value.retry_after <= 1_200
    with Client("http://127.0.0.1:9") as nobody, pytest.raises(NotReachable):
        nobody.changes()


@pytest.mark.slow
@pytest.mark.promise("clients.python")
def test_the_shapes_are_those_of_the_description(service: tuple[str, str]) -> None:
    described = httpx.get(f"{service[0]}/api/v1/openapi.json").json()
    for name, model in SHAPES.items():
        told = getattr(shapes, name).__annotations__
        assert set(told) <= set(described["components"]["schemas"][model]["properties"]), name
    parameters = {each["name"] for each in described["paths"]["/api/v1/export"]["get"]["parameters"]}
    assert set(shapes.Filters.__annotations__) <= parameters


@pytest.mark.slow
@pytest.mark.promise("clients.python")
def test_the_documented_program_runs(service: tuple[str, str], tmp_path: Path) -> None:
    (program,) = re.findall(r"^```python\n(.*?)^```$", (ROOT / "docs" / "python-client.md").read_text(), re.M | re.S)
    (tmp_path / "program.py").write_text(program)
    environment = {**os.environ, "IOC": service[0], "KEY": service[1], "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    assert "not found" in ran.stdout and "evil.example" in ran.stdout
    assert json.loads((tmp_path / "indicators.stix.json").read_text())["type"] == "bundle"
