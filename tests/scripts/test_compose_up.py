"""docker-compose.yml for real: no file prepared, one command, a working service behind passwords that nobody chose."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
import urllib.request
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.engines.docker_engine import ELASTICSEARCH_IMAGE, need_image
from tests.engines.elasticsearch_server import JAVA_OPTIONS_FOR_TESTS
from tests.engines.engine import NotToBeHad, free_port
from tests.scripts.conftest import ROOT

pytestmark = pytest.mark.timeout(900)
LEFT_BEHIND = (".venv", ".git", ".env", ".mypy_cache", ".ruff_cache", ".hypothesis", "__pycache__")
# Beside docker-compose.yml, which is read as it is: what Elasticsearch runs here, it runs once.
IN_LITTLE_TIME = f"services: {{elasticsearch: {{environment: {{ES_JAVA_OPTS: {JAVA_OPTIONS_FOR_TESTS}}}}}}}\n"
ASK_ELASTICSEARCH = ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "http://localhost:9200/_cat/indices"]


def left_behind(folder: str, names: list[str]) -> set[str]:
    """The service's own `data` stays behind, but folders of that name in the packages belong to the program."""
    return {name for name in names if name in LEFT_BEHIND or (name == "data" and Path(folder) == ROOT)}


@dataclass(frozen=True, slots=True)
class Compose:
    """One run of docker-compose.yml under a project name of its own."""

    folder: Path
    name: str
    port: int

    def __call__(self, *arguments: str, check: bool = True) -> str:
        command = ["docker-compose"] if shutil.which("docker-compose") else ["docker", "compose"]
        done = subprocess.run(
            [*command, "-p", self.name, *arguments],
            cwd=self.folder,
            env={**os.environ, "IOC_PUBLISH": f"127.0.0.1:{self.port}"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=800,
        )
        assert not check or done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    def inside(self, service: str, *command: str) -> str:
        return self("exec", "-T", service, *command, check=False)

    def container(self, service: str) -> Any:
        number = self("ps", "-q", service).strip()
        return json.loads(subprocess.check_output(["docker", "inspect", number], timeout=300))[0]

    def wait_until_healthy(self, service: str) -> None:
        """Docker runs the health check; this follows its verdict in the stream of events."""
        number = self("ps", "-q", service).strip()
        span = ["--since", "15m", "--until", str(int(time.time()) + 240)]
        watch = ["docker", "events", *span, "--filter", f"container={number}", "--format", "{{.Status}}"]
        with subprocess.Popen(watch, stdout=subprocess.PIPE, text=True) as events:
            try:
                assert any("health_status: healthy" in line for line in events.stdout or ())
            finally:
                events.terminate()

    def get(self, path: str) -> tuple[int, str]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=300) as answer:
            return answer.status, answer.read().decode()


@pytest.fixture(scope="module")
def up(docker_version: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compose]:
    try:
        for image in (ELASTICSEARCH_IMAGE, "redis:7-alpine", "python:3.13-slim"):
            need_image(image, pull=True)
    except NotToBeHad as reason:
        pytest.skip(str(reason))
    folder = tmp_path_factory.mktemp("clone") / "project"
    shutil.copytree(ROOT, folder, ignore=left_behind)
    (folder / "docker-compose.override.yml").write_text(IN_LITTLE_TIME)
    compose = Compose(folder, f"ioctest{uuid.uuid4().hex[:8]}", free_port())
    try:
        compose("up", "-d", "--build")
        compose.wait_until_healthy("api")
        compose.wait_until_healthy("worker")
        yield compose
    finally:
        compose("down", "-v", "--remove-orphans", "-t", "5", check=False)


@pytest.mark.promise("ways.compose")
def test_the_service_is_ready_and_lists_from_elasticsearch(up: Compose) -> None:
    assert up.get("/readyz")[0] == 200
    assert json.loads(up.get("/api/v1/iocs")[1])["items"] == []


def test_the_engines_refuse_who_has_no_password(up: Compose) -> None:
    assert up.inside("elasticsearch", *ASK_ELASTICSEARCH) == "401"
    assert "NOAUTH" in up.inside("redis", "redis-cli", "ping")


def as_the_service(path: str, *options: str) -> list[str]:
    """A request to Elasticsearch in the service's own name; prints status and answer."""
    ask = f'curl -s -w " %{{http_code}}" {" ".join(options)} "http://localhost:9200{path}" --config -'
    password = "$(cat /secrets/elasticsearch/service_password)"
    return ["bash", "-c", f'printf \'user = "ioc_service:%s"\' "{password}" | {ask}']


