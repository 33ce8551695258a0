"""Renders the lasting part of an indicator's record as JSON: what the record says of itself and of its article.

None of it depends on the clock, the reader, votes or imported lists, so that a store may keep it beside the record and
render it when the record is written. The API completes a card by appending members and closing the object.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import orjson

from intel.canonical import defang
from intel.records import ArticleRef, Ioc, claim_members
from intel.times import rfc3339, to_milliseconds
from intel.tlp import Tlp

Json = dict[str, Any]


class Card(NamedTuple):
    """An indicator as an answer needs it.

    `last_seen` is in milliseconds since 1970. `malware`, `title` and `source_name` (of its article) are what a search
    may have matched outside the value. `warned` tells whether it is marked as standing on a warning list. `json` is its
    record without what completes it, and without the closing brace.
    """

    id: str
    type: str
    value: str
    last_seen: int
    malware: tuple[str, ...]
    title: str
    source_name: str
    sources: int
    false_positives: int
    warned: bool
    json: bytes


def card_of(ioc: Ioc, false_positives: int, *, warned: bool = False) -> Card:
    """Return the card of an indicator on which there are that many votes."""
    return Card(
        id=ioc.id,
        type=ioc.type,
        value=ioc.value,
        last_seen=to_milliseconds(ioc.last_seen),
        malware=ioc.malware,
        title=ioc.article.title,
        source_name=ioc.article.source_name,
        sources=ioc.sources,
        false_positives=false_positives,
        warned=warned,
        json=card_json(orjson.dumps(indicator_members(ioc)), orjson.dumps(article_members(ioc.article))),
    )


def card_json(indicator: bytes, article: bytes) -> bytes:
    """Join an indicator's own members and its article, both JSON objects, to the JSON of its card."""
    return indicator[:-1] + b',"article":' + article


def indicator_members(ioc: Ioc) -> Json:
    """Return what an indicator's record says of itself."""
    return {
        "id": ioc.id,
        "type": ioc.type,
        "value": ioc.value,
        "defanged": defang(ioc.type, ioc.value),
        "first_seen": rfc3339(ioc.first_seen),
        "last_seen": rfc3339(ioc.last_seen),
        "added_at": rfc3339(ioc.added_at),
        "changed_at": rfc3339(ioc.changed_at),
        "sightings": ioc.sightings,
        "sources": ioc.sources,
        "context": ioc.context,
        "malware": list(ioc.malware),
        "tags": list(ioc.tags),
        **sharing_members(ioc.tlp),
    }


def sharing_members(tlp: Tlp | None) -> Json:
    """Return the member that says how far something may be passed on; none where nothing says it."""
    return {"tlp": tlp} if tlp else {}


def article_members(ref: ArticleRef) -> Json:
    """Return an article as an indicator points at it; a claimed source name is marked."""
    published_at = rfc3339(ref.published_at) if ref.published_at else None
    return article_facts(ref.id, ref.title, ref.url, ref.source_name, published_at, ref.source_domain)


def article_facts(
    id: str, title: str, url: str | None, source_name: str, published_at: str | None, source_domain: str | None
) -> Json:
    """Do as `article_members`, from what an article's record holds."""
    facts = {"id": id, "title": title, "url": url, "source_name": source_name, "published_at": published_at}
    return facts | claim_members(source_domain)
