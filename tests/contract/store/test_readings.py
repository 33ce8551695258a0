"""Every revision of an article stays readable as it was."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from intel.query import CandidatePage, CandidateQuery
from intel.records import Reading
from intel.store.port import Store
from tests.contract.store.builders import hour, make_article, publish


def make_reading(revision: int = 1, article_id: str = "article-1") -> Reading:
    return Reading(
        article_id=article_id,
        revision=revision,
        fetched_at=hour(revision),
        title=f"Report ü <b>\u202e, as of {revision}",
        iocs=(("domain", "evil.example"), ("url", "http://evil.example/ü?q='\"\\"), ("ip", f"192.0.2.{revision}")),
        text="They used evil[.]example.\n\n分析 \U0001f600 \x07 </script>",
        candidates=(
            {"type": "domain", "value": "evil.example", "kept": True, "score": 0.5, "at": [12, 27], "why": None},
            {"raw": "news[.]example", "kept": False, "why": {"rule": "own-host", "names": []}, "$ne": {"a.b": 1}},
        ),
    )


def outline(reading: Reading) -> Reading:
    return replace(reading, text=None, candidates=None)


async def test_a_reading_is_read_back_whole(store: Store, other_store: Store) -> None:
    await store.readings.put(make_reading())
    assert await other_store.readings.get("article-1", 1) == make_reading()
    assert await store.readings.get("article-1", 2) is None
    assert await store.readings.get("article-2", 1) is None
    assert await store.readings.of("article-2") == ()


async def test_readings_are_kept_several_at_once(store: Store, other_store: Store) -> None:
    await store.readings.put(replace(make_reading(2), title="An older one"))
    readings = [make_reading(1), make_reading(2), make_reading(1, "article-2")]
    await store.readings.put_many(readings)
    kept = [await other_store.readings.get(one.article_id, one.revision) for one in readings]
    assert kept == readings
    await store.readings.put_many([])


async def test_what_was_weighed_keeps_its_order_and_its_kinds(store: Store) -> None:
    await store.readings.put(make_reading())
    found = await store.readings.get("article-1", 1)
    assert found is not None and found.candidates is not None
    assert isinstance(found.iocs, tuple) and all(isinstance(one, tuple) for one in found.iocs)
    assert isinstance(found.candidates, tuple)
    assert [list(candidate) for candidate in found.candidates] == [list(c) for c in make_reading().candidates or ()]
    assert [type(value) for value in found.candidates[0].values()] == [str, str, bool, float, list, type(None)]


async def test_what_was_weighed_comes_page_by_page(store: Store, other_store: Store) -> None:
    candidates = tuple(
        {
            "rule": f"r{n % 7}",
            "type": ("domain", "ip")[n % 2],
            "value": f'{n} ü ], \\" 分',
            "kept": n % 3 > 0,
            "names": [{"a": n}],
        }
        for n in range(500)
    )
    await store.readings.put(replace(make_reading(), candidates=candidates))
    everything = [*enumerate(candidates)]

    async def page(**asked: Any) -> CandidatePage:
        found = await other_store.readings.weighed("article-1", 1, CandidateQuery(**asked))
        assert found is not None
        return found

    assert await page(limit=3) == CandidatePage(tuple(everything[:3]), 500, True, 333, 500)
    assert (await page(limit=500)).items == tuple(everything)
    assert await page(limit=500, after=397) == CandidatePage(tuple(everything[398:]), 500, False, 333, 500)
    assert (await page(limit=2, skip=250)).items == tuple(everything[250:252])
    dropped = [one for one in everything if not one[1]["kept"] and one[1]["type"] == "ip"]
    assert await page(limit=9, kept=False, type="ip") == CandidatePage(tuple(dropped[:9]), len(dropped), True, 333, 500)
    assert (await page(limit=9, kept=False, type="ip", after=dropped[8][0])).items == tuple(dropped[9:18])
    ruled = [one for one in everything if one[1]["rule"] == "r3" and one[1]["kept"]]
    assert await page(limit=500, kept=True, rule="r3") == CandidatePage(tuple(ruled), len(ruled), False, 333, 500)
    assert await other_store.readings.weighed("article-1", 2, CandidateQuery()) is None
    await store.readings.put(replace(make_reading(), candidates=()))
    assert await page() == CandidatePage((), 0, False, 0, 0)


async def test_a_reading_may_hold_nothing(store: Store) -> None:
    empty = replace(make_reading(), title="", iocs=(), text="", candidates=())
    await store.readings.put(empty)
    assert await store.readings.get("article-1", 1) == empty
    assert await store.readings.of("article-1") == (outline(empty),)


async def test_a_reading_is_replaced(store: Store, other_store: Store) -> None:
    await store.readings.put(make_reading())
    other = replace(make_reading(), title="Other", iocs=(), text="other", candidates=({"n": 1},), fetched_at=hour(9))
    await other_store.readings.put(other)
    assert await store.readings.get("article-1", 1) == other
    assert await store.readings.of("article-1") == (outline(other),)


async def test_the_outlines_of_an_article_come_newest_revision_first(store: Store, other_store: Store) -> None:
    for revision in (2, 11, 1, 10, 9):
        await store.readings.put(replace(make_reading(revision), fetched_at=hour(-revision)))
    await store.readings.put(make_reading(99, "article-10"))
    await store.readings.put(make_reading(98, "article"))
    expected = [outline(replace(make_reading(n), fetched_at=hour(-n))) for n in (11, 10, 9, 2, 1)]
    assert await other_store.readings.of("article-1") == tuple(expected)


async def test_there_are_outlines_of_the_newest_hundred_revisions(store: Store) -> None:
    await asyncio.gather(*(store.readings.put(replace(make_reading(n), iocs=())) for n in range(1, 104)))
    assert [reading.revision for reading in await store.readings.of("article-1")] == list(range(103, 3, -1))
    assert await store.readings.get("article-1", 1) == replace(make_reading(1), iocs=())


async def test_a_large_reading_is_kept_whole(store: Store) -> None:
    large = replace(
        make_reading(),
        iocs=tuple(("domain", f"d{n}.example") for n in range(20_000)),
        text="Ein längerer Satz über evil[.]example. " * 40_000,
        candidates=tuple({"type": "domain", "value": f"d{n}.example", "kept": n % 2 == 0} for n in range(30_000)),
    )
    await store.readings.put(large)
    assert await store.readings.get("article-1", 1) == large
    assert await store.readings.of("article-1") == (outline(large),)


async def test_of_many_writers_of_a_revision_one_stands_whole(store: Store, other_store: Store) -> None:
    stores = (store, other_store)
    versions = [
        replace(make_reading(), title=f"T{n}", iocs=(("ip", f"192.0.2.{n}"),), text=f"text {n}", candidates=({"n": n},))
        for n in range(20)
    ]
    await asyncio.gather(*(stores[n % 2].readings.put(version) for n, version in enumerate(versions)))
    assert await store.readings.get("article-1", 1) in versions
    assert len(await store.readings.of("article-1")) == 1


async def test_readings_need_no_article_and_change_none(store: Store) -> None:
    article = await publish(store, make_article(), "domain evil.example")
    await store.readings.put(make_reading(7, article.id))
    await store.readings.put(make_reading(1, "nobody"))
    assert await store.articles.get(article.id) == article
    assert (await store.totals()).articles == 1
    await publish(store, make_article(title="Changed"))
    assert await store.readings.get(article.id, 7) == make_reading(7, article.id)
