"""Saved searches and deliveries are kept whole, changed by whoever read them last, and worked on by one at a time."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from intel.errors import SearchLimitReached
from intel.query import AddedPosition
from intel.saved_searches import Delivery, SavedSearch
from intel.store.port import Store
from tests.contract.store.builders import hour, id_of, make_article, publish


def make_search(id: str = "search-1", account: str = "account-1", *, at: float = 0) -> SavedSearch:
    """A search without a receiver, saved so many hours after Monday morning."""
    moment = hour(at)
    return SavedSearch(id, account, "loaders", moment, "whsec_AAAA", "token", moment, moment, moment)


def make_delivery(id: str = "a", search: str = "search-1", *, due: float = 0) -> Delivery:
    return Delivery(id, search, "account-1", "webhook", '{"a": "ü"}', "pending", hour(0), hour(0), hour(due))


async def test_a_search_is_read_back_whole(store: Store, other_store: Store) -> None:
    search = replace(
        make_search(),
        name="Ümlaut \N{GRINNING FACE} <b>",
        q='"evil loader" *',
        filters={"type": ["domain", "url"], "min_sources": 2, "since": "2026-11-01"},
        webhook_url="https://receiver.example/hook?a=b",
        email="soc@example.org",
        every="week",
        enabled=False,
        webhook_number=5,
        mail_number=7,
        outbox={"channel": "webhook", "batches": [{"id": "x", "iocs": ["a", "b"]}]},
        lease_ends_at=hour(1.5),
        first_failure_at=hour(2),
        switched_off_at=hour(3),
    )
    await store.searches.add(search, 5)
    assert await other_store.searches.get(search.id) == search
    assert await other_store.searches.of("account-1") == (search,)
    assert await store.searches.get("unknown") is None


async def test_an_account_keeps_so_many_searches(store: Store) -> None:
    searches = [make_search(id, at=at) for id, at in (("b", 1), ("c", 0), ("a", 1))]
    for search in searches:
        await store.searches.add(search, 3)
    with pytest.raises(SearchLimitReached):
        await store.searches.add(make_search("d"), 3)
    await store.searches.add(make_search("e", "account-2"), 3)
    assert await store.searches.of("account-1") == (searches[1], searches[2], searches[0])
    assert await store.searches.remove("a")
    assert not await store.searches.remove("a")
    await store.searches.add(make_search("d"), 3)


async def test_of_two_who_change_a_search_one_wins(store: Store, other_store: Store) -> None:
    await store.searches.add(make_search(), 3)
    changes = [replace(make_search(), lease_ends_at=hour(n)) for n in range(1, 5)]
    written = await asyncio.gather(*(each.searches.update(c) for each in (store, other_store) for c in changes))
    (won,) = [one for one in written if one is not None]
    assert await store.searches.get(won.id) == won and won.revision == 1
    assert await store.searches.remove(won.id)
    assert await store.searches.update(won) is None
    assert await store.searches.get(won.id) is None


async def test_searches_with_something_to_do_are_found(store: Store) -> None:
    plain = replace(make_search("plain"), webhook_number=0)
    hook = replace(make_search("hook"), webhook_url="https://a.example/", webhook_number=4)
    mail = replace(make_search("mail"), email="a@example.org", mail_number=4, mail_due_at=hour(5))
    box = replace(make_search("box"), webhook_url="https://a.example/", webhook_number=9, outbox={"batches": []})
    off = replace(hook, id="off", enabled=False)
    taken = replace(hook, id="taken", lease_ends_at=hour(2))
    assert not await store.searches.any_told()
    for search in (plain, hook, mail, box, off, taken):
        await store.searches.add(search, 9)

    async def behind(number: int, at: float) -> list[str]:
        return [one.id for one in await store.searches.behind(number, hour(at), 9)]

    assert await store.searches.any_told()
    assert await behind(4, 9) == ["box"]
    assert await behind(5, 1) == ["box", "hook"]
    assert await behind(5, 5) == ["box", "hook", "mail", "taken"]
    assert [one.id for one in await store.searches.behind(5, hour(5), 2)] == ["box", "hook"]


async def test_deliveries_are_kept_newest_first_and_go_with_their_search(store: Store, other_store: Store) -> None:
    await store.searches.add(make_search(), 3)
    deliveries = [
        replace(make_delivery("a"), status="delivered", last_status=204, finished_at=hour(1)),
        replace(make_delivery("b"), last_error="No connection.", attempts=3),
        make_delivery("c"),
        make_delivery("d", "search-2"),
    ]
    for delivery in deliveries:
        await store.deliveries.put(delivery)
    await other_store.deliveries.put(replace(make_delivery("c"), body="other"))
    assert await other_store.deliveries.get("a") == deliveries[0]
    assert list(await other_store.deliveries.of("search-1", 9)) == deliveries[2::-1]
    assert [one.id for one in await store.deliveries.of("search-1", 1, "c")] == ["b"]
    assert await store.deliveries.count("search-1") == (3, 2)
    await store.deliveries.remove("b")
    assert await store.deliveries.count("search-1") == (2, 1)
    assert await store.searches.remove("search-1")
    assert await store.deliveries.count("search-1") == (0, 0)
    assert await store.deliveries.get("d") == deliveries[3]


async def test_a_delivery_is_claimed_once_and_written_back_by_its_last_claim(store: Store, other_store: Store) -> None:
    await store.deliveries.put(make_delivery(due=1))
    assert await store.deliveries.claim("a", hour(0.9), hour(2)) is None
    claims = await asyncio.gather(*(each.deliveries.claim("a", hour(1), hour(2)) for each in (store, other_store) * 3))
    (claimed,) = [one for one in claims if one is not None]
    assert claimed == replace(make_delivery(), attempts=1, due_at=hour(2))
    again = await other_store.deliveries.claim("a", hour(2), hour(3))
    assert again is not None and again.attempts == 2
    assert not await store.deliveries.update(replace(claimed, status="delivered"))
    assert await store.deliveries.update(replace(again, status="delivered", last_status=200))
    assert await store.deliveries.claim("a", hour(9), hour(10)) is None
    assert not await store.deliveries.update(make_delivery("unknown"))


async def test_the_longest_due_delivery_of_each_search_is_named(store: Store) -> None:
    for id, search, due in (("a", "x", 3), ("b", "x", 2), ("c", "y", 1), ("d", "y", 1), ("e", "z", 9), ("f", "u", 2)):
        await store.deliveries.put(make_delivery(id, search, due=due))
    await store.deliveries.put(replace(make_delivery("g", "w"), status="failed"))
    assert [one.id for one in await store.deliveries.due(hour(4), 9)] == ["c", "b", "f"]
    assert [one.id for one in await store.deliveries.due(hour(4), 2)] == ["c", "b"]


async def all_added(store: Store, after: AddedPosition, at_once: int = 2) -> tuple[list[str], AddedPosition]:
    """The ids that were added after a place, read page by page, and the place after them."""
    ids: list[str] = []
    while True:
        page = await store.iocs.added(after, at_once)
        ids += page.ids
        after = page.next
        if not page.more:
            return ids, after


async def test_each_addition_is_told_once_in_order_whatever_changes_meanwhile(store: Store, other_store: Store) -> None:
    await publish(store, make_article("before"), "domain old.example", "domain gone.example")
    start = await store.iocs.newest()
    assert await all_added(store, start) == ([], start)
    await publish(store, make_article("one", at=1), "domain a.example", "domain b.example", "domain c.example")
    await other_store.iocs.newest()
    first = await store.iocs.added(start, 2)
    assert first.more
    await publish(other_store, make_article("two", at=2), "domain a.example", "domain c.example", "domain old.example")
    await publish(other_store, make_article("three", at=3), "domain d.example")
    await store.articles.remove(make_article("before").id)
    await store.iocs.newest()
    rest, last = await all_added(store, first.next)
    told = [*first.ids, *rest]
    assert sorted(told[:3]) == sorted(id_of(f"domain {name}.example") for name in "abc")
    assert told[3:] == [id_of("domain d.example")]
    assert await all_added(other_store, last) == ([], last)
    assert (await store.iocs.newest()).number == last.number
    await publish(store, make_article("four", at=4), "domain gone.example")
    await store.iocs.newest()
    assert (await all_added(store, last))[0] == [id_of("domain gone.example")]
