"""Pages that burn CPU, read by real processes: how long another account's page waits for them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from ingest import assembly
from ingest.assembly import Ingest, open_ingest
from intel.records import Submission
from intel.settings import Settings
from intel.store import Store
from intel.times import utc_now
from tests.api.pages import article_page, eventually
from tests.contract.queue.reading import ended
from tests.ingest.burning import HEAVY, read_burning
from tests.ingest.fetch.web import Web

pytestmark = pytest.mark.slow

_HEAVY_PAGES = 8


@pytest_asyncio.fixture
async def ingest(store: Store, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Ingest]:
    monkeypatch.setattr(assembly, "read_page", read_burning)
    opened = open_ingest(Settings.model_validate({"ioc_fetch_allow": "127.0.0.0/8"}), store)
    yield opened
    await opened.close()


async def submitted(store: Store, web: Web, name: str, account_id: str, body: bytes) -> str:
    url, now = web.page(f"/{name}", body), utc_now()
    await store.submissions.add(
        Submission(f"submission-{name}", account_id, url, "News", "queued", created_at=now, due_at=now)
    )
    return f"submission-{name}"


async def ended_among(store: Store, ids: list[str]) -> int:
    found = [await store.submissions.get(id) for id in ids]
    return sum(each is not None and each.ended for each in found)


@pytest.mark.promise("fairness.another-account-within-60-seconds")
async def test_heavy_pages_of_one_account_do_not_keep_anothers_page_waiting(
    ingest: Ingest, store: Store, web: Web
) -> None:
    pages = [article_page(f"Report {n}", f"Number {n} called c{n}[.]kestrel.net.") for n in range(_HEAVY_PAGES)]
    heavy = [await submitted(store, web, f"n{n}", "heavy", page.encode() + HEAVY) for n, page in enumerate(pages)]
    reading = [asyncio.create_task(ingest.work.read(id)) for id in heavy]
    try:
        await eventually(lambda: ended_among(store, heavy))
        honest = await submitted(store, web, "honest", "another", article_page().encode())
        await ingest.work.read(honest)
        assert (await ended(store, honest)).status == "done"
        # What had begun may have ended meanwhile, but little of what waited.
        assert await ended_among(store, heavy) <= _HEAVY_PAGES // 2
    finally:
        for task in reading:
            task.cancel()
        await asyncio.gather(*reading, return_exceptions=True)
