"""Tagging: who may, and what is written down of it, alike in REST, on pages and on the command line."""

from __future__ import annotations

from collections.abc import Iterable

from api.auditing import Action, Auditing
from intel.errors import NotFound
from intel.store import Store
from intel.store.tags import TaggedKind
from intel.tags import read_tags

_ACTIONS: dict[TaggedKind, Action] = {"ioc": "ioc.tagged", "article": "article.tagged"}


async def change_tags(
    store: Store, audit: Auditing, kind: TaggedKind, id: str, add: Iterable[str], remove: Iterable[str]
) -> tuple[str, ...]:
    """Add and remove tags of a stored record, and note that; return its tags. Raises InvalidQuery and NotFound."""
    added, removed = read_tags(add, "add"), read_tags(remove, "remove")
    tags = await store.tags.change(kind, id, added, removed)
    if tags is None:
        raise NotFound("Nothing is stored under this id.")
    if added or removed:
        await audit.note(_ACTIONS[kind], id, " ".join([*(f"+{one}" for one in added), *(f"-{one}" for one in removed)]))
    return tags


def split_tags(text: str) -> list[str]:
    """Return the tags that a person wrote into one field, with blanks or commas between them."""
    return text.replace(",", " ").split()
