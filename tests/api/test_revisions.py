"""Reading a known article again: on request, as a new revision where it says something else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from tests.api.pages import article_page, eventually
from tests.api.running import Running
from tests.contract.store.builders import make_article, publish

SECOND = tuple(
    f"Line {n}: only other-kestrel[.]org and CVE-2024-3400 are named in the corrected report." for n in range(5)
)


class Blog:
    """One article whose text a test changes."""

    def __init__(self, server: HTTPServer) -> None:
        self._server = server
        self.url = server.url_for("/post")
        self.shows(article_page())

    def shows(self, page: str, status: int = 200) -> None:
        self._server.clear()
        self._server.expect_request("/post").respond_with_data(page, status, content_type="text/html")


@pytest.fixture
def blog(httpserver: HTTPServer) -> Blog:
    return Blog(httpserver)


async def ended(api: Running, key: dict[str, str], id: str) -> dict[str, Any]:
    async def look() -> dict[str, Any] | None:
        found: dict[str, Any] = (await api.get(f"/submissions/{id}", key)).json()
        return found if found["status"] in ("done", "failed") else None

    return await eventually(look)


async def submitted(api: Running, key: dict[str, str], url: str) -> str:
    """The id of the article at an address."""
    accepted = (await api.post("/submit", {"url": url}, key)).json()
    id = (await ended(api, key, accepted["id"]))["article_id"]
    assert isinstance(id, str)
    return id


async def refetched(api: Running, key: dict[str, str], id: str) -> dict[str, Any]:
    """How reading it again ends, a minute later."""
    api.clock.forward(60)
    answer = await api.post(f"/articles/{id}/refetch", {}, key)
    assert answer.status_code == 202, answer.text
    assert answer.headers["Location"] == f"/api/v1/submissions/{answer.json()['id']}"
    return await ended(api, key, answer.json()["id"])


@pytest.mark.promise("articles.refetch", "articles.revisions", "articles.vanished")
async def test_a_changed_article_gets_its_next_revision_and_counts_stay_exact(api: Running, blog: Blog) -> None:
    key = await api.key()
    id = await submitted(api, key, blog.url)
    before = (await api.get(f"/articles/{id}")).json()
    assert (before["revision"], before["vanished"], before["ioc_count"]) == (1, [], 5)
    blog.shows(article_page("Corrected", *SECOND))
    done = await refetched(api, key, id)
    assert (done["status"], done["article_id"], done["again"], done["ioc_count"]) == ("done", id, True, 2)
    now = (await api.get(f"/articles/{id}")).json()
    assert (now["revision"], now["title"], now["fetched_at"]) == (2, "Corrected", before["fetched_at"])
    assert {ioc["value"] for ioc in now["iocs"]} == {"other-kestrel.org", "CVE-2024-3400"}
    gone = {each["value"]: each for each in now["vanished"]}
    assert set(gone) == {
        "cdn-update.kestrel-files.net",
        "https://cdn-update.kestrel-files.net/gate.php",
        "login-kestrel.org",
        "T1053.005",
    }
    assert gone["login-kestrel.org"] == {
        "type": "domain",
        "value": "login-kestrel.org",
        "defanged": "login-kestrel[.]org",
        "last_revision": 1,
        "vanished_at": "2026-11-20T12:01:00Z",
    }
    listed = {item["value"]: item["sightings"] for item in await api.items("/iocs")}
    assert listed == {"other-kestrel.org": 1, "CVE-2024-3400": 1}
    assert (await api.get("/articles")).json()["total"] == 1


@pytest.mark.promise("articles.revisions", "promises.idempotent")
async def test_an_article_that_says_the_same_stays_as_it_is(api: Running, blog: Blog) -> None:
    key = await api.key()
    id = await submitted(api, key, blog.url)
    before, counts = (await api.get(f"/articles/{id}")).json(), await api.items("/iocs")
    blog.shows(article_page().replace("© the site", "© the site, 2027 <!-- rebuilt -->"))
    assert (await refetched(api, key, id))["status"] == "done"
    assert (await api.get(f"/articles/{id}")).json() == before
    assert await api.items("/iocs") == counts
    assert len(await api.items(f"/articles/{id}/revisions")) == 1


@pytest.mark.promise("articles.revisions", "lists.envelope", "cursor.needs-key")
async def test_every_revision_can_be_read(api: Running, blog: Blog) -> None:
    key = await api.key()
    id = await submitted(api, key, blog.url)
    blog.shows(article_page("Corrected", *SECOND))
    await refetched(api, key, id)
    blog.shows(article_page())
    await refetched(api, key, id)
    listed = await api.items(f"/articles/{id}/revisions")
    assert [(each["revision"], each["ioc_count"], each["added"], each["vanished"]) for each in listed] == [
        (3, 5, 4, 1),
        (2, 2, 1, 4),
        (1, 5, 5, 0),
    ]
    assert (await api.get(f"/articles/{id}")).json()["vanished"][0]["value"] == "other-kestrel.org"
    second = (await api.get(f"/articles/{id}/revisions/2")).json()
    assert (second["revision"], second["title"], second["ioc_count"]) == (2, "Corrected", 2)
    assert "corrected report" in second["text"]
    assert {"type": "domain", "value": "other-kestrel.org", "defanged": "other-kestrel[.]org"} in second["iocs"]
    page = (await api.get(f"/articles/{id}/revisions", key, limit=2)).json()
    rest = (await api.get(f"/articles/{id}/revisions", key, cursor=page["next_cursor"])).json()
    assert (page["total"], [each["revision"] for each in rest["items"]], rest["next_cursor"]) == (3, [1], None)
    for number in ("0", "4", "x", "-1", "1.0", "9" * 30, "²"):
        assert (await api.get(f"/articles/{id}/revisions/{number}")).status_code == 404, number


@pytest.mark.promise("articles.refetch")
async def test_an_article_that_is_gone_stays_as_it_was(api: Running, blog: Blog) -> None:
    key = await api.key()
    id = await submitted(api, key, blog.url)
    before = (await api.get(f"/articles/{id}")).json()
    blog.shows("gone", 410)
    failed = await refetched(api, key, id)
    assert (failed["status"], failed["reason"]) == ("failed", "http_410")
    assert (await api.get(f"/articles/{id}")).json() == before


@pytest.mark.promise("articles.refetch")
async def test_asking_twice_in_a_minute_is_asking_once(api: Running, blog: Blog) -> None:
    key, other = await api.key(), await api.key("other@example.org")
    id = await submitted(api, key, blog.url)
    first, second = [(await api.post(f"/articles/{id}/refetch", {}, key)).json()["id"] for _ in range(2)]
    theirs = (await api.post(f"/articles/{id}/refetch", {}, other)).json()["id"]
    api.clock.forward(60)
    third = (await api.client.post(f"/api/v1/articles/{id}/refetch", headers=key)).json()["id"]
    assert (first == second, len({first, theirs, third})) == (True, 3)
    assert (await api.get(f"/submissions/{theirs}", key)).status_code == 404


@pytest.mark.promise("articles.refetch")
async def test_what_cannot_be_read_again_says_why(api: Running) -> None:
    key = await api.key()
    taken = await api.publish("report")
    path = f"/articles/{taken.id}/refetch"
    assert (await api.client.post(f"/api/v1{path}")).status_code == 401
    unknown = await api.post("/articles/5f0c1b3e-6d0a-5b4e-9a53-2f7c4f1d8e60/refetch", {}, key)
    assert (unknown.status_code, unknown.json()["code"]) == (404, "not_found")
    assert (await api.post(path, {"url": "x"}, key)).status_code == 422
    assert (await api.post(path, [], key)).status_code == 422
    plain = await api.client.post(f"/api/v1{path}", content=b"{}", headers=key)
    assert (plain.status_code, plain.json()["code"]) == (415, "unsupported_media_type")
    file = await publish(api.store, replace(make_article("note"), url=None))
    refused = await api.post(f"/articles/{file.id}/refetch", {}, key)
    assert (refused.status_code, refused.json()["code"]) == (409, "article_without_address")
