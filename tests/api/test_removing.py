"""`DELETE /articles/{id}`: who may take an article back, and what is told of it afterwards."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from api.accounts.sign_up import create_account
from ingest.removing import Removing
from intel.ids import account_id
from intel.records import Submission
from tests.api.running import GENEROUS, PASSWORD, Running, running
from tests.api.web.reading import reading
from tests.contract.store.builders import hour, make_article, publish


@pytest_asyncio.fixture
async def api(tmp_path: Path, either_engines: dict[str, str]) -> AsyncIterator[Running]:
    """The service on each of its engines, empty."""
    engines = {name.lower(): value for name, value in either_engines.items()}
    async with running(tmp_path, **GENEROUS, **engines) as started:
        yield started


async def submitted(api: Running, email: str, article_id: str, name: str = "one") -> None:
    """The account's submission, which ended with that article."""
    owner = account_id(email)
    submission = Submission(
        f"{name}-{owner}",
        owner,
        f"https://news.example/{name}",
        "News",
        "done",
        hour(1),
        hour(1),
        article_id=article_id,
    )
    await api.store.submissions.add(submission)


@pytest.mark.slow
@pytest.mark.promise("remove.who")
async def test_an_article_is_removed_by_its_only_submitter_or_an_administrator(api: Running) -> None:
    administrator = await api.key("first@example.org")
    mine, other = await api.key("mine@example.org"), await api.key("other@example.org")
    first, second = await api.publish("one", "domain evil.example"), await api.publish("two", "domain evil.example")
    for email, article in (("mine@example.org", first), ("mine@example.org", second), ("other@example.org", second)):
        await submitted(api, email, article.id, article.title + article.id)
    for path, key, status, code in (
        (first.id, None, 401, "missing_api_key"),
        (first.id, other, 403, "forbidden"),
        (second.id, mine, 403, "forbidden"),
        ("00000000-0000-5000-8000-000000000000", mine, 404, "not_found"),
    ):
        answer = await api.client.delete(f"/api/v1/articles/{path}", headers=key)
        assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert (await api.items("/iocs"))[0]["sightings"] == 2
    assert (await api.client.delete(f"/api/v1/articles/{first.id}", headers=mine)).status_code == 204
    assert (await api.items("/iocs"))[0]["sightings"] == 1
    assert (await api.client.delete(f"/api/v1/articles/{second.id}", headers=administrator)).status_code == 204
    assert (await api.items("/iocs"), (await api.get(f"/articles/{first.id}")).status_code) == ([], 404)
    assert (await api.client.delete(f"/api/v1/articles/{first.id}", headers=mine)).status_code == 404


@pytest.mark.promise("remove.followed")
async def test_weeks_and_focus_follow_a_removal(api: Running) -> None:
    articles = [await api.publish(f"n{n}", "cve CVE-2026-1234", at=n, source=f"Source {n}") for n in range(3)]
    before = (await api.get("/weekly/2026-W47")).json()
    assert (before["counts"]["articles"], len(await api.items("/focus"))) == (3, 1)
    for article in articles[:2]:
        await api.store.articles.remove(article.id)
    after = (await api.get("/weekly/2026-W47")).json()
    assert (after["counts"]["articles"], after["counts"]["sources"]) == (1, 1)
    assert (after["revision"], await api.items("/focus")) == (before["revision"] + 1, [])
    await api.store.articles.remove(articles[2].id)
    assert (await api.get("/weekly/2026-W47")).status_code == 404


@pytest.mark.promise("remove.followed", "weekly.revisions")
async def test_what_earlier_revisions_of_weeks_said_of_a_removed_article_is_taken_back(api: Running) -> None:
    async def taken_in(name: str) -> str:
        article = replace(make_article(name, title=f"Said {name}"), fetched_at=api.clock.now)
        await publish(api.store, article, f"domain {name}.example")
        await api.get("/weekly/2026-W47")
        api.clock.forward(3600)
        return article.id

    await taken_in("honest")
    gone = await taken_in("poison")
    await taken_in("later")
    async with reading(api.app) as visitor:
        assert "Said poison" in (await visitor.open("/weekly/2026-W47?revision=2")).text
        await api.store.articles.remove(gone)
        assert (await api.get("/weekly/2026-W47")).json()["revision"] == 4
        revisions = (await api.get("/weekly/2026-W47/revisions")).json()
        assert ([one["revision"] for one in revisions["items"]], revisions["total"]) == ([4, 1], 2)
        for revision, status in ((1, 200), (2, 404), (3, 404), (4, 200)):
            answer = await api.get("/weekly/2026-W47", revision=revision)
            assert answer.status_code == status and "poison" not in answer.text, revision
            page = await visitor.open(f"/weekly/2026-W47?revision={revision}")
            assert page.status == status and "poison" not in page.text, revision
        assert {"revision 1", "revision 2"} & set((await visitor.open("/weekly/2026-W47")).links()) == {"revision 1"}


@pytest.mark.parametrize("with_submissions", [False, True])
async def test_an_account_goes_with_its_keys_and_if_asked_with_what_it_alone_submitted(
    api: Running, with_submissions: bool
) -> None:
    await create_account(api.store, api.service.passwords, api.clock, "first@example.org", PASSWORD)
    mine, own, shared = (
        await api.key("mine@example.org"),
        await api.publish("own", "domain own.example"),
        await api.publish("shared", "domain shared.example"),
    )
    for email, article in (("mine@example.org", own), ("mine@example.org", shared), ("other@example.org", shared)):
        await submitted(api, email, article.id, article.id)
    account = await api.store.accounts.get(account_id("mine@example.org"))
    assert account is not None
    removed = await Removing(api.store).remove_account(account, api.clock.now, with_submissions=with_submissions)
    assert removed == with_submissions
    assert (await api.get("/usage", mine)).status_code == 401
    assert await api.store.accounts.get(account.id) is None
    assert [one async for one in api.store.submissions.all_of(account.id)] == []
    left = ["shared.example"] if with_submissions else ["own.example", "shared.example"]
    assert sorted(await api.values()) == left


@pytest.mark.slow
@pytest.mark.promise("remove.who")
async def test_who_may_remove_an_article_on_its_page_is_asked_first_and_others_are_refused(api: Running) -> None:
    async with reading(api.app) as visitor:
        article = await api.publish("report", "domain evil.example")
        path = f"/articles/{article.id}/remove"
        assert (await visitor.open(path)).path.startswith("/signin?")
        await visitor.sign_up()  # the first account, which is the administrator
        assert (await visitor.open(f"/articles/{article.id}")).links()["Remove this article"] == path
        forged = await visitor.post(path, {"form_token": "00"})
        assert forged.status == 403 and await api.store.articles.get(article.id) is not None
        page = await visitor.submit(await visitor.open(path), path)
        assert (page.path, await api.values()) == ("/articles", [])
        other = await api.publish("other", "domain evil.example")
        await visitor.sign_out()
        await visitor.sign_up("other@example.org")
        assert "Remove this article" not in (await visitor.open(f"/articles/{other.id}")).links()
        assert (await visitor.open(f"/articles/{other.id}/remove")).status == 403
