"""Every page of a hostile web ends with its own reason and in its time, and an honest one beside them is read."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from ingest.assembly import Ingest, open_ingest
from intel.errors import IngestFailed
from intel.query import IocQuery
from intel.settings import Settings
from intel.store.sqlite.store import SqliteStore
from tests.ingest.fetch.web import Web
from tests.ingest.hostile.bodies import ARTICLE
from tests.ingest.hostile.routes import Expected, charsets, lay_out, markup
from tests.one_fork_server import one_fork_server
from tests.stores import lay_store

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

_AT_ONCE = 10
_LONGEST_SECONDS = 200.0


@pytest.fixture(scope="module", autouse=True)
def readers() -> Iterator[None]:
    """What each ingest of these tests forks its readers from."""
    with one_fork_server():
        yield


@pytest_asyncio.fixture
async def ingest(tmp_path: Path) -> AsyncIterator[Ingest]:
    store = SqliteStore(lay_store(tmp_path / "store.db"))
    await store.setup()
    settings = Settings.model_validate(
        {"ioc_fetch_allow": "127.0.0.0/8", "ioc_fetch_total_seconds": 10, "ioc_fetch_read_seconds": 1.5}
    )
    opened = open_ingest(settings, store)
    yield opened
    await opened.close()
    await store.close()


async def outcome(ingest: Ingest, url: str) -> str:
    """`done`, or why not; as a submission is, a page is tried again when all readers were busy for long."""
    while True:
        try:
            await ingest.pipeline.take_url(url, "Hostile")
        except IngestFailed as failure:
            assert failure.detail.endswith((".", "!")) and "127.0.0" not in failure.detail, failure.detail
            if failure.reason != "busy":
                return failure.reason
        else:
            return "done"


@pytest.mark.promise("promises.fetch-capped", "promises.hostile-article-is-data", "promises.public-addresses-only")
async def test_every_page_ends_with_its_own_reason_while_others_go_on(ingest: Ingest, web: Web) -> None:
    expected: Expected = lay_out(web)
    assert len(expected) > 150
    slots, ended, longest = asyncio.Semaphore(_AT_ONCE), Expected(), 0.0

    async def take(path: str) -> None:
        nonlocal longest
        async with slots:
            begun = time.monotonic()
            ended[path] = await outcome(ingest, web.url(path))
            longest = max(longest, time.monotonic() - begun)

    async def honest() -> None:
        for n in range(5):
            web.page(f"/honest/{n}", ARTICLE.replace(b"gate", b"honest%d" % n))
            begun = time.monotonic()
            assert await outcome(ingest, web.url(f"/honest/{n}")) == "done"
            assert time.monotonic() - begun < _LONGEST_SECONDS

    await asyncio.gather(honest(), *map(take, expected))
    wrong = {
        path: (reason, expected[path]) for path, reason in ended.items() if reason not in expected[path].split("|")
    }
    assert wrong == {}
    assert longest < _LONGEST_SECONDS


@pytest.mark.promise("articles.dropped-counted")
async def test_what_is_beyond_the_limit_of_an_article_is_counted(ingest: Ingest, web: Web) -> None:
    markup(web)
    article = await ingest.pipeline.take_url(web.url("/markup/iocs"), "Hostile")
    assert article.ioc_count == 20_000 < 20_000 + article.ioc_dropped
    assert any(f"{article.ioc_dropped:,} indicators" in note for note in article.notes)
    assert (await ingest.work.store.iocs.find(IocQuery(limit=1))).total == 20_000


async def test_what_a_file_on_this_machine_says_is_never_read(ingest: Ingest, web: Web) -> None:
    markup(web)
    article = await ingest.pipeline.take_url(web.url("/markup/xhtml-file"), "Hostile")
    assert article.text is not None
    assert Path("/etc/hostname").read_text().strip() not in article.text


@pytest.mark.parametrize(
    "charset", ["utf-8", "windows-1251", "koi8-r", "shift_jis", "euc-jp", "gbk", "gb18030", "utf-16"]
)
async def test_texts_are_read_in_their_own_letters(ingest: Ingest, web: Web, charset: str) -> None:
    charsets(web)
    for where in ("meta", "header") if charset != "utf-16" else ("",):
        article = await ingest.pipeline.take_url(web.url(f"/charset/{charset}/{where}".rstrip("/")), "Hostile")
        assert article.text is not None and "\N{REPLACEMENT CHARACTER}" not in article.text
        words = ("ночью", "夜間", "夜间", "night")
        assert any(word in article.text for word in words), article.text
