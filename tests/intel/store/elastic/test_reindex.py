"""Rebuilding the indices while the service goes on, and rebuildings that are cut short."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import replace
from typing import Any

import httpx
import pytest

from intel.errors import StoreUnavailable
from intel.query import IocQuery
from intel.records import ApiKey, Catalogue, Reading, Vote
from intel.store.elastic.store import ElasticStore
from tests.contract.store.builders import hour, iocs_in, listed, make_article, make_submission, publish, search, the_ioc
from tests.intel.store.elastic.conftest import store_at
from tests.intel.store.elastic.wire import Wire

pytestmark = pytest.mark.asyncio

MOST_WRITES = 900
WRITES_A_SECOND = 50
# A client waits for an answer: a machine that cannot take fifty a second is not given a heap of them at once.
MOST_AT_ONCE = 16


class Stopped(Exception):
    """Whoever watches the progress has had enough."""


def silent(what: str, done: int, total: int) -> None:
    """Tells nobody."""


async def ask(url: str, method: str, path: str, body: object = None) -> Any:
    """The server's own answer."""
    async with httpx.AsyncClient(base_url=url, timeout=30) as client:
        return (await client.request(method, path, json=body)).raise_for_status().json()


async def test_fifty_writes_a_second_lose_nothing_during_a_rebuilding(store: ElasticStore, index_prefix: str) -> None:
    for n in range(10):
        await publish(store, make_article(f"a{n}", at=n), *[f"domain d{n}-{m}.example" for m in range(50)])
    rebuilding = asyncio.create_task(store.reindex(silent))
    writing: list[asyncio.Task[None]] = []
    at_once = asyncio.Semaphore(MOST_AT_ONCE)
    # An account may have 1,000 waiting: on a busy machine the rest is rebuilt without more of them.
    while not rebuilding.done() and len(writing) < MOST_WRITES:
        await at_once.acquire()
        writing.append(asyncio.create_task(_one_write(store, len(writing))))
        writing[-1].add_done_callback(lambda _: at_once.release())
        await asyncio.wait({rebuilding}, timeout=1 / WRITES_A_SECOND)
    await rebuilding
    await asyncio.gather(*writing)
    for n in range(len(writing)):
        taken = await store.submissions.get(f"s{n}")
        assert taken is not None and (taken.status, taken.attempts) == ("fetching", 1)
    assert len(await store.submissions.due(hour(100), 10_000)) == len(writing)


async def _one_write(store: ElasticStore, n: int) -> None:
    submission = replace(make_submission(), id=f"s{n}")
    assert await store.submissions.add(submission) == submission
    assert await store.submissions.get(submission.id) == submission
    assert await store.submissions.claim(submission.id, hour(1), hour(2)) is not None


async def test_articles_saved_and_changed_during_a_rebuilding_count_exactly(store: ElasticStore) -> None:
    for n in range(10):
        await publish(store, make_article(f"a{n}", at=n), "domain common.example", f"domain d{n}.example")
    rebuilding = asyncio.create_task(store.reindex(silent))
    number = 0
    while not rebuilding.done():
        n = number % 10
        again = (f"ip 192.0.2.{n}",) if number % 20 < 10 else (f"domain d{n}.example",)
        await publish(store, make_article(f"a{n}", at=n), "domain common.example", *again)
        number += 1
    await rebuilding
    common = await the_ioc(store, "domain common.example")
    assert (common.sightings, common.first_seen, common.last_seen) == (10, hour(0), hour(9))
    expected = {"common.example"}
    for n in range(10):
        found = await iocs_in(store, make_article(f"a{n}").id)
        assert len(found) == 2
        expected.update(ioc.value for ioc in found)
    assert set(await listed(store)) == expected


async def test_a_store_that_holds_only_marks_of_removed_indicators_is_rebuilt(store: ElasticStore) -> None:
    article = make_article("a1")
    await publish(store, article, "domain gone.example")
    await store.articles.remove(article.id)
    await store.reindex(silent)
    assert (await store.iocs.find(IocQuery())).total == 0


async def test_catalogues_and_votes_go_on_during_a_rebuilding(store: ElasticStore) -> None:
    parts = {f"part-{n}": bytes([n]) * 10_000 for n in range(100)}
    await publish(store, make_article(), *[f"domain d{n}.example" for n in range(600)])
    rebuilding = asyncio.create_task(store.reindex(silent))
    number = 0
    while not rebuilding.done():
        number += 1
        catalogue = Catalogue("exploited", hour(1), hour(2), "https://lists.example", number)
        reading = Reading("article", number, hour(1), "", (), "text", ())
        vote = Vote("ioc-one", f"account-{number}", "", hour(1))
        puts = (store.catalogues.put(catalogue, parts), store.readings.put(reading), store.votes.put(vote))
        await asyncio.gather(*puts)
        assert await store.catalogues.parts("exploited", list(parts)) == parts
    await rebuilding
    assert await store.catalogues.all() == (catalogue,)
    assert await store.catalogues.parts("exploited", list(parts)) == parts
    assert await store.votes.counts(["ioc-one"]) == {"ioc-one": number}
    assert len(await store.readings.of("article")) == min(number, 100)


