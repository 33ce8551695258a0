"""What an empty store takes in is marked by the warning lists as it is saved, and needs no second look."""

from __future__ import annotations

from ingest.warned import begin_marked, keep_marked, marked
from intel.query import IocFilter, IocQuery
from intel.store import Store
from tests.contract.store.builders import make_article, seen

UNWARNED = IocQuery(filter=IocFilter(exclude=("warned",)))


async def looked_at(store: Store) -> int:
    """Marks what has to be marked anew, and returns how many indicators that made it look at."""
    counts: list[int] = []
    await keep_marked(store, counts.append)
    return sum(counts)


async def unwarned(store: Store) -> set[str]:
    return {ioc.value for ioc in (await store.iocs.find(UNWARNED)).items}


async def test_what_comes_into_an_empty_store_is_not_looked_at_again(stores: tuple[Store, Store]) -> None:
    store, other = stores
    await begin_marked(store)
    article = make_article("one")
    await store.articles.save(article, await marked(store, seen("domain github.com", "domain loader.top")), ["a"])
    assert await looked_at(other) == 0
    assert await unwarned(other) == {"loader.top"}


async def test_a_store_with_indicators_is_not_taken_for_marked(stores: tuple[Store, Store]) -> None:
    store, other = stores
    await store.articles.save(make_article("one"), seen("domain github.com", "domain loader.top"), ["a"])
    await begin_marked(other)
    assert await looked_at(store) > 0
    assert await unwarned(store) == {"loader.top"}
    await begin_marked(other)
    assert await looked_at(store) == 0
