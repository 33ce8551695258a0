"""The same writes give the same answers on both engines, and they are those of the rules: items, order, totals."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import product

import pytest
import pytest_asyncio

from intel.query import ArticleQuery, IocQuery, parse_search
from intel.records import Facets
from intel.store.port import Store
from tests.contract.store.builders import hour, id_of, query, values
from tests.contract.store.conftest import CorpusOn, Open, opened
from tests.contract.store.corpus import HOSTS, SOURCES, WORDS, make_corpus
from tests.contract.store.oracle import Oracle

SEARCHES = (
    *WORDS,
    *HOSTS,
    "evil.example loader", "evil corp", '"evil corp"', '"loader update"', '"corp evil" bank', "cobalt strike",
    '"cobalt strike"', "emotet evil*", "l*", "ev* lo*", "ü*", "m*", "вир*", '"ランサム 分析"', "ランサ", "分", "straße",
    "strasse", "file", "naive", "198.51.100.0/24", "198.51.0.0/16", "198.51.100.7", "198.51.100.8/29 evil",
    "2001:db8::/32", "2001:db8::1:0/112", "::/0", "hxxp://198.51.100[.]3:8080/evil", "user3@evil.example",
    "münchen.example", "MÜNCHEN*", "CVE-2024-1003", "cve 2024", "T1003", "user*", "blog", "example blog",
    "evil watch", "a", "com", "co.uk", "bank.co.uk", "??", "2024", "x y", "x_y", "o'neil", "AND OR NOT",
    '"AND OR"', "evil* evil.example", "Evil Ransomware", "ransomware", "xn--mnchen-3ya", "login evil 8080",
)  # fmt: skip
IOC_QUERIES = (
    *(query(q, limit=1000) for q in SEARCHES),
    *(
        query(q, limit=1000, type=type)
        for q, type in product(("evil", "loader.test", "l*"), ("domain", "url", "malware"))
    ),
    *(query(q, limit=1000, source=source) for q, source in product((None, "evil", "münchen"), SOURCES)),
    *(query(q, limit=1000, since=hour(9), until=hour(20.5)) for q in (None, "evil", "198.51.0.0/16")),
    *(query(None, limit=1000, type=type, since=hour(10)) for type in ("ip", "email", "hash_md5")),
    query("evil", ids=(id_of("domain evil.example"), id_of("domain loader.test"), id_of("malware Emotet"))),
)
ARTICLE_QUERIES = (
    *(ArticleQuery(parse_search(q), limit=1000) for q in SEARCHES),
    *(ArticleQuery(parse_search("evil"), source, limit=1000) for source in SOURCES),
    *(ArticleQuery(None, source, limit=1000) for source in (None, *SOURCES)),
)

pytestmark = pytest.mark.timeout(900)


@pytest.fixture
def openers(corpus_on: CorpusOn) -> tuple[Open, Open]:
    (open_one, saved_on_one), (open_two, saved_on_two) = corpus_on("sqlite"), corpus_on("elasticsearch")
    assert saved_on_one == saved_on_two
    return open_one, open_two


@pytest_asyncio.fixture
async def both(openers: tuple[Open, Open]) -> AsyncIterator[tuple[Store, Store]]:
    async for one in opened(openers[0]):
        async for two in opened(openers[1]):
            yield one, two


async def walked(store: Store, asked: IocQuery) -> list[object]:
    """What the pages of a walk hold, total and positions included."""
    pages: list[object] = []
    after = None
    while True:
        page = await store.iocs.find(replace(asked, after=after))
        pages.append(page)
        if page.next is None:
            return pages
        after = page.next


def in_order(facets: Facets) -> list[list[tuple[str, int]]]:
    return [list(counts.items()) for counts in (facets.types, facets.sources, facets.weeks)]


@pytest.mark.slow
async def test_answers_are_those_of_the_rules(corpus_store: Store) -> None:
    store, oracle = corpus_store, Oracle(make_corpus())
    for asked in IOC_QUERIES:
        page = await store.iocs.find(asked)
        expected = oracle.iocs(asked)
        assert values(page) == values(expected), asked
        assert (page.items, page.total) == (expected, len(expected)), asked
        facets = await store.iocs.facets(asked)
        assert in_order(facets) == in_order(oracle.facets(asked)), asked
    for article_query in ARTICLE_QUERIES:
        found = await store.articles.find(article_query)
        assert tuple(article.id for article in found.items) == oracle.articles(article_query), article_query
        assert found.total == len(found.items)


@pytest.mark.promise("search.same-on-both-engines")
async def test_both_engines_give_the_same_answers(both: tuple[Store, Store]) -> None:
    one, two = both
    found = 0
    for asked in IOC_QUERIES:
        page = await one.iocs.find(asked)
        assert await two.iocs.find(asked) == page, asked
        assert in_order(await two.iocs.facets(asked)) == in_order(await one.iocs.facets(asked)), asked
        assert page.total == len(page.items)
        found += bool(page.items)
    assert found > len(IOC_QUERIES) * 0.7
    for article_query in ARTICLE_QUERIES:
        assert await two.articles.find(article_query) == await one.articles.find(article_query), article_query


@pytest.mark.promise("search.same-on-both-engines")
async def test_both_engines_page_alike(both: tuple[Store, Store]) -> None:
    one, two = both
    for asked in (
        query(limit=23),
        query("evil", limit=17),
        query(None, limit=13, source="Agency"),
        query("m*", limit=9),
    ):
        assert await walked(two, asked) == await walked(one, asked)


async def test_both_engines_derive_alike(both: tuple[Store, Store]) -> None:
    one, two = both
    assert await one.totals() == await two.totals()
    span = (hour(-1), hour(2000))
    assert await one.articles.between(*span) == await two.articles.between(*span)
    seen = [seen async for seen in one.articles.seen_between(*span)]
    assert [seen async for seen in two.articles.seen_between(*span)] == seen
    everything = await one.iocs.find(query(limit=1000))
    for ioc in everything.items:
        assert await two.iocs.mentions_of(ioc.id, 50) == await one.iocs.mentions_of(ioc.id, 50)
        assert await two.iocs.related(ioc.id, 50) == await one.iocs.related(ioc.id, 50)