async def test_a_key_is_prepared_against_the_old_index_in_vain(store: ElasticStore) -> None:
    key = ApiKey("account", 0, "key", "secret", hour(1))
    assert await store.accounts.add_key(key)
    for n in range(2):
        await store.reindex(silent)
        assert await store.accounts.keys("account") == (key,)
        assert not await store.accounts.add_key(replace(key, secret_hash=f"other {n}"))
    assert await store.accounts.revoke_key("account", 0, "secret", hour(2))


async def test_only_one_process_rebuilds(store: ElasticStore, wired_store: ElasticStore) -> None:
    await publish(store, make_article(), *[f"domain d{n}.example" for n in range(50)])
    results = await asyncio.gather(store.reindex(silent), wired_store.reindex(silent), return_exceptions=True)
    assert sorted(type(result).__name__ for result in results) == ["NoneType", "StoreUnavailable"]
    assert len(await listed(store)) == 50


async def test_a_rebuilding_that_is_stopped_leaves_everything_as_it_was(
    store: ElasticStore, elasticsearch_url: str, index_prefix: str
) -> None:
    await publish(store, make_article(), *[f"domain d{n}.example" for n in range(600)])
    before = await _index_names(elasticsearch_url, index_prefix)

    def stop(what: str, done: int, total: int) -> None:
        if what == "iocs" and done:
            raise Stopped

    with pytest.raises(Stopped):
        await store.reindex(stop)
    after = await _index_names(elasticsearch_url, index_prefix)
    assert {name for name in after if "-iocs-" in name} == {name for name in before if "-iocs-" in name}
    await publish(store, make_article("b"), "ip 192.0.2.1")
    await store.reindex(silent)
    assert (await store.iocs.find(IocQuery())).total == 601


async def _index_names(url: str, prefix: str) -> set[str]:
    return {index["index"] for index in await ask(url, "GET", f"/_cat/indices/{prefix}*?format=json")}


async def test_a_block_that_a_killed_rebuilding_left_is_lifted_by_whoever_meets_it(
    store: ElasticStore, elasticsearch_url: str, index_prefix: str
) -> None:
    await publish(store, make_article(), "domain evil.example")
    lease = {"holder": "killed", "until": 1}
    await ask(elasticsearch_url, "PUT", f"/{index_prefix}leases/_doc/reindex", lease)
    await ask(elasticsearch_url, "PUT", f"/{index_prefix}iocs-ioc-v2")
    for noun in ("iocs", "submissions"):
        await ask(elasticsearch_url, "PUT", f"/{index_prefix}{noun}-ioc-v1/_block/write")
    begun = time.monotonic()
    await store.submissions.add(make_submission())
    await publish(store, make_article("b"), "domain other.example")
    assert time.monotonic() - begun < 30
    assert f"{index_prefix}iocs-ioc-v2" not in await _index_names(elasticsearch_url, index_prefix)
    assert len(await listed(store)) == 2


async def test_a_block_without_a_rebuilding_is_the_operators_and_stays(
    store: ElasticStore, elasticsearch_url: str, index_prefix: str
) -> None:
    await ask(elasticsearch_url, "PUT", f"/{index_prefix}submissions-ioc-v1/_block/write")
    waiting = asyncio.create_task(store.submissions.add(make_submission()))
    done, _ = await asyncio.wait({waiting}, timeout=1)
    assert not done
    waiting.cancel()
    await asyncio.wait({waiting})
    assert await store.submissions.get("submission-one") is None


async def test_a_rebuilding_repairs_what_searches_read(
    store: ElasticStore, elasticsearch_url: str, index_prefix: str
) -> None:
    await publish(store, make_article(title="Loader"), "domain evil.example")
    id = (await store.iocs.find(IocQuery())).items[0].id
    document = (await ask(elasticsearch_url, "GET", f"/{index_prefix}iocs/_doc/{id}"))["_source"]
    damaged = {**document, "words": [], "article_words": [], "hosts": [], "sightings": 7}
    await ask(elasticsearch_url, "PUT", f"/{index_prefix}iocs/_doc/{id}?refresh=true", damaged)
    assert await search(store, "loader") == []
    await store.reindex(silent)
    assert await search(store, "loader") == await search(store, "evil.example") == ["evil.example"]
    assert (await the_ioc(store, "domain evil.example")).sightings == 1


async def test_a_lost_answer_to_the_exchange_loses_no_index(
    wired_store: ElasticStore, wire: Wire, elasticsearch_url: str, index_prefix: str
) -> None:
    await publish(wired_store, make_article(), "domain evil.example")
    rebuilding = asyncio.create_task(wired_store.reindex(silent))
    while not rebuilding.done():
        wire.answers_to_lose = int(any("/_aliases " in head for head in wire.heads[-1:]))
        await asyncio.sleep(0)
    wire.answers_to_lose = 0
    with contextlib.suppress(StoreUnavailable):
        await rebuilding
    store = store_at(elasticsearch_url, index_prefix)
    assert await listed(store) == ["evil.example"]
    await publish(store, make_article("b"), "domain other.example")
    assert len(await listed(store)) == 2
    await store.close()
