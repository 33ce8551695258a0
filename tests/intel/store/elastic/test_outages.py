"""What the service sees when Elasticsearch is away, hangs, refuses, or loses an answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import httpx
import pytest
from structlog.testing import capture_logs

from intel.errors import ConfigurationError, StoreUnavailable
from intel.query import ArticleQuery, CandidateQuery, IocQuery
from intel.records import ApiKey, Catalogue, Vote, Week
from intel.settings import ElasticsearchSettings
from intel.store.elastic import client, nodes
from intel.store.elastic.store import ElasticStore
from search_mappings import elasticsearch_indices
from tests.api.pages import eventually
from tests.cases import each
from tests.contract.store.builders import hour, listed, make_article, make_submission, publish
from tests.intel.store.elastic.conftest import store_at
from tests.intel.store.elastic.wire import Wire, wire_to

pytestmark = pytest.mark.asyncio

READS: dict[str, Callable[[ElasticStore], Awaitable[object]]] = {
    "a list": lambda store: store.iocs.find(IocQuery()),
    "facets": lambda store: store.iocs.facets(IocQuery()),
    "an indicator": lambda store: store.iocs.get("one"),
    "many indicators": lambda store: store.iocs.get_many([f"none-{number}" for number in range(30)]),
    "many cards": lambda store: store.iocs.get_cards([f"none-{number}" for number in range(30)]),
    "related": lambda store: store.iocs.related("one", 5),
    "articles": lambda store: store.articles.find(ArticleQuery()),
    "the indicators of an article": lambda store: store.articles.iocs_of("one", 10),
    "indicators among those of an article": lambda store: store.articles.iocs_among("one", ["two"]),
    "texts": lambda store: store.articles.texts(["one"]),
    "a reading": lambda store: store.readings.get("one", 1),
    "what was weighed": lambda store: store.readings.weighed("one", 1, CandidateQuery()),
    "outlines": lambda store: store.readings.of("one"),
    "a basis": lambda store: store.articles.basis(hour(0), hour(1)),
    "weeks": lambda store: store.articles.weeks(),
    "a week": lambda store: store.weeks.get("2026-W47"),
    "a submission": lambda store: store.submissions.get("one"),
    "a key": lambda store: store.accounts.get_key("one", 0),
    "sessions": lambda store: store.accounts.sessions("one"),
    "catalogues": lambda store: store.catalogues.all(),
    "parts": lambda store: store.catalogues.parts("one", ["key"]),
    "votes": lambda store: store.votes.of("one"),
    "counts of votes": lambda store: store.votes.counts(["one"]),
    "the trust of sources": lambda store: store.trusts.all(),
    "notes": lambda store: store.notes.of(["one"]),
    "feeds": lambda store: store.feeds.all(),
    "totals": lambda store: store.totals(),
    "ping": lambda store: store.ping(),
}


# As the server says that its queue is full, or that its memory is for a moment.
TURNED_AWAY = (429, b'{"error":{"type":"es_rejected_execution_exception","reason":"rejected execution"},"status":429}')
TURNED_AWAY_ITEM = (
    b'{"errors":true,"items":[{"index":{"status":429,"error":{"type":"es_rejected_execution_exception",'
    b'"reason":"rejected execution"}}}]}'
)
SHARD_STARTS = b'{"_id":"one","error":{"type":"no_shard_available_action_exception","reason":"no shard available"}}'
LATE_SECONDS = 3.5
LATE_WRITE_SECONDS = 6.5


def make_key(secret_hash: str) -> ApiKey:
    return ApiKey("account-one", 0, "key", secret_hash, hour(1))


async def ask(url: str, method: str, path: str, body: object = None) -> Any:
    """The server's own answer."""
    async with httpx.AsyncClient(base_url=url, timeout=30) as client:
        return (await client.request(method, path, json=body)).raise_for_status().json()


