"""The store as a whole: setting up, totals, rebuilding."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from intel.query import ArticleQuery, IocFilter, IocQuery, parse_search
from intel.records import ArticleTotals, Totals
from intel.store.port import Store
from tests.contract.store.builders import (
    hour,
    listed,
    make_article,
    make_submission,
    publish,
    search,
    the_ioc,
    values,
)
from tests.contract.store.conftest import Open


async def test_setting_up_again_changes_nothing(store: Store, other_store: Store) -> None:
    await publish(store, make_article(), "domain evil.example")
    await other_store.setup()
    await store.setup()
    assert await listed(store) == await listed(other_store) == ["evil.example"]
    await store.ping()


async def test_several_may_set_up_at_once(open_new_store: Open) -> None:
    stores = [open_new_store() for _ in range(6)]
    await asyncio.gather(*(store.setup() for store in stores))
    await publish(stores[0], make_article(), "domain evil.example")
    assert [await listed(store) for store in stores] == [["evil.example"]] * 6
    for store in stores:
        await store.close()


async def test_what_was_written_is_there_after_closing(open_store: Open) -> None:
    first = open_store()
    await first.setup()
    await publish(first, make_article(), "domain evil.example")
    await first.submissions.add(make_submission())
    await first.close()
    second = open_store()
    await second.setup()
    assert await listed(second) == ["evil.example"]
    assert await second.submissions.get("submission-one") == make_submission()
    await second.close()


async def test_closing_twice_is_no_error(open_store: Open) -> None:
    store = open_store()
    await store.setup()
    await store.close()
    await store.close()


async def test_totals_of_an_empty_store(store: Store) -> None:
    assert await store.totals() == Totals(0, 0, 0, None, {})
    assert await store.articles.totals() == ArticleTotals(0, 0, None)


async def test_totals_count_what_is_there(store: Store) -> None:
    await publish(store, make_article("a", at=1, source="A"), "domain evil.example", "ip 192.0.2.1")
    await publish(store, make_article("b", at=3, source="B"), "domain evil.example")
    await publish(store, make_article("c", at=2, source="B"))
    for name in ("one", "two", "three"):
        await store.submissions.add(make_submission(name))
    taken = await store.submissions.claim("submission-two", hour(1), hour(2))
    assert taken is not None
    await store.submissions.update(replace(taken, status="done"))
    assert await store.totals() == Totals(3, 2, 2, hour(3), {"queued": 2, "done": 1})
    assert await store.articles.totals() == ArticleTotals(3, 2, hour(3))


async def test_rebuilding_changes_no_answer(store: Store) -> None:
    for n in range(30):
        indicators = [f"domain d{m}.evil.example" for m in range(n % 5)] + [f"ip 192.0.2.{n}"]
        article = make_article(f"a{n}", at=n, source=f"S{n % 4}", title=f"Report {n}", cluster=f"c{n % 9}")
        await publish(store, article, *indicators)
    asked = [IocQuery(limit=100)] + [IocQuery(parse_search(q), limit=100) for q in ("evil.example", "report 7", "192*")]
    before = [await store.iocs.find(query) for query in asked]
    articles = await store.articles.find(ArticleQuery(parse_search("report"), limit=100))
    told: list[tuple[str, int, int]] = []
    await store.reindex(lambda what, done, total: told.append((what, done, total)))
    assert [await store.iocs.find(query) for query in asked] == before
    assert await store.articles.find(ArticleQuery(parse_search("report"), limit=100)) == articles
    assert told and all(0 <= done <= total for _, done, total in told)
    assert all(done == total for done, total in {what: (done, total) for what, done, total in told}.values())


async def test_rebuilding_loses_no_write_and_no_read(store: Store, other_store: Store) -> None:
    for n in range(20):
        await publish(store, make_article(f"a{n}", at=n), f"domain d{n}.example", "domain common.example")
    rebuilding = asyncio.create_task(store.reindex(lambda what, done, total: None))
    written = 0
    while written < 5 or (not rebuilding.done() and written < 90):
        late = make_article(f"b{written}", at=50 + written)
        await publish(other_store, late, f"ip 192.0.2.{written}", "domain common.example")
        assert len(await search(other_store, "common.example")) == 1
        assert values(await other_store.iocs.find(IocQuery(limit=1, filter=IocFilter(types=("ip",))))) == [
            f"192.0.2.{written}"
        ]
        written += 1
    await rebuilding
    assert (await store.totals()).iocs == 21 + written
    assert (await the_ioc(store, "domain common.example")).sightings == 20 + written
    assert len(await search(store, "192*")) == written
