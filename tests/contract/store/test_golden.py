"""Searches with the answers that an analyst expects first, and how each was found: alike on every engine."""

from __future__ import annotations

import pytest
import pytest_asyncio

from intel.matching import reason
from intel.query import IocQuery, parse_search
from intel.store.port import Store
from tests.contract.store.builders import publish
from tests.contract.store.corpus import make_corpus
from tests.contract.store.golden import ARTICLES, GOLDEN
from tests.contract.store.oracle import Oracle
from tests.contract.store.test_same_answers import IOC_QUERIES


@pytest_asyncio.fixture
async def stocked(store: Store) -> Store:
    for article, indicators in ARTICLES:
        await publish(store, article, *indicators)
    return store


def test_there_are_enough_searches_to_trust() -> None:
    assert len({q for q, _, _ in GOLDEN}) >= 60


@pytest.mark.promise("search.same-on-both-engines", "search.order-by-class")
async def test_analysts_find_first_what_they_expect(stocked: Store) -> None:
    wrong = []
    for q, total, expected in GOLDEN:
        text = parse_search(q)
        assert text is not None
        page = await stocked.iocs.find(IocQuery(text=text, limit=50))
        found = [f"{reason(text, ioc).how} {ioc.type} {ioc.value}" for ioc in page.items]
        if page.total != total or found[: len(expected)] != expected:
            wrong.append((q, page.total, found))
    assert wrong == []


async def test_every_reason_tells_the_class_that_orders_it(stocked: Store) -> None:
    for q, _, _ in GOLDEN:
        text = parse_search(q)
        assert text is not None
        page = await stocked.iocs.find(IocQuery(text=text, limit=50))
        classes = [_class_of(reason(text, ioc).how, ioc.id in text.exact_ids) for ioc in page.items]
        assert classes == sorted(classes), q


@pytest.mark.slow
def test_a_reason_tells_the_class_by_the_plain_rules_too() -> None:
    oracle = Oracle(make_corpus())
    told = 0
    for asked in IOC_QUERIES:
        if asked.text is not None:
            ranked = [
                (_class_of(reason(asked.text, ioc).how, ioc.id in asked.text.exact_ids), -ioc.sources)
                for ioc in oracle.iocs(asked)
            ]
            told += len(ranked)
            assert ranked == sorted(ranked), asked
    assert told > 1_000


def _class_of(how: str, is_exact: bool) -> int:
    if is_exact:
        return 0
    return 2 if how in ("malware", "title", "source", "article") else 1
