"""The collections: all that is stored, each type of indicator by itself, and an account's saved searches."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from intel.errors import NotFound
from intel.indicator_types import INDICATOR_TYPES, IndicatorType
from intel.saved_searches import SavedSearch
from intel.store import Store

STIX_MEDIA_TYPE = "application/stix+json;version=2.1"


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection: what filters (as a request gives them) and the words of `q` let through."""

    alias: str
    title: str
    description: str
    filters: Mapping[str, Any]
    q: str = ""

    @property
    def id(self) -> str:
        """The same on every installation; in the form of a random UUID, as TAXII asks for."""
        return str(uuid.UUID(bytes=hashlib.sha256(f"taxii\n{self.alias}".encode()).digest()[:16], version=4))

    def told(self) -> dict[str, Any]:
        """Return the collection as TAXII tells of it."""
        return {
            "id": self.id,
            "title": self.title,
            "description": self.description,
            "alias": self.alias,
            "can_read": True,
            "can_write": False,
            "media_types": [STIX_MEDIA_TYPE],
        }


def _of_type(kind: IndicatorType) -> Collection:
    return Collection(kind.name, kind.label, f"Every indicator of the type {kind.name}.", {"type": [kind.name]})


_FIXED = (
    Collection("all", "All indicators", "Every indicator, with malware, CVEs and techniques.", {}),
    *map(_of_type, INDICATOR_TYPES),
)


async def collections_of(store: Store, account_id: str) -> tuple[Collection, ...]:
    """Return the collections that an account may read."""
    return (*_FIXED, *map(_of_search, await _searches(store, account_id)))


async def collection_of(store: Store, account_id: str, name: str) -> Collection:
    """Return the collection with that id or alias; NotFound where there is none."""
    for each in _FIXED:
        if name in (each.id, each.alias):
            return each
    for each in map(_of_search, await _searches(store, account_id)):
        if name in (each.id, each.alias):
            return each
    raise NotFound("No collection has this id or alias.")


async def _searches(store: Store, account_id: str) -> list[SavedSearch]:
    return [search for search in await store.searches.of(account_id) if not search.roundup]


def _of_search(search: SavedSearch) -> Collection:
    description = f"What your saved search “{search.name}” finds."
    return Collection(search.id, search.name, description, search.filters, search.q)
