"""What filters let through, and in which order, checked against the rules written out plainly (`oracle`)."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from intel.ids import ioc_id
from intel.names import malware_family, malware_names
from intel.query import EXCLUSIONS, ChangeQuery, IocFilter, IocQuery
from intel.records import IOC_TYPES, Ioc, Sighting, Vote
from intel.store import Store
from intel.tlp import LEVELS
from tests.contract.store.builders import hour, id_of, listed, make_article, publish, query, values
from tests.contract.store.corpus import MALWARE, SOURCES, Saved, make_corpus
from tests.contract.store.oracle import Oracle

NOW = hour(24 * 120)
SORTS = ("last_seen", "first_seen", "sources", None)
TAGS = ("c2", "campaign:kestrel", "seen=twice")
TEXTS = (None, None, "evil", "l*", "198.51.0.0/16")

pytestmark = pytest.mark.timeout(900)


def marked(saved: Saved) -> Saved:
    """The same save, with every third indicator on a warning list and a TLP of every other article."""
    tlp = (None, None, None, *LEVELS)[int(saved.article.id[:4], 16) % 6]
    sightings = tuple(replace(one, warned=_is_warned(one)) for one in saved.sightings)
    return replace(saved, article=replace(saved.article, tlp=tlp), sightings=sightings)


def _is_warned(one: Sighting) -> bool:
    return int(ioc_id(one.type, one.value)[:4], 16) % 3 == 0


def asked_at_random(random: Random) -> IocQuery:
    """A list or search with some filters."""
    choices: dict[str, Any] = {
        "types": tuple(random.sample(IOC_TYPES, random.choice((1, 2, 3)))),
        "sources": tuple(random.sample(SOURCES, random.choice((1, 2)))),
        "malware": tuple(name.upper() for name in random.sample(MALWARE, random.choice((1, 2)))),
        "since": hour(random.choice((5, 10))),
        "until": hour(random.choice((15, 20.5))),
        "statuses": tuple(random.sample(("active", "ageing", "expired"), random.choice((1, 2)))),
        "exclude": tuple(random.sample(EXCLUSIONS, random.choice((1, 2, 3)))),
        "tags": tuple(random.sample(TAGS, random.choice((1, 2)))),
        "tlps": tuple(random.sample(LEVELS, random.choice((1, 2)))),
        "min_sources": random.choice((2, 3)),
        "now": NOW,
    }
    names = random.sample(sorted(choices), random.choice((1, 2, 3, 4)))
    only = {name: choices[name] for name in {*names, "now"}}
    return query(random.choice(TEXTS), sort=random.choice(SORTS), limit=random.choice((7, 1000)), **only)


async def walked(store: Store, asked: IocQuery) -> tuple[list[Ioc], int | None]:
    """Every record from page to page, and the total that the first page tells."""
    found: list[Ioc] = []
    page = await store.iocs.find(asked)
    total = page.total
    found += page.items
    while page.next is not None:
        page = await store.iocs.find(replace(asked, after=page.next))
        assert page.total is None
        found += page.items
    return found, total


@pytest.mark.slow
@pytest.mark.promise("filters.alike", "filters.sorted")
async def test_filters_let_through_what_the_rules_say_in_order(store: Store) -> None:
    saves = [marked(saved) for saved in make_corpus()]
    for saved in saves:
        await store.articles.save(saved.article, saved.sightings, [])
    voted = sorted({ioc_id(one.type, one.value) for saved in saves for one in saved.sightings})[::7]
    for id in voted:
        await store.votes.put(Vote(id, "an-account", "", hour(1)))
    tagged = {id: TAGS[number % 3 :] for number, id in enumerate(voted[::2])}
    for id, tags in tagged.items():
        assert await store.tags.change("ioc", id, tags) == tags
    oracle, random, found = Oracle(saves, voted, tagged), Random(17), 0
    for _ in range(100):
        asked = asked_at_random(random)
        expected = oracle.iocs(asked)
        items, total = await walked(store, asked)
        assert [ioc.value for ioc in items] == [ioc.value for ioc in expected], asked
        assert total == len(expected), asked
        facets, right = await store.iocs.facets(asked), oracle.facets(asked)
        assert (facets.types, facets.weeks, facets.sources) == (right.types, right.weeks, right.sources), asked
        found += bool(expected)
    assert found > 40


async def test_a_list_by_time_of_storing_begins_with_the_newest(store: Store) -> None:
    for number, name in enumerate(("first", "second", "third")):
        await publish(store, make_article(name, at=9 - number, title=f"Evil {name}"), f"domain {name}.example")
    added = ["third.example", "second.example", "first.example"]
    assert await listed(store, sort="added_at") == added
    assert values((await walked(store, query("evil", sort="added_at", limit=2)))[0]) == added
    assert values((await walked(store, query(sort="added_at", type="domain", limit=1)))[0]) == added


async def test_a_vote_withdrawn_and_malware_no_more_named_count_no_more(store: Store) -> None:
    article = make_article("a")
    await publish(store, article, Sighting("domain", "a.example", "", ("Emotet",)), "domain b.example")
    await store.votes.put(Vote(id_of("domain a.example"), "an-account", "", hour(1)))
    assert await listed(store, exclude=("false_positive",)) == ["b.example"]
    assert await store.votes.withdraw(id_of("domain a.example"), "an-account")
    assert len(await listed(store, exclude=("false_positive",))) == 2
    assert await listed(store, malware=("eMotet",)) == ["a.example"]
    await publish(store, article, "domain a.example", "domain b.example")
    assert await listed(store, malware=("Emotet",)) == []


async def test_any_name_of_a_family_lets_through_what_was_named_with_its_other_names(store: Store) -> None:
    named = (("a.example", "Emotet"), ("b.example", "Geodo"), ("c.example", "QakBot"))
    sightings = [Sighting("domain", host, "", (name,)) for host, name in named]
    await publish(store, make_article("a", title="Quiet"), *sightings, "malware Geodo", "malware Emotet")
    for name in ("emotet", "GEODO", "Feodo Version C"):
        assert sorted(await listed(store, types=("domain",), malware=(name,))) == ["a.example", "b.example"]
        found = await store.iocs.find(query("example", malware=(name,)))
        assert (sorted(values(found)), found.total) == (["a.example", "b.example"], 2)
        changed = await store.iocs.changes(ChangeQuery(filter=IocFilter(types=("domain",), malware=(name,))))
        assert sorted(change.value for change in changed.items) == ["a.example", "b.example"]
    both = await listed(store, types=("domain",), malware=("Qbot", "Geodo"))
    assert sorted(both) == ["a.example", "b.example", "c.example"]


async def test_fifty_families_with_all_their_names_may_be_asked_for(store: Store) -> None:
    families = sorted(malware_names().others, key=lambda name: len(malware_family(name)))[-50:]
    near = [Sighting("domain", f"{n}.example", "", (name,)) for n, name in enumerate(families)]
    await publish(store, make_article("a", title="Quiet"), *near)
    for text in (None, "example"):
        page = await store.iocs.find(query(text, limit=7, malware=tuple(families)))
        assert (len(page.items), page.total) == (7, 50)


async def test_a_search_for_any_name_of_a_family_finds_the_records_of_all_first(store: Store) -> None:
    near = Sighting("domain", "a.example", "", ("Geodo",))
    await publish(store, make_article("a", title="Emotet again", at=5), "domain b.example")
    await publish(store, make_article("b", title="Quiet", at=1), "malware Geodo", "malware Emotet", near)
    for name in ("emotet", "Geodo", "Feodo Version C"):
        found = await store.iocs.find(query(name))
        assert set(values(found)[:2]) == {"Geodo", "Emotet"} and found.total == 4
    assert (await store.iocs.find(query("XLoader"))).total == 0


async def test_changes_are_told_of_what_the_filter_lets_through(store: Store) -> None:
    article = make_article("a", source="Blog")
    await publish(store, article, Sighting("domain", "a.example", "", ("Emotet",), warned=True), "domain b.example")
    for only, expected in (
        (IocFilter(malware=("emotet",)), ["a.example"]),
        (IocFilter(exclude=("warned",)), ["b.example"]),
        (IocFilter(sources=("Blog", "Other"), min_sources=2), []),
        (IocFilter(statuses=("ageing",), now=NOW), ["a.example", "b.example"]),
    ):
        page = await store.iocs.changes(ChangeQuery(filter=only))
        assert sorted(change.value for change in page.items) == expected


@pytest.mark.slow
@pytest.mark.promise("export.one-state")
async def test_a_stream_holds_all_that_a_list_does_as_it_was_at_its_beginning(store: Store) -> None:
    for saved in make_corpus():
        await store.articles.save(saved.article, saved.sightings, [])
    random = Random(5)
    for _ in range(25):
        asked = replace(asked_at_random(random), limit=1_000)
        page = await store.iocs.find(asked)
        assert tuple([ioc async for some in store.iocs.stream(asked) for ioc in some]) == page.items, asked
    before = (await store.iocs.find(query(limit=1_000))).items
    stream = store.iocs.stream(query())
    streamed = list(await anext(stream))
    await publish(store, make_article("later", at=2_000), "domain later.example")
    assert (*streamed, *[ioc async for some in stream for ioc in some]) == before
    assert (await store.iocs.find(query(limit=1))).items[0].value == "later.example"
