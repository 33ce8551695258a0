"""Stores that earlier versions made: every address answers on them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path

import pytest
import pytest_asyncio

from api.web.routes import PAGES
from tests.api.running import GENEROUS, Running, running
from tests.contract.store.builders import id_of
from tests.intel.store.sqlite.test_upgrade import FIRST, SECOND, write_old_file

IDS = {
    "iocs": id_of("domain evil.example"),
    "week": "2026-W47",
    "revision": "1",
    "type": "domain",
    "value": "evil.example",
    "slug": "phishing",
    "name": "Agency",
    "token": "none",
    "delivery_id": "none",
}


@pytest_asyncio.fixture(params=[1, 2])
async def upgraded(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Running]:
    """The service on a file with the tables of that version."""
    write_old_file(tmp_path / "ioc.sqlite3", request.param)
    async with running(tmp_path, **GENEROUS) as started:
        yield started


@pytest.mark.parametrize("article", [FIRST, SECOND], ids=["first", "second"])
@pytest.mark.slow
async def test_every_address_answers(upgraded: Running, article: object) -> None:
    ids = IDS | {"articles": FIRST.id if article is FIRST else SECOND.id}
    key = await upgraded.key()
    described = (await upgraded.get("/openapi.json")).json()["paths"]
    paths = [path for path, operations in described.items() if "get" in operations]
    pages = [entry.path.replace(":id}", "}").replace(":path}", "}") for entry in PAGES]
    for path in (*filled(paths, ids), *filled(pages, ids)):
        assert (await upgraded.client.get(path, headers=key)).status_code < 500, path


def filled(templates: list[str], ids: Mapping[str, str]) -> Iterator[str]:
    for template in templates:
        noun = template.removeprefix("/api/v1").split("/")[1]
        yield template.format_map({**ids, "id": ids.get(noun, "none")})


async def test_an_article_without_readings_lists_its_own_revision(upgraded: Running) -> None:
    (listed,) = await upgraded.items(f"/articles/{FIRST.id}/revisions")
    assert (listed["revision"], listed["title"], listed["ioc_count"]) == (1, "First", 3)
    assert (listed["added"], listed["vanished"]) == (3, 0)
    shown = (await upgraded.get(f"/articles/{FIRST.id}/revisions/1")).json()
    assert shown["text"] == FIRST.text
    assert [each["value"] for each in shown["iocs"]] == ["evil.example", "192.0.2.1", "http://evil.example/x"]
