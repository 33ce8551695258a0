"""Notes on indicators and articles: who may, and how they are shown, alike in REST, on pages and in commands."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

from api.auditing import Action, Auditing
from intel.errors import Forbidden, NotFound
from intel.notes import Note, read_text
from intel.records import Account
from intel.store import Store
from intel.tags import TaggedKind
from intel.times import rfc3339

_ACTIONS: dict[TaggedKind, Action] = {"ioc": "ioc.noted", "article": "article.noted"}
_COMMAND_LINE: Final = "command line"
_GONE: Final = "removed account"


@dataclass(frozen=True, slots=True)
class ShownNote:
    """A note as one reader sees it; `author` is what stands before the @ of the account's address."""

    note: Note
    author: str
    own: bool
    removable: bool

    @property
    def members(self) -> dict[str, Any]:
        """Return the members of an answer."""
        said = {"id": self.note.id, "text": self.note.text, "author": self.author, "own": self.own}
        return said | {"written_at": rfc3339(self.note.written_at)}


async def add_note(store: Store, audit: Auditing, kind: TaggedKind, record_id: str, account_id: str, text: str) -> Note:
    """Store a note of an account (of none: the command line) and note that. Raises InvalidQuery and NotFound."""
    note = Note(str(uuid4()), kind, record_id, account_id, read_text(text), audit.clock())
    if not await store.notes.add(note):
        raise NotFound("Nothing is stored under this id.")
    await audit.note(_ACTIONS[kind], record_id, f"+{note.id}")
    return note


async def remove_note(
    store: Store, audit: Auditing, kind: TaggedKind, record_id: str, id: str, reader: Account | None
) -> None:
    """Remove a note, and note that; `reader` is None on the command line. Raises Forbidden and NotFound."""
    found = (await store.notes.of([record_id])).get(record_id, ())
    note = next((one for one in found if (one.id, one.kind) == (id, kind)), None)
    if note is not None and not _may_remove(note, reader):
        raise Forbidden("This note is another account's; an administrator can remove it.")
    if note is None or not await store.notes.remove(kind, record_id, id):
        raise NotFound("There is no such note here.")
    await audit.note(_ACTIONS[kind], record_id, f"-{id}")


async def notes_shown(store: Store, record_id: str, reader: Account | None) -> list[ShownNote]:
    """Return the notes on a record, oldest first, as a reader sees them."""
    notes = (await store.notes.of([record_id])).get(record_id, ())
    names = await _authors(store, {note.account_id for note in notes})
    return [
        ShownNote(
            note,
            names[note.account_id],
            own=reader is not None and note.account_id == reader.id,
            removable=_may_remove(note, reader),
        )
        for note in notes
    ]


def author_name(account: Account) -> str:
    """Return by which name an account signs: what stands before the @ of its address."""
    return account.email.partition("@")[0]


def exported_notes(notes: Iterable[Note]) -> list[dict[str, str]]:
    """Return notes as records in exports hold them: what was written and when, not by whom."""
    return [{"text": note.text, "written_at": rfc3339(note.written_at)} for note in notes]


def _may_remove(note: Note, reader: Account | None) -> bool:
    if reader is None or reader.role == "administrator":
        return True
    return reader.role != "reader" and note.account_id == reader.id


async def _authors(store: Store, account_ids: Iterable[str]) -> dict[str, str]:
    names = {"": _COMMAND_LINE}
    for id in account_ids:
        if id:
            account = await store.accounts.get(id)
            names[id] = author_name(account) if account else _GONE
    return names
