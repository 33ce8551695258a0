"""The collections: all that is stored, and each type of indicator by itself."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from api.web.rendering import TYPE_LABELS
from intel.errors import NotFound
from intel.records import IOC_TYPES

STIX_MEDIA_TYPE = "application/stix+json;version=2.1"


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection; `types` are those of its indicators."""

    alias: str
    title: str
    description: str
    types: tuple[str, ...]

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


def _of_type(type: str) -> Collection:
    return Collection(type, TYPE_LABELS[type], f"Every indicator of the type {type}.", (type,))


COLLECTIONS = (
    Collection("all", "All indicators", "Every indicator, with malware, CVEs and techniques.", IOC_TYPES),
    *map(_of_type, IOC_TYPES),
)
_BY_NAME: Mapping[str, Collection] = MappingProxyType(
    {name: each for each in COLLECTIONS for name in (each.id, each.alias)}
)


def collection_of(name: str) -> Collection:
    """Return the collection with that id or alias; NotFound where there is none."""
    if name not in _BY_NAME:
        raise NotFound("No collection has this id or alias.")
    return _BY_NAME[name]
