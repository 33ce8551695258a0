"""Notes: kept with their record, told in the change feed, gone with the record."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from intel.errors import InvalidQuery
from intel.notes import MOST_NOTES, Note
from intel.query import ChangePosition, ChangeQuery
from intel.store.port import Store
from tests.contract.store.builders import hour, id_of, make_article, publish, the_ioc

EVIL, OTHER = id_of("domain evil.example"), id_of("domain other.example")
ARTICLE = make_article().id


def make_note(name: str = "a", *, on: str = EVIL, at: float = 0, text: str = "Seen in our proxy log.") -> Note:
    return Note(f"note-{name}", "article" if on == ARTICLE else "ioc", on, "account-1", text, hour(at))


async def changed(store: Store, after: ChangePosition) -> tuple[list[str], ChangePosition]:
    page = await store.iocs.changes(ChangeQuery(after=after))
    return [f"{change.event} {change.value}" for change in page.items], page.next


async def test_notes_are_read_back_whole_oldest_first(store: Store, other_store: Store) -> None:
    await publish(store, make_article(), "domain evil.example", "domain other.example")
    odd = make_note("b", at=2, text="<b>ü</b> 分析\n\n\t'\"; --")
    same = make_note("c", at=2)
    on_article = make_note("d", on=ARTICLE)
    for note in (same, odd, make_note(at=1), on_article):
        assert await store.notes.add(note)
    assert await other_store.notes.of([EVIL]) == {EVIL: (make_note(at=1), odd, same)}
    found = await store.notes.of([OTHER, EVIL, ARTICLE, "unknown", EVIL])
    assert {id: len(notes) for id, notes in found.items()} == {EVIL: 3, ARTICLE: 1}
    assert await store.notes.of([]) == {}


async def test_nothing_is_noted_on_what_is_not_stored(store: Store) -> None:
    await publish(store, make_article(), "domain evil.example")
    assert not await store.notes.add(make_note(on=OTHER))
    assert not await store.notes.add(replace(make_note(), kind="article"))
    assert not await store.notes.add(replace(make_note(), record_id="unknown"))
    assert await store.notes.of([OTHER, EVIL, "unknown"]) == {}


async def test_a_note_is_removed_where_it_stands_alone(store: Store, other_store: Store) -> None:
    await publish(store, make_article(), "domain evil.example", "domain other.example")
    await store.notes.add(make_note("a"))
    await store.notes.add(make_note("b", at=1))
    assert not await store.notes.remove("ioc", OTHER, "note-a")
    assert not await store.notes.remove("article", EVIL, "note-a")
    assert not await store.notes.remove("ioc", EVIL, "note-x")
    assert await other_store.notes.remove("ioc", EVIL, "note-a")
    assert not await store.notes.remove("ioc", EVIL, "note-a")
    assert await store.notes.of([EVIL]) == {EVIL: (make_note("b", at=1),)}


async def test_a_record_has_no_more_notes_than_it_may(store: Store) -> None:
    await publish(store, make_article(), "domain evil.example")
    for number in range(MOST_NOTES):
        assert await store.notes.add(make_note(f"{number:02}", on=ARTICLE))
    with pytest.raises(InvalidQuery):
        await store.notes.add(make_note("one-more", on=ARTICLE))
    assert await store.notes.remove("article", ARTICLE, "note-07")
    assert await store.notes.add(make_note("one-more", on=ARTICLE))


@pytest.mark.promise("notes.change")
async def test_an_indicator_whose_notes_change_counts_as_changed(store: Store) -> None:
    await publish(store, make_article(), "domain evil.example", "domain other.example")
    _, followed = await changed(store, ChangePosition())
    before = await the_ioc(store, "domain evil.example")
    await store.notes.add(make_note())
    told, followed = await changed(store, followed)
    assert told == ["changed evil.example"]
    after = await the_ioc(store, "domain evil.example")
    assert (after.changed_at > before.changed_at, after.added_at) == (True, before.added_at)
    await store.notes.add(make_note("b", on=ARTICLE))
    assert (await changed(store, followed))[0] == []
    await store.notes.remove("ioc", EVIL, "note-a")
    assert (await changed(store, followed))[0] == ["changed evil.example"]


@pytest.mark.promise("notes.kept")
async def test_notes_stay_when_articles_are_read_again_and_go_with_the_record(store: Store) -> None:
    article = make_article()
    await publish(store, article, "domain evil.example", "domain other.example")
    for note in (make_note("a"), make_note("b", on=OTHER), make_note("c", on=ARTICLE)):
        assert await store.notes.add(note)
    await publish(store, replace(article, text="Otherwise.", revision=2), "domain evil.example", "domain other.example")
    await publish(store, make_article("second", at=3, source="B"), "domain evil.example")
    await store.reindex(lambda *_: None)
    assert [*await store.notes.of([EVIL, OTHER, ARTICLE])] == [EVIL, OTHER, ARTICLE]
    assert await store.articles.remove(article.id)
    assert [*await store.notes.of([EVIL, OTHER, ARTICLE])] == [EVIL]
    assert await store.articles.remove(make_article("second").id)
    await publish(store, article, "domain evil.example")
    assert await store.notes.of([EVIL, OTHER, ARTICLE]) == {}


async def test_notes_of_many_accounts_at_once_are_all_kept(store: Store, other_store: Store) -> None:
    await publish(store, make_article(at=1), "domain evil.example")
    stores = (store, other_store)
    notes = [replace(make_note(f"{number:02}", at=number), account_id=f"account-{number}") for number in range(12)]
    await asyncio.gather(
        *(stores[number % 2].notes.add(note) for number, note in enumerate(notes)),
        publish(store, make_article(at=1, text="Anew."), "domain evil.example"),
        publish(other_store, make_article("n", at=2), "domain evil.example"),
    )
    assert await store.notes.of([EVIL]) == {EVIL: tuple(notes)}
    assert (await the_ioc(store, "domain evil.example")).sightings == 2
