"""What an account hands in a second time with a stricter TLP: the stricter one holds, or is refused."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from ingest.fetch import FetchAllow
from ingest.submitting import Submitting
from intel.errors import InvalidQuery
from intel.records import Submission
from intel.store import Store
from tests.api.running import Clock
from tests.contract.store.builders import make_article, publish

URL = "https://news.example/report"


class Idle:
    """A queue that nobody reads."""

    async def enqueue(self, *_: Submission) -> None: ...

    async def close(self) -> None: ...


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def submitting(store: Store, clock: Clock) -> Submitting:
    return Submitting(store, Idle(), FetchAllow(), clock)


async def hand_in(submitting: Submitting, what: str, tlp: Any) -> Submission:
    if what == "file":
        return await submitting.submit_file("account-1", "a.txt", b"evil[.]example", None, tlp)
    return await submitting.submit("account-1", URL, None, tlp=tlp)


@pytest.mark.promise("tlp.said")
@pytest.mark.parametrize("what", ["file", "address"])
async def test_what_waits_becomes_stricter_and_never_less_so(submitting: Submitting, store: Store, what: str) -> None:
    first = await hand_in(submitting, what, "green")
    for tlp in ("amber", "clear", None):
        again = await hand_in(submitting, what, tlp)
        assert again == await store.submissions.get(first.id)
        assert again == replace(first, tlp="amber")


@pytest.mark.promise("tlp.said")
@pytest.mark.parametrize("what", ["file", "address"])
async def test_a_stricter_tlp_for_what_is_being_read_is_refused(
    submitting: Submitting, store: Store, clock: Clock, what: str
) -> None:
    first = await hand_in(submitting, what, "green")
    claimed = await store.submissions.claim(first.id, clock.now, clock.now + timedelta(seconds=30))
    with pytest.raises(InvalidQuery, match="submit it again when it is") as refused:
        await hand_in(submitting, what, "amber")
    assert refused.value.field == "tlp"
    assert await hand_in(submitting, what, "clear") == claimed


@pytest.mark.promise("tlp.said")
async def test_an_article_that_an_account_submitted_becomes_stricter(
    submitting: Submitting, store: Store, clock: Clock
) -> None:
    first = await submitting.submit("operator", URL, None, tlp="green")
    claimed = await store.submissions.claim(first.id, clock.now, clock.now + timedelta(seconds=30))
    assert claimed is not None
    article = replace(make_article("one"), tlp="green", source_domain="news.example")
    await publish(store, article, "domain evil.example")
    assert await store.submissions.update(replace(claimed, status="done", article_id=article.id, finished_at=clock.now))
    # No page of its own is known by this address, so that only the submission tells which article it is.
    await submitting.submit("operator", URL, None, tlp="amber")
    stored = await store.articles.get(article.id)
    assert stored is not None and stored.tlp == "amber"
