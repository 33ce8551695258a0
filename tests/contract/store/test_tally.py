"""A week is told as counting all of its sightings gives, whatever was saved, changed and removed.

Of the engines SQLite keeps numbers as articles are written.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from random import Random

import pytest

from intel.records import Article, Sighting
from intel.store.port import Store
from intel.store.sqlite import seen
from intel.store.subjects import SUBJECTS
from intel.store.tally import Indicator, Tally, count, untold
from intel.weekly import week_start
from tests.contract.store.builders import hour, make_article, publish
from tests.contract.store.corpus import Saved, make_corpus

MONDAYS = tuple(week_start(id) for id in ("2026-W45", "2026-W46", "2026-W47", "2026-W48", "2026-W49"))
WATCHED: tuple[Indicator, ...] = (
    ("domain", "evil.example"), ("malware", "Emotet"), ("cve", "CVE-2024-1003"), ("ip", "192.0.2.99"),
)  # fmt: skip
WEEK = timedelta(days=7)


async def counted(store: Store, monday: datetime) -> Tally:
    """The tally of a week, from its sightings."""
    span = monday, monday + WEEK
    subjects_in: dict[str, set[Indicator]] = defaultdict(set)
    async for row in store.articles.seen_between(*span):
        if row.type in SUBJECTS:
            subjects_in[row.article_id].add((row.type, row.value))
    named = {id: tuple(sorted(subjects)) for id, subjects in subjects_in.items()}
    articles, sightings = await store.articles.between(*span), store.articles.seen_between(*span)
    return await count(monday, articles, named, sightings, WATCHED, untold, 0)


async def hold(store: Store) -> int:
    """Assert that every week is told as it is counted; return how many indicators the weeks have."""
    total = 0
    for monday in MONDAYS:
        told, expected = await store.articles.tally(monday, WATCHED), await counted(store, monday)
        new_in = {id: new for id, new in told.new_in.items() if new}
        assert replace(told, new_in={}) == replace(expected, new_in={}), monday
        assert new_in == {id: new for id, new in expected.new_in.items() if new}, monday
        total += sum(told.iocs.values())
    return total


def spread(saves: Sequence[Saved]) -> list[Saved]:
    """These saves over three weeks; some of them lie exactly on their borders."""
    random, moved = Random(5), []
    for saved in saves:
        moment = hour(24 * random.choice((-7, -5, 0, 3, 7, 9)) + random.random() * 20)
        if random.random() < 0.1:
            moment = random.choice(MONDAYS[1:4]) - timedelta(milliseconds=random.choice((0, 1)))
        moved.append(replace(saved, article=replace(saved.article, published_at=moment)))
    return moved


@pytest.mark.slow
@pytest.mark.promise("weekly.counts")
@pytest.mark.parametrize("many", [200, 2])
async def test_a_week_is_told_as_its_sightings_count(
    sqlite_store: Store, monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    store = sqlite_store
    monkeypatch.setattr(seen, "_MANY", many)
    random, there = Random(many), dict[str, Article]()
    assert await hold(store) == 0
    for number, saved in enumerate(spread(make_corpus(48)), start=1):
        there[saved.article.id] = await store.articles.save(saved.article, saved.sightings, [])
        if number % 7 == 0:
            await store.articles.remove(there.pop(random.choice([*there])).id)
        if number % 5 == 0:
            changed = there[random.choice([*there])]
            moved = replace(changed, published_at=hour(24 * random.choice((-8, 0, 8))), cluster_id="shared")
            there[moved.id] = await store.articles.save(moved, await store.articles.sightings_of(moved.id), [])
        if number % 16 == 0:
            assert await hold(store) > 0
    await store.reindex(lambda what, done, total: None)
    await hold(store)
    for article in there.values():
        await store.articles.remove(article.id)
    assert await hold(store) == 0


async def test_an_article_saved_before_all_others_makes_its_indicators_old(store: Store) -> None:
    for n, at in enumerate((1, 24 * 7, 24 * 14)):
        named = Sighting("cve", "CVE-2026-1111", "", ("Emotet",), 2)
        await publish(store, make_article(f"a{n}", at=at), "domain both.example", f"domain d{n}.example", named)
    await hold(store)
    assert (await store.articles.tally(MONDAYS[2])).new_iocs == {"domain": 2, "cve": 1}
    early = await publish(store, make_article("early", at=-24 * 7), "domain both.example", "cve CVE-2026-1111")
    await hold(store)
    assert {type: n for type, n in (await store.articles.tally(MONDAYS[2])).new_iocs.items() if n} == {"domain": 1}
    await store.articles.remove(early.id)
    await hold(store)
