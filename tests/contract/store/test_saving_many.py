"""Articles saved several at once mean the same as saved one after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

import pytest

from intel.query import ArticleQuery, IocQuery
from intel.records import Sighting
from intel.store.port import Entry, Store
from tests.contract.store.builders import hour, id_of, iocs_in, listed, make_article, the_ioc

NAMES = tuple(f"n{number}" for number in range(18))
VALUES = tuple(f"v{number}.example" for number in range(30))
FAMILIES = ("Emotet", "Lumma", "Remcos")


def make_entry(random: Random, name: str) -> Entry:
    """An article that shares its indicators, its text, its source and an address with others."""
    number = random.randrange(6)
    article = make_article(
        name,
        at=random.randrange(-4, 5),
        source=f"Source {random.randrange(4)}",
        title=f"Title {random.randrange(5)}",
        cluster=f"cluster-{number}",
    )
    if random.random() < 0.2:
        article = replace(article, source_domain="claimed.example")
    values = random.sample(VALUES, random.randrange(12))
    return Entry(
        article,
        [
            Sighting("domain", value, f"Of {value}.", tuple(random.sample(FAMILIES, random.randrange(3))), place)
            for place, value in enumerate(values)
        ],
        [article.url or "", f"band-{number}", f"band-{random.randrange(6)}"],
    )


def portions(entries: Sequence[Entry], size: int) -> Iterator[Sequence[Entry]]:
    return (entries[start : start + size] for start in range(0, len(entries), size))


async def state(store: Store) -> dict[str, object]:
    """Everything that readers see."""
    iocs = await store.iocs.find(IocQuery(limit=100))
    articles = await store.articles.find(ArticleQuery(limit=100))
    bands = (f"band-{number}" for number in range(6))
    return {
        "iocs": iocs,
        "articles": articles,
        "in articles": [await iocs_in(store, article.id) for article in articles.items],
        "addresses": [await store.articles.id_of(address) for address in bands],
        "facets": await store.iocs.facets(IocQuery()),
        "seen": [one async for one in store.articles.seen_between(hour(-100), hour(100))],
    }


@pytest.mark.parametrize("seed", range(2))
async def test_articles_saved_together_are_as_if_saved_one_after_the_other(
    store: Store, sqlite_store: Store, seed: int
) -> None:
    made = Random(seed)
    entries = [make_entry(made, made.choice(NAMES)) for _ in range(24)]
    saved = [one for some in portions(entries, 8) for one in await store.articles.save_many(some)]
    each = [await sqlite_store.articles.save(one.article, one.sightings, one.addresses) for one in entries]
    assert saved == each
    assert await state(store) == await state(sqlite_store)


async def test_one_article_twice_at_once_is_what_it_was_last(store: Store) -> None:
    first, last = make_article(title="Before"), make_article(title="After")
    sightings = [Sighting("domain", value, "") for value in ("a.example", "b.example")]
    saved = await store.articles.save_many([Entry(first, sightings), Entry(last, sightings[1:])])
    assert [one.title for one in saved] == ["Before", "After"]
    assert await store.articles.get(last.id) == saved[1]
    assert await listed(store) == ["b.example"]


async def test_nothing_to_save_is_saved(store: Store) -> None:
    assert await store.articles.save_many([]) == ()


async def test_two_processes_that_save_many_of_the_same_at_once_count_each_once(
    store: Store, other_store: Store
) -> None:
    sighting = [Sighting("domain", "evil.example", "")]
    entries = [Entry(make_article(f"a{n}", at=n, source=f"Source {n % 3}"), sighting) for n in range(12)]
    mirrored = [*reversed(entries)]
    await asyncio.gather(
        *(one.articles.save_many(some) for some in portions(entries, 4) for one in (store, other_store)),
        *(other_store.articles.save_many(some) for some in portions(mirrored, 5)),
    )
    found = await the_ioc(store, "domain evil.example")
    assert (found.sightings, found.sources, found.last_seen) == (12, 3, hour(11))
    assert found.id == id_of("domain evil.example")
    assert (await store.totals()).articles == 12


async def test_what_is_stored_already_is_not_saved_again_but_its_new_addresses_lead_to_it(store: Store) -> None:
    article = make_article()
    sightings = [
        Sighting("domain", value, "", position=place) for place, value in enumerate(("b.example", "a.example"))
    ]
    await store.articles.save_many([Entry(article, sightings, ["https://one.example/"])])
    before, basis = await state(store), await store.articles.basis(hour(-100), hour(100))
    again = await store.articles.save_many([Entry(article, sightings, ["https://two.example/"])])
    assert again == (await store.articles.save(article, sightings, []),)
    assert await state(store) == before
    assert await store.articles.basis(hour(-100), hour(100)) == basis
    assert await store.articles.id_of("https://two.example/") == article.id
    moved = [replace(one, position=1 - one.position) for one in sightings]
    await store.articles.save_many([Entry(article, moved)])
    assert [one.value for one in await store.articles.sightings_of(article.id)] == ["a.example", "b.example"]
