"""`ioc serve` alone, as a newcomer runs it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult

from tests.end_to_end.processes import PROGRAMS, Installation, Server, installed, kill, terminate, until
from tests.end_to_end.site import Site

pytestmark = pytest.mark.timeout(900)


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Installation]:
    yield from installed(tmp_path, {})


def ask_mcp(server: Server, key: str, tool: str, arguments: dict[str, str]) -> CallToolResult:
    settings = {"SERVICE_API_KEY": key, "SERVICE_BASE_URL": server.address}
    command = StdioServerParameters(command=str(PROGRAMS / "ioc-mcp"), args=[], env=settings)

    async def asked() -> CallToolResult:
        async with Client(command, read_timeout_seconds=120) as client:
            return await client.call_tool(tool, arguments)

    return asyncio.run(asked())


@pytest.mark.promise("ways.serve-embedded", "mcp.real-client")
def test_an_article_is_submitted_found_over_rest_and_by_an_ai_client(here: Installation, site: Site) -> None:
    server, key = here.serve(), here.key()
    done = server.ended(server.submit(site.post(3), key)["id"], key)
    assert done["status"] == "done", done
    found = server.get("/iocs", q="c3.kestrel-files.net").json()["items"]
    assert "https://c3.kestrel-files.net/gate.php" in [item["value"] for item in found]
    answer = ask_mcp(server, key, "lookup_ioc", {"value": "hxxps://c3[.]kestrel-files[.]net/gate.php"})
    assert not answer.is_error
    assert '"found": true' in json.dumps(answer.structured_content)
    assert terminate(server.process) == 0, here.output()
    assert "Traceback" not in here.output()
    assert key not in here.output()


@pytest.mark.promise("promises.accepted-never-lost")
def test_a_killed_service_ends_every_submission_after_its_next_start(here: Installation, site: Site) -> None:
    server, key = here.serve(), here.key()
    site.gate.clear()
    ids = [server.submit(site.post(n), key)["id"] for n in range(8)]
    until(lambda: site.asked >= 4, "pages are being read")
    kill(server.process)
    site.gate.set()
    server = here.serve()
    assert [server.ended(id, key)["status"] for id in ids] == ["done"] * 8
    assert server.get("/articles").json()["total"] == 8
    assert {item["sightings"] for item in server.get("/iocs", type="url").json()["items"]} == {1}


@pytest.mark.promise("promises.accepted-never-lost")
def test_a_stopped_service_hands_back_what_it_reads(here: Installation, site: Site) -> None:
    server, key = here.serve(), here.key()
    site.gate.clear()
    id = server.submit(site.post(0), key)["id"]
    until(lambda: site.asked >= 1, "the page is being read")
    assert terminate(server.process) == 0, here.output()
    site.gate.set()
    server = here.serve()
    # No lease is waited for: it is due at once.
    until(lambda: server.get(f"/submissions/{id}", key).json()["status"] == "done", "done", 20)


@pytest.mark.promise("cli.beside-a-running-service", "keys.revoked-within-a-second")
def test_commands_work_beside_the_running_service(here: Installation) -> None:
    server, key = here.serve(), here.key()
    report = here.folder / "report.txt"
    report.write_text("The loader called hxxps://gate[.]kestrel-files[.]net/a and exploited CVE-2024-3400.\n" * 3)
    assert here.run("import", str(report)).returncode == 0
    listed = json.loads(here.run("list", "--json").stdout)
    assert "CVE-2024-3400" in [item["value"] for item in listed["items"]]
    assert [item["value"] for item in server.get("/iocs", key, type="cve").json()["items"]] == ["CVE-2024-3400"]
    assert here.run("key", "revoke", "analyst@example.org", "0").returncode == 0
    assert server.get("/iocs", key).status_code == 401


@pytest.mark.promise("settings.both-engines-or-neither")
@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"REDIS_URL": "redis://127.0.0.1:1/0"}, "ELASTICSEARCH_URL"),
        ({"ELASTICSEARCH_URL": "http://127.0.0.1:1"}, "REDIS_URL"),
        ({"ELASTICSEARCH_URL": "http://127.0.0.1:1", "REDIS_URL": "redis://127.0.0.1:1/0"}, "IOC_SECRET_KEY"),
        ({"IOC_RATE_KEY": "many"}, "IOC_RATE_KEY"),
        ({"IOC_SIGNUP": "maybe"}, "IOC_SIGNUP"),
        ({"IOC_FETCH_ALLOW": "everywhere"}, "IOC_FETCH_ALLOW"),
        ({"IOC_TRUSTED_PROXIES": "x"}, "IOC_TRUSTED_PROXIES"),
        ({"IOC_PORT": "http"}, "IOC_PORT"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_wrong_settings_end_with_2_and_a_sentence(tmp_path: Path, settings: dict[str, str], named: str) -> None:
    ended = Installation(tmp_path, settings).run("serve", "--port", "0")
    assert ended.returncode == 2, ended.stderr
    assert named in ended.stderr
    assert "Traceback" not in ended.stderr and len(ended.stderr.strip().splitlines()) <= 3


@pytest.mark.promise("settings.worker-needs-engines")
def test_a_worker_without_engines_ends_with_2_and_a_sentence(here: Installation) -> None:
    ended = here.run("worker")
    assert (ended.returncode, "ELASTICSEARCH_URL" in ended.stderr) == (2, True), ended.stderr
