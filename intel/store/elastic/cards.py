"""Cards as documents hold them: rendered when the indicator is derived, completed with what numbering and votes change.

`card` holds the JSON before and after the times of adding and changing. `false_positives` is the number of votes, and
null while a vote is under way or where a version without that member stored the indicator: then the votes know.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import orjson

from intel.canonical import defang
from intel.cards import Card, article_members, sharing_members
from intel.records import ArticleRef
from intel.times import from_rfc3339, to_milliseconds

Document = dict[str, Any]

_ADDED, _CHANGED, _REST = ',"added_at":"', '","changed_at":"', '","sightings":'


def card_parts(document: Document) -> tuple[str, str]:
    """Return the JSON of an indicator's card, as `intel.cards` renders it, before `added_at` and after `changed_at`."""
    type, value = document["type"], document["value"]
    head = {
        "id": document["id"],
        "type": type,
        "value": value,
        "defanged": defang(type, value),
        "first_seen": _brief(document["first_seen"]),
        "last_seen": _brief(document["last_seen"]),
    }
    tail = {name: document[name] for name in ("sources", "context", "malware")} | {"tags": document.get("tags", ())}
    tail |= sharing_members(document.get("tlp"))
    members = orjson.dumps(tail)[1:-1].decode()
    article = _article_json(*document["article"].items())
    return orjson.dumps(head)[:-1].decode(), f'{document["sightings"]},{members},"article":{article}'


# An article's indicators are written one after the other.
@lru_cache(maxsize=64)
def _article_json(*members: tuple[str, Any]) -> str:
    article = dict(members)
    times = {name: from_rfc3339(article[name]) if article[name] else None for name in ("published_at", "seen_at")}
    return orjson.dumps(article_members(ArticleRef(**article | times))).decode()


def stored_card(document: Mapping[str, Any]) -> Card | None:
    """Return the card of a document that holds all of it; one that an earlier version stored does not."""
    parts, votes = document.get("card"), document.get("false_positives")
    added, changed = document.get("added_at"), document.get("changed_at")
    if parts is None or votes is None or added is None or changed is None:
        return None
    article = document["article"]
    return Card(
        id=document["id"],
        type=document["type"],
        value=document["value"],
        last_seen=_milliseconds(document["last_seen"]),
        malware=tuple(document["malware"]),
        title=article["title"],
        source_name=article["source_name"],
        sources=document["sources"],
        false_positives=votes,
        warned=document.get("warned", False),
        json=f"{parts[0]}{_ADDED}{_brief(added)}{_CHANGED}{_brief(changed)}{_REST}{parts[1]}".encode(),
    )


# An article's indicators were all seen at the same time.
@lru_cache(maxsize=256)
def _milliseconds(moment: str) -> int:
    return to_milliseconds(from_rfc3339(moment))


def _brief(moment: str) -> str:
    """Return a time as records show it."""
    return moment.replace(".000Z", "Z")