@each("read", READS)
async def test_a_dead_cluster_is_told_at_once_and_its_return_needs_no_restart(
    wired_store: ElasticStore, wire: Wire, read: str
) -> None:
    wire.cut = False
    await READS[read](wired_store)
    wire.cut = True
    begun = time.monotonic()
    with pytest.raises(StoreUnavailable) as caught:
        await READS[read](wired_store)
    assert time.monotonic() - begun < 20
    assert "127.0.0.1" not in str(caught.value)
    wire.cut = False
    await READS[read](wired_store)


@pytest.mark.parametrize("read", ["a list", "totals", "the indicators of an article"])
async def test_a_cluster_that_hangs_is_given_up_within_seconds(
    wired_store: ElasticStore, wire: Wire, read: str
) -> None:
    wire.stalled = True
    begun = time.monotonic()
    with pytest.raises(StoreUnavailable):
        await READS[read](wired_store)
    assert 2 < time.monotonic() - begun < 30


@each("read", READS)
async def test_a_read_that_a_busy_cluster_turns_away_is_asked_again(
    wired_store: ElasticStore, wire: Wire, read: str
) -> None:
    wire.canned = [TURNED_AWAY] * 6
    await READS[read](wired_store)
    assert not wire.canned


async def test_a_list_of_which_a_busy_cluster_turns_a_part_away_is_asked_again(
    wired_store: ElasticStore, wire: Wire
) -> None:
    wire.canned_path, wire.canned = "_msearch", [(200, b'{"responses":[%s,%s]}' % (TURNED_AWAY[1], TURNED_AWAY[1]))] * 3
    assert (await wired_store.iocs.find(IocQuery())).total == 0
    assert not wire.canned


@pytest.mark.parametrize("ids", [1, 30])
async def test_documents_whose_shard_only_starts_are_asked_for_again(
    wired_store: ElasticStore, wire: Wire, ids: int
) -> None:
    await publish(wired_store, make_article("one", at=1), "domain a.example")
    (there,) = (await wired_store.iocs.find(IocQuery())).items
    wanted = [there.id, *(f"none-{number}" for number in range(1, ids))]
    wire.canned_path, wire.canned = "_mget", [(200, b'{"docs":[%s]}' % b",".join([SHARD_STARTS] * ids))] * 3
    assert [*await wired_store.iocs.get_cards(wanted)] == [there.id]
    assert not wire.canned


async def test_reads_fail_while_shards_are_away_and_pass_once_indices_are_made(
    elasticsearch_url: str, unmade_prefix: str
) -> None:
    template, where = f"/_index_template/{unmade_prefix}away", "index.routing.allocation.require._name"
    away = {"index_patterns": [f"{unmade_prefix}*"], "priority": 501, "template": {"settings": {where: "nobody"}}}
    await ask(elasticsearch_url, "PUT", template, away)
    maker, reader = store_at(elasticsearch_url, unmade_prefix), store_at(elasticsearch_url, unmade_prefix)
    making = asyncio.create_task(maker.setup())

    async def all_made() -> bool:
        return len(await ask(elasticsearch_url, "GET", f"/{unmade_prefix}*/_alias")) == len(elasticsearch_indices())

    try:
        await eventually(all_made)
        told = await asyncio.gather(*(read(reader) for read in READS.values()), return_exceptions=True)
        assert [name for name, one in zip(READS, told, strict=True) if not isinstance(one, StoreUnavailable)] == []
        await ask(elasticsearch_url, "PUT", f"/{unmade_prefix}*/_settings", {where: None})
        await making
        await asyncio.gather(*(read(reader) for read in READS.values()))
    finally:
        await ask(elasticsearch_url, "DELETE", template)
        await maker.close()
        await reader.close()


async def test_a_read_that_is_answered_late_is_waited_for_while_the_cluster_answers_others(
    wired_store: ElasticStore, wire: Wire
) -> None:
    wire.late_path = "search"
    asyncio.get_running_loop().call_later(LATE_SECONDS, wire.late.set)
    assert (await wired_store.iocs.find(IocQuery())).items == ()
    assert wire.late.is_set()


