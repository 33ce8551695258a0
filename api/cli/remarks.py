"""`ioc tag`, `ioc note`, and the same of articles."""

from __future__ import annotations

from collections.abc import Sequence

from api.auditing import on_command_line
from api.cli.running import print_json, print_table, say, with_store
from api.noting import ShownNote, add_note, notes_shown, remove_note
from api.tagging import change_tags
from intel.canonical import readings
from intel.errors import NotFound
from intel.ids import ioc_id
from intel.settings import Settings
from intel.store import Store
from intel.store.tags import TaggedKind
from intel.times import rfc3339


def tag_indicator(value: str, add: Sequence[str], remove: Sequence[str], *, as_json: bool) -> None:
    """Change the tags of a stored indicator, given by its value, and print those that it has."""

    async def change(store: Store, _: Settings) -> tuple[str, ...]:
        return await _changed(store, "ioc", await _stored(store, value), add, remove)

    _tell(with_store(change, reads=True), as_json=as_json)


def tag_article(id: str, add: Sequence[str], remove: Sequence[str], *, as_json: bool) -> None:
    """Change the tags of an article and print those that it has."""

    async def change(store: Store, _: Settings) -> tuple[str, ...]:
        return await _changed(store, "article", id, add, remove)

    _tell(with_store(change, reads=True), as_json=as_json)


async def _changed(
    store: Store, kind: TaggedKind, id: str, add: Sequence[str], remove: Sequence[str]
) -> tuple[str, ...]:
    return await change_tags(store, on_command_line(store), kind, id, add, remove)


def _tell(tags: Sequence[str], *, as_json: bool) -> None:
    if as_json:
        print_json({"tags": tags})
    else:
        say(f"tags: {', '.join(tags)}" if tags else "no tags")


def note_indicator(value: str, add: str, remove: str, *, as_json: bool) -> None:
    """Add or remove a note of a stored indicator, given by its value, and print those that it has."""

    async def change(store: Store, _: Settings) -> list[ShownNote]:
        return await _noted(store, "ioc", await _stored(store, value), add, remove)

    _tell_notes(with_store(change, reads=True), as_json=as_json)


def note_article(id: str, add: str, remove: str, *, as_json: bool) -> None:
    """Add or remove a note of an article and print those that it has."""

    async def change(store: Store, _: Settings) -> list[ShownNote]:
        if await store.articles.get(id) is None:
            raise NotFound("Nothing is stored under this id.")
        return await _noted(store, "article", id, add, remove)

    _tell_notes(with_store(change, reads=True), as_json=as_json)


async def _stored(store: Store, value: str) -> str:
    stored = await store.iocs.get_many([ioc_id(*named) for named in readings(value)])
    if not stored:
        raise NotFound(f"{value} is not known; see: ioc lookup {value}")
    return next(iter(stored))


async def _noted(store: Store, kind: TaggedKind, id: str, add: str, remove: str) -> list[ShownNote]:
    audit = on_command_line(store)
    if remove:
        await remove_note(store, audit, kind, id, remove, None)
    if add:
        await add_note(store, audit, kind, id, "", add)
    return await notes_shown(store, id, None)


def _tell_notes(notes: Sequence[ShownNote], *, as_json: bool) -> None:
    if as_json:
        print_json({"items": [one.members for one in notes]})
    elif notes:
        rows = [(rfc3339(one.note.written_at), one.author, one.note.text, one.note.id) for one in notes]
        print_table("Notes", ("written", "author", "note", "id"), rows)
    else:
        say("no notes")
