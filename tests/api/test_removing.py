"""`DELETE /articles/{id}`: who may take an article back, and what is told of it afterwards."""

from __future__ import annotations

import pytest

from api.accounts.sign_up import create_account
from ingest.removing import Removing
from intel.ids import account_id
from intel.records import Submission
from tests.api.running import PASSWORD, Running
from tests.contract.store.builders import hour


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
