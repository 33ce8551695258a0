"""What long reads, and all reads of one answer together, wait for a node that stands still."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from intel.errors import StoreUnavailable
from intel.query import IocQuery
from intel.settings import ElasticsearchSettings
from intel.store.elastic import nodes
from intel.store.elastic.store import ElasticStore
from intel.store.read_time import ANSWER_SECONDS, begin_read_time
from tests.contract.store.builders import hour, make_article, publish
from tests.intel.store.elastic.wire import Wire, wire_to

pytestmark = pytest.mark.asyncio

# Far less than a long read may take, far more than another node needs on a busy machine.
SOON_SECONDS = 30
# Longer than until a long read is looked after.
LONG_WORK_SECONDS = 5
Spread = tuple[ElasticStore, Wire, Wire, Wire]


@pytest_asyncio.fixture
async def spread(
    store: ElasticStore, elasticsearch_url: str, index_prefix: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Spread]:
    """A store that reaches the server by three wires, each as if it led to a node of its own; one article is in it.

    A node that was found away stays so.
    """
    for name in ("_PASSED_OVER_SECONDS", "_LONGEST_PASSED_OVER_SECONDS"):
        monkeypatch.setattr(nodes, name, 3600.0)
    await publish(store, make_article("one"), "domain evil.example")
    ways = wire_to(elasticsearch_url), wire_to(elasticsearch_url), wire_to(elasticsearch_url)
    async with ways[0] as one, ways[1] as two, ways[2] as three:
        urls = one.url, two.url, three.url
        reading = ElasticStore(ElasticsearchSettings(nodes=urls, index_prefix=index_prefix))
        yield reading, one, two, three
        for wire in (one, two, three):
            wire.late.set()
        await reading.close()


def searches(*wires: Wire) -> list[str]:
    """The searches that were sent over these wires."""
    return [head for wire in wires for head in wire.heads if "_search" in head]


async def read_long(store: ElasticStore) -> None:
    """Two long reads beside each other."""
    await store.subjects.newly_named(hour(0), hour(9))


async def test_a_node_that_stands_still_costs_a_long_read_a_moment_and_the_next_ones_nothing(spread: Spread) -> None:
    store, still, *_ = spread
    still.stalled = True
    async with asyncio.timeout(SOON_SECONDS):
        for _ in range(6):
            await read_long(store)
    # Of twelve reads four would be its turn; on a busy machine it may be found away before the first.
    assert len(searches(still)) <= 1 and still.heads


async def test_a_long_read_whose_node_waits_for_one_that_stands_still_is_read_from_others(spread: Spread) -> None:
    store, still, waiting, there = spread
    still.stalled, waiting.late_path = True, "_search"
    async with asyncio.timeout(SOON_SECONDS):
        for _ in range(2):
            await read_long(store)
    assert any("_prefer_nodes" in head for head in searches(there))
    assert not waiting.late.is_set()


async def test_a_long_read_is_asked_once_while_every_node_is_there(spread: Spread) -> None:
    store, *wires = spread
    for wire in wires:
        wire.late_path = "_search"
        asyncio.get_running_loop().call_later(LONG_WORK_SECONDS, wire.late.set)
    await read_long(store)
    assert wires[0].late.is_set()
    assert len(searches(*wires)) == 2


async def test_once_a_node_is_known_to_be_away_reads_are_sent_past_its_copies(spread: Spread) -> None:
    store, still, *others = spread
    still.stalled = True
    for _ in range(3):
        await read_long(store)
    for wire in others:
        wire.heads.clear()
    await read_long(store)
    sent = searches(*others)
    assert len(sent) == 2 and all("_prefer_nodes" in head for head in sent)


async def test_reads_of_one_answer_share_their_time_while_a_node_is_away(spread: Spread) -> None:
    store, still, *others = spread
    still.stalled = True
    for wire in others:
        wire.late_path = "search"
    await asyncio.create_task(_three_that_fail(store, within=2.4 * ANSWER_SECONDS))


async def _three_that_fail(store: ElasticStore, within: float) -> None:
    begin_read_time()
    begun = time.monotonic()
    for _ in range(3):
        with pytest.raises(StoreUnavailable):
            await store.iocs.find(IocQuery())
    assert time.monotonic() - begun < within


async def test_reads_of_one_answer_that_are_late_on_a_busy_cluster_each_take_their_own_time(spread: Spread) -> None:
    store, *wires = spread
    shared = begin_read_time()
    for wire in wires:
        wire.late_path = "search"
        asyncio.get_running_loop().call_later(1.5, wire.late.set)
    await store.iocs.find(IocQuery())
    assert wires[0].late.is_set()
    assert shared.left == ANSWER_SECONDS