async def test_a_write_that_is_answered_late_is_waited_for_while_the_cluster_answers_others(
    wired_store: ElasticStore, wire: Wire
) -> None:
    wire.late_path = "_create"
    asyncio.get_running_loop().call_later(LATE_WRITE_SECONDS, wire.late.set)
    assert await wired_store.weeks.add(Week("2026-W47", 1, "basis", hour(0), {}))
    assert wire.late.is_set()


async def test_writes_that_a_busy_cluster_turns_away_are_carried_out_in_the_end(
    wired_store: ElasticStore, wire: Wire
) -> None:
    wire.canned = [TURNED_AWAY] * 4
    await wired_store.submissions.add(make_submission())
    wire.canned_path, wire.canned = "/_bulk", [TURNED_AWAY, (200, TURNED_AWAY_ITEM), TURNED_AWAY]
    await publish(wired_store, make_article(), "domain evil.example")
    assert not wire.canned
    assert await listed(wired_store) == ["evil.example"]


async def test_an_outage_is_logged_once_and_its_end_too(wired_store: ElasticStore, wire: Wire) -> None:
    with capture_logs() as logs:
        wire.cut = True
        for _ in range(3):
            with pytest.raises(StoreUnavailable):
                await wired_store.iocs.get("one")
        wire.cut = False
        for _ in range(3):
            await wired_store.iocs.get("one")
    assert [(entry["log_level"], entry["event"]) for entry in logs] == [
        ("warning", "Elasticsearch is out of reach"),
        ("info", "Elasticsearch answers again"),
    ]


async def test_requests_that_pass_now_and_then_make_one_outage(
    store: ElasticStore, wire: Wire, index_prefix: str
) -> None:
    settings = ElasticsearchSettings(nodes=(wire.url,), index_prefix=index_prefix)
    flapping = ElasticStore(settings, steady_seconds=3600)
    with capture_logs() as logs:
        for _ in range(3):
            wire.cut = True
            with pytest.raises(StoreUnavailable):
                await flapping.iocs.get("one")
            wire.cut = False
            await flapping.iocs.get("one")
    await flapping.close()
    assert [entry["event"] for entry in logs] == ["Elasticsearch is out of reach"]


async def test_a_vote_whose_answer_was_lost_counts_once(wired_store: ElasticStore, wire: Wire) -> None:
    vote = Vote("ioc-one", "account-one", "Our own host.", hour(1))
    wire.answers_to_lose = 1
    await wired_store.votes.put(vote)
    await wired_store.votes.put(replace(vote, account_id="account-two"))
    assert await wired_store.votes.counts(["ioc-one"]) == {"ioc-one": 2}
    wire.answers_to_lose = 1
    assert await wired_store.votes.withdraw("ioc-one", "account-two")
    assert await wired_store.votes.of("ioc-one") == (vote,)


async def test_a_catalogue_is_imported_though_answers_get_lost(wired_store: ElasticStore, wire: Wire) -> None:
    catalogue = Catalogue("exploited", hour(1), hour(2), "https://lists.example", 3)
    parts = {"a": b"1", "b": b"2"}
    for _ in range(3):
        wire.answers_to_lose = 1
        await wired_store.catalogues.put(catalogue, parts)
        assert await wired_store.catalogues.parts("exploited", ["a", "b", "c"]) == parts
    assert await wired_store.catalogues.all() == (catalogue,)


async def test_a_submission_whose_answer_was_lost_is_stored_once(wired_store: ElasticStore, wire: Wire) -> None:
    wire.answers_to_lose = 1
    assert await wired_store.submissions.add(make_submission()) == make_submission()
    wire.answers_to_lose = 1
    taken = await wired_store.submissions.claim("submission-one", hour(1), hour(2))
    assert taken is not None and taken.attempts == 1
    assert await wired_store.submissions.get("submission-one") == taken


