"""Two API servers and a worker on a real Elasticsearch and a real Redis."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.end_to_end.processes import Installation, installed, kill, terminate, until
from tests.end_to_end.site import Site
from tests.end_to_end.test_embedded import ask_mcp

pytestmark = pytest.mark.timeout(900)

Install = Callable[[dict[str, str]], Installation]


@pytest.fixture
def install(elasticsearch_url: str, index_prefix: str, redis_database: str, tmp_path: Path) -> Iterator[Install]:
    """Makes the installation on engines of its own: no index or database is shared with another test."""
    engines = {
        "ELASTICSEARCH_URL": elasticsearch_url,
        "ELASTICSEARCH_INDEX_PREFIX": index_prefix,
        "REDIS_URL": redis_database,
        "IOC_SECRET_KEY": uuid.uuid4().hex,
    }
    opened: list[Iterator[Installation]] = []

    def make(settings: dict[str, str]) -> Installation:
        opened.append(installed(tmp_path, engines | settings))
        return next(opened[-1])

    yield make
    for each in opened:
        next(each, None)


def check_published_index(url: str, prefix: str) -> None:
    """Other tools read the alias `iocs` with these fields."""
    mappings = httpx.get(f"{url}/{prefix}iocs/_mapping", timeout=60).json()
    assert f"{prefix}iocs" not in mappings, "the name is an alias of a versioned index"
    (index,) = mappings.values()
    fields = index["mappings"]["properties"]
    kinds = {name: fields[name]["type"] for name in ("type", "value", "last_seen")}
    assert kinds == {"type": "keyword", "value": "keyword", "last_seen": "date"}
    found = httpx.get(f"{url}/{prefix}iocs/_search", params={"q": "type:url"}, timeout=60).json()["hits"]["hits"]
    assert [hit["_source"]["value"] for hit in found] == ["https://c3.kestrel-files.net/gate.php"]


@pytest.mark.promise("ways.served", "mcp.real-client", "records.elasticsearch-alias")
def test_an_article_is_submitted_read_by_the_worker_and_found(install: Install, site: Site) -> None:
    here = install({})
    server, worker = here.serve(), here.start("worker")
    key = here.key()
    done = server.ended(server.submit(site.post(3), key)["id"], key)
    assert (done["status"], done["attempts"]) == ("done", 1), done
    found = server.get("/iocs", q="c3.kestrel-files.net").json()["items"]
    assert "https://c3.kestrel-files.net/gate.php" in [item["value"] for item in found]
    answer = ask_mcp(server, key, "search_iocs", {"query": "campaign"})
    assert (
        "c3[.]kestrel-files[.]net" in json.dumps([item.model_dump() for item in answer.content]) or not answer.is_error
    )
    check_published_index(here.environment["ELASTICSEARCH_URL"], here.environment["ELASTICSEARCH_INDEX_PREFIX"])
    assert (terminate(worker), terminate(server.process)) == (0, 0), here.output()
    assert "Traceback" not in here.output() and key not in here.output()


@pytest.mark.promise("promises.accepted-never-lost", "promises.idempotent")
def test_a_worker_killed_in_the_middle_loses_nothing(install: Install, site: Site) -> None:
    here = install({})
    server, worker = here.serve(), here.start("worker")
    key = here.key()
    site.gate.clear()
    ids = [server.submit(site.post(n), key)["id"] for n in range(8)]
    until(lambda: site.asked >= 3, "pages are being read")
    kill(worker)
    site.gate.set()
    here.start("worker")
    assert [server.ended(id, key)["status"] for id in ids] == ["done"] * 8
    assert server.get("/articles").json()["total"] == 8
    urls = server.get("/iocs", key, type="url").json()["items"]
    assert (len(urls), {item["sightings"] for item in urls}) == (8, {1})


@pytest.mark.promise("limits.shared-by-servers", "keys.revoked-within-a-second", "limits.account.five-keys")
def test_two_servers_share_buckets_and_keys(install: Install) -> None:
    here = install({"IOC_RATE_KEY": "20/hour"})
    first, second = here.serve(), here.serve()
    key = here.key()
    statuses = [(first, second)[n % 2].get("/iocs", key).status_code for n in range(30)]
    assert (statuses.count(200), statuses.count(429)) == (20, 10)
    with ThreadPoolExecutor(6) as at_once:
        made = list(at_once.map(lambda _: here.run("key", "create", "analyst@example.org"), range(6)))
    keys = [each.stdout.strip() for each in made if each.returncode == 0]
    assert len(keys) == 4, [each.stderr for each in made]
    assert [each.returncode for each in made].count(1) == 2
    assert second.get("/iocs", keys[0]).status_code == 200
    slot = next(
        row["slot"]
        for row in json.loads(here.run("key", "list", "analyst@example.org", "--json").stdout)["items"]
        if keys[0].startswith(row["prefix"][:-1])
    )
    assert here.run("key", "revoke", "analyst@example.org", str(slot)).returncode == 0
    revoked = time.monotonic()
    assert {first.get("/iocs", keys[0]).status_code, second.get("/iocs", keys[0]).status_code} == {401}
    assert time.monotonic() - revoked < 10
