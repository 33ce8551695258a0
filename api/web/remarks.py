"""The forms by which pages change tags and notes."""

from __future__ import annotations

from api.noting import ShownNote, add_note, notes_shown, remove_note
from api.service import check_may_note, check_may_tag
from api.tagging import change_tags, split_tags
from api.web.visit import Visit
from intel.errors import InvalidQuery
from intel.store.tags import TaggedKind


async def tag_fault(visit: Visit, kind: TaggedKind, id: str) -> str:
    """Do what the form says to a record's tags; return what is wrong with it, or nothing.

    Raises Forbidden where the account may not tag, and NotFound.
    """
    check_may_tag(visit.member.account.role)
    remove = visit.form.get("remove_tag", "")
    try:
        added = [] if remove else split_tags(visit.form.get("tags", ""))
        await change_tags(visit.service.store, visit.audit, kind, id, added, [remove] if remove else [])
    except InvalidQuery as wrong:
        return f"A tag {wrong.message}."
    return ""


async def note_fault(visit: Visit, kind: TaggedKind, id: str) -> str:
    """Do what the form says to a record's notes; return what is wrong with it, or nothing.

    Raises Forbidden where the account may not, and NotFound.
    """
    account, store = visit.member.account, visit.service.store
    check_may_note(account.role)
    try:
        if remove := visit.form.get("remove_note", ""):
            await remove_note(store, visit.audit, kind, id, remove, account)
        else:
            await add_note(store, visit.audit, kind, id, account.id, visit.form.get("note_text", ""))
    except InvalidQuery as wrong:
        return f"A note {wrong.message}."
    return ""


async def notes_for(visit: Visit, id: str) -> list[ShownNote]:
    """Return the notes on a record for who is signed in; none for anybody else."""
    if visit.signed_in is None:
        return []
    return await notes_shown(visit.service.store, id, visit.signed_in.account)