async def test_a_key_whose_answer_was_lost_is_the_one_that_got_the_slot(wired_store: ElasticStore, wire: Wire) -> None:
    wire.answers_to_lose = 1
    assert await wired_store.accounts.add_key(make_key("secret"))
    wire.answers_to_lose = 1
    assert not await wired_store.accounts.add_key(make_key("other"))
    assert await wired_store.accounts.revoke_key("account-one", 0, "secret", hour(2))
    assert await wired_store.accounts.add_key(make_key("third"))


async def test_a_write_that_cannot_go_out_is_refused_soon(wired_store: ElasticStore, wire: Wire) -> None:
    wire.cut = True
    begun = time.monotonic()
    with pytest.raises(StoreUnavailable):
        await wired_store.submissions.add(make_submission())
    assert time.monotonic() - begun < 20
    wire.cut = False
    assert await wired_store.submissions.get("submission-one") is None


async def test_an_article_is_saved_though_answers_get_lost(wired_store: ElasticStore, wire: Wire) -> None:
    await wired_store.ping()

    async def lose_answers(task: asyncio.Task[object]) -> None:
        while not task.done():
            wire.answers_to_lose = 1
            await asyncio.sleep(0.05)

    saving: asyncio.Task[object] = asyncio.create_task(_save_until_done(wired_store))
    await lose_answers(saving)
    wire.answers_to_lose = 0
    assert await saving
    assert await listed(wired_store) == ["evil.example"]
    found = (await wired_store.iocs.find(IocQuery())).items[0]
    assert (found.sightings, found.sources) == (1, 1)


async def _save_until_done(store: ElasticStore) -> bool:
    for _ in range(100):
        try:
            await publish(store, make_article(), "domain evil.example")
        except StoreUnavailable:
            continue
        return True
    return False


async def test_a_full_disk_refuses_writes_and_passes_by_itself(
    store: ElasticStore, elasticsearch_url: str, index_prefix: str
) -> None:
    await publish(store, make_article(), "domain evil.example")

    async def block(on: bool) -> None:
        setting = {"index.blocks.read_only_allow_delete": on or None}
        await ask(elasticsearch_url, "PUT", f"/{index_prefix}*/_settings", setting)

    await block(True)
    try:
        with pytest.raises(StoreUnavailable):
            await store.submissions.add(make_submission())
        with pytest.raises(StoreUnavailable):
            await publish(store, make_article("other"), "domain other.example")
        assert await listed(store) == ["evil.example"]
    finally:
        await block(False)
    await store.submissions.add(make_submission())
    await publish(store, make_article("other"), "domain other.example")


async def test_an_emptied_cluster_is_filled_anew(
    store: ElasticStore, elasticsearch_url: str, index_prefix: str
) -> None:
    await publish(store, make_article(), "domain evil.example")
    for index in await ask(elasticsearch_url, "GET", f"/_cat/indices/{index_prefix}*?format=json"):
        await ask(elasticsearch_url, "DELETE", f"/{index['index']}")
    assert await listed(store) == []
    await publish(store, make_article(), "domain evil.example")
    assert await listed(store) == ["evil.example"]
    mappings = await ask(elasticsearch_url, "GET", f"/{index_prefix}iocs/_mapping")
    assert [mapping["mappings"]["dynamic"] for mapping in mappings.values()] == ["strict"]


@pytest.mark.parametrize(
    ("given", "header"),
    [
        ({"api_key": "some-key"}, "authorization: apikey some-key"),
        ({"username": "user", "password": "word"}, "authorization: basic dxnlcjp3b3jk"),
    ],
)
async def test_credentials_are_sent(wire: Wire, given: dict[str, str], header: str) -> None:
    settings = ElasticsearchSettings.model_validate({"nodes": (wire.url,), **given})
    store = ElasticStore(settings)
    await store.accounts.get("nobody")
    assert header in wire.heads[0].lower()
    await store.close()


async def test_an_unreadable_certificate_file_is_a_sentence() -> None:
    settings = ElasticsearchSettings.model_validate({"nodes": ("https://127.0.0.1:1",), "ca_certs": "/nowhere/ca.pem"})
    with pytest.raises(ConfigurationError, match="ELASTICSEARCH_CA_CERTS"):
        ElasticStore(settings)