def test_the_service_may_use_its_own_indices_of_elasticsearch_and_nothing_else(up: Compose) -> None:
    who = up.inside("elasticsearch", *as_the_service("/_security/_authenticate"))
    assert '"username":"ioc_service"' in who
    assert '"roles":["ioc_service"]' in who
    assert up.inside("elasticsearch", *as_the_service("/iocs/_count")).endswith(" 200")
    assert up.inside("elasticsearch", *as_the_service("/other", "-X", "PUT")).endswith(" 403")
    assert up.inside("elasticsearch", *as_the_service("/_snapshot/x", "-X", "DELETE")).endswith(" 403")


def test_the_superuser_s_password_is_not_among_the_service_s_secrets(up: Compose) -> None:
    superuser = up.inside("elasticsearch", "cat", "/secrets/elasticsearch/password")
    assert len(superuser) >= 43
    assert superuser not in up.inside("api", "sh", "-c", "cat /secrets/service/*")


def test_only_the_api_can_be_reached_from_this_machine(up: Compose) -> None:
    for service in ("elasticsearch", "redis", "worker"):
        ports = up.container(service)["NetworkSettings"]["Ports"]
        assert not any(ports.values()), service
    assert [
        [bound["HostIp"] for bound in bounds] for bounds in up.container("api")["NetworkSettings"]["Ports"].values()
    ]


@pytest.mark.parametrize("service", ["api", "worker"])
def test_the_service_is_an_ordinary_user_who_may_read_its_own_secrets_only(up: Compose, service: str) -> None:
    assert up.inside(service, "id", "-u").strip() == "10001"
    assert len(up.inside(service, "cat", "/secrets/service/secret_key")) >= 43
    assert up.inside(service, "cat", "/secrets/redis/password") == ""
    assert up.inside(service, "sh", "-c", "touch /app/x 2>/dev/null || echo refused").strip() == "refused"


@pytest.mark.promise("ways.image")
def test_the_image_is_small_and_holds_no_package_manager(up: Compose) -> None:
    image = json.loads(
        subprocess.check_output(["docker", "image", "inspect", up.container("api")["Image"]], timeout=300)
    )
    assert image[0]["Size"] < 200_000_000
    found = up.inside("api", "sh", "-c", "ls /usr/bin /usr/local/bin /app/.venv/bin 2>/dev/null").split()
    assert not {"pip", "pip3", "apt", "apt-get", "dpkg", "gcc", "curl"} & set(found)


@pytest.mark.promise("ways.image")
def test_the_image_lists_its_parts(up: Compose) -> None:
    listed = json.loads(up.inside("api", "cat", "/app/sbom.cdx.json"))
    names = {part["name"] for part in listed["components"]}
    assert {"fastapi", "elasticsearch", "python", "libc6", "ca-certificates"} <= names
    assert all(part["version"] and part["purl"].startswith("pkg:") for part in listed["components"])


_EVERY_MODULE = """
import importlib, pkgutil
for room in ("api", "ingest", "intel", "mcp_server", "search_mappings", "ioc_intelligence"):
    package = importlib.import_module(room)
    for module in pkgutil.walk_packages(package.__path__, room + "."):
        # The client is for programs elsewhere.
        if not module.name.endswith(("__main__", "ioc_intelligence.client")):
            importlib.import_module(module.name)
print("all there")
"""


def test_nothing_that_the_service_needs_was_left_out_of_the_image(up: Compose) -> None:
    assert up.inside("worker", "python", "-c", _EVERY_MODULE) == "all there\n"
    # Pages are read with what many packages bring along: languages, dates, suffixes, fonts.
    page = "<html lang=de><p>Am 3. November rief die Schadsoftware hxxp://evil[.]example/x auf.</p></html>"
    assert '"http://evil.example/x"' in up.inside("worker", "sh", "-c", f"echo '{page}' | ioc extract -")


def test_accounts_outlive_containers_that_are_made_anew(up: Compose) -> None:
    command = "echo correct horse battery staple 9 | ioc account create someone@example.org"
    up.inside("api", "sh", "-c", command)
    assert up.inside("api", "ioc", "key", "create", "someone@example.org").startswith("ioc_")
    up("down", "-t", "10")
    up("up", "-d")
    up.wait_until_healthy("api")
    assert up.inside("api", "ioc", "key", "create", "someone@example.org").startswith("ioc_")