async def test_a_node_that_is_away_is_passed_over(elasticsearch_url: str, index_prefix: str, wire: Wire) -> None:
    wire.cut = True
    store = ElasticStore(ElasticsearchSettings(nodes=(wire.url, elasticsearch_url), index_prefix=index_prefix))
    await store.setup()
    for n in range(8):
        submission = replace(make_submission(), id=f"s{n}")
        assert await store.submissions.add(submission) == submission
        assert await store.submissions.get(submission.id) == submission
    await store.close()


async def test_a_read_that_a_node_keeps_waiting_is_answered_by_another(
    store: ElasticStore, elasticsearch_url: str, index_prefix: str, wire: Wire
) -> None:
    saved = await publish(store, make_article("one"), "domain evil.example")
    async with wire_to(elasticsearch_url) as other:
        both = ElasticStore(ElasticsearchSettings(nodes=(wire.url, other.url), index_prefix=index_prefix))
        for path in ("search", "_mget", "_doc/"):
            wire.late_path = path
            # Of two reads one is asked of the node that is late.
            for _ in range(2):
                assert len((await both.iocs.find(IocQuery())).items) == 1
                assert await both.articles.get(saved.id) is not None
                assert await both.votes.of("none") == ()
        assert any("_prefer_nodes" in head for head in other.heads)
        assert not wire.late.is_set()
        wire.late.set()
        await both.close()


async def test_a_node_that_takes_connections_and_never_answers_costs_one_read_its_time(
    store: ElasticStore, elasticsearch_url: str, index_prefix: str, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = await publish(store, make_article("one"), "domain evil.example")
    for name in ("_PASSED_OVER_SECONDS", "_LONGEST_PASSED_OVER_SECONDS"):
        monkeypatch.setattr(nodes, name, 3600.0)
    wire.stalled = True
    both = ElasticStore(ElasticsearchSettings(nodes=(wire.url, elasticsearch_url), index_prefix=index_prefix))
    for _ in range(8):
        assert await both.articles.get(saved.id) is not None
    # Of eight reads four would be its turn.
    assert len([head for head in wire.heads if "/_doc/" in head]) == 1
    await both.close()


async def test_reads_are_answered_though_a_node_that_stands_still_holds_up_every_refresh(
    store: ElasticStore, elasticsearch_url: str, index_prefix: str, wire: Wire
) -> None:
    async with wire_to(elasticsearch_url) as other:
        both = ElasticStore(ElasticsearchSettings(nodes=(wire.url, other.url), index_prefix=index_prefix))
        wire.late_path = other.late_path = "_refresh"
        async with asyncio.timeout(50):
            await asyncio.gather(*(read(both) for read in READS.values()))
        wire.late.set()
        other.late.set()
        await both.close()


async def test_a_read_that_no_node_answers_is_given_up_though_all_answer_others(
    store: ElasticStore, elasticsearch_url: str, index_prefix: str, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_BUSY_SECONDS", 3600.0)
    async with wire_to(elasticsearch_url) as other:
        both = ElasticStore(ElasticsearchSettings(nodes=(wire.url, other.url), index_prefix=index_prefix))
        wire.late_path = other.late_path = "search"
        with pytest.raises(StoreUnavailable):
            async with asyncio.timeout(120):
                await both.iocs.find(IocQuery())
        wire.late.set()
        other.late.set()
        assert (await both.iocs.find(IocQuery())).items == ()
        await both.close()


async def test_a_request_under_way_does_not_connect_anew_once_the_store_is_closed(
    store: ElasticStore, wire: Wire, index_prefix: str
) -> None:
    closing = store_at(wire.url, index_prefix)
    wire.stalled = True
    asked = asyncio.create_task(closing.totals())
    await asyncio.wait([asked], timeout=0.2)
    await closing.close()
    with pytest.raises(StoreUnavailable):
        await asked
    assert not wire.heads[1:]
