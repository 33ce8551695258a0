"""Turn records into documents and back, and compute what searches read. Pure."""

from __future__ import annotations

import hashlib
import ipaddress
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, TypeVar

import orjson

from intel.cards import sharing_members
from intel.ids import ioc_id
from intel.query import host_names, value_words
from intel.records import Article, ArticleRef, Ioc, SeenIoc, Sighting
from intel.store.elastic.cards import card_parts
from intel.store.subjects import said_in
from intel.times import from_rfc3339
from intel.tlp import level_of, of_level
from intel.words import encoded_words

Document = dict[str, Any]
R = TypeVar("R")

IOC_MEMBERS = (
    "id",
    "type",
    "value",
    "first_seen",
    "last_seen",
    "sightings",
    "sources",
    "context",
    "malware",
    "article",
    "added_at",
    "changed_at",
    "tags",
    "tlp",
)
# Beside the record: its places in the change feed, and what was removed. 0 is what waits for its number.
CHANGE_MEMBERS = ("added_at", "changed_at", "added_number", "change_number", "removed")
# What is kept of a stored indicator that is derived anew.
_KEPT_MEMBERS = (*CHANGE_MEMBERS, "false_positives", "voted", "warned")
# What rows of `newest` hold: of all sightings, and of all but the first one.
_OF_ALL = ("counted_source", "tlp", "malware")
_OF_OTHERS = ("article_id", "seen_at", "title", "source_name")
NOT_IN_LISTS = ("text", "structure", "words", "saving", "digest", "nonce")
ARTICLE_MEMBERS = (*(field.name for field in fields(Article) if field.name not in ("text", "structure")), "seen_at")


def moment(time: datetime) -> str:
    """Return a time as documents hold it; without milliseconds Elasticsearch would round the end of a range up."""
    return time.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def to_document(record: Any) -> Document:
    """Return a record's members by name."""
    return {field.name: _stored(getattr(record, field.name)) for field in fields(record)}


def from_document(kind: type[R], document: Mapping[str, Any]) -> R:
    """Return the record of that kind that `to_document` spelled out; absent members keep their defaults."""
    names: Iterable[str] = kind.__dataclass_fields__  # type: ignore[attr-defined]  # every record is a dataclass
    return kind(**{name: _read(name, document[name]) for name in names if name in document})


def _stored(value: Any) -> Any:
    return moment(value) if isinstance(value, datetime) else value


def _read(name: str, value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value)
    if value is not None and name.endswith(("_at", "_seen", "as_of")):
        return from_rfc3339(value)
    return value


def fingerprint(*parts: object) -> int:
    """Return 32 bits that differ for different parts; sums of them over many documents stay exact in a double."""
    return int.from_bytes(hashlib.blake2b(orjson.dumps(parts), digest_size=4).digest(), "big")


def digest(*parts: object) -> str:
    """Return a text that differs for different parts."""
    return hashlib.blake2b(orjson.dumps(parts), digest_size=16).hexdigest()


def sighting_id(ioc: str, article: str) -> str:
    """Return the id of the document of an indicator in an article."""
    return f"{ioc}:{article}"


def sighting_documents(article: Article, sightings: Iterable[Sighting], counted_source: str) -> Iterator[Document]:
    """Yield the documents of sightings, each with all of its article that recounting its indicator needs."""
    of_article: Document = {
        "article_id": article.id,
        "title": article.title,
        "url": article.url,
        "source_name": article.source_name,
        "source_domain": article.source_domain,
        "published_at": _stored(article.published_at),
        "seen_at": moment(article.seen_at),
        "cluster_id": article.cluster_id,
        **({"tlp": level} if (level := level_of(article.tlp)) else {}),
    }
    for one in sightings:
        yield recounted_sighting(_sighting_members(one, article) | of_article, counted_source)


def _sighting_members(sighting: Sighting, article: Article) -> Document:
    return {
        **(_said(article, sighting.value) if sighting.type == "cve" else {}),
        "ioc_id": ioc_id(sighting.type, sighting.value),
        "type": sighting.type,
        "value": sighting.value,
        "context": sighting.context,
        "malware": sighting.malware,
        "position": sighting.position,
        "warned": sighting.warned,
    }


def _said(article: Article, cve: str) -> Document:
    said = said_in(article.findings, "cve", cve)
    return {"level": said.level, "score": said.score}


def recounted_sighting(document: Document, counted_source: str) -> Document:
    """Return the same sighting, counting for that source."""
    members = (document[name] for name in ("ioc_id", "article_id", "seen_at", "malware"))
    mark = fingerprint(counted_source, *members)
    return {**document, "counted_source": counted_source, "fingerprint": mark}


def ioc_document(
    newest: Sequence[Document], first_seen: str, sightings: int, sources: int, source_names: Sequence[str], level: int
) -> Document:
    """Return the document of an indicator, from its newest sightings and what all of them come to.

    `level` is the strictest one of its articles, by its number.
    """
    last = newest[0]
    type, value = last["type"], last["value"]
    document = {
        "id": last["ioc_id"],
        "type": type,
        "value": value,
        "first_seen": first_seen,
        "last_seen": last["seen_at"],
        "sightings": sightings,
        "sources": sources,
        "context": last["context"],
        "malware": list(dict.fromkeys(name for one in newest for name in one["malware"])),
        "article": _ref_document(last),
        # Sightings that an earlier version wrote do not say it.
        "warned": last.get("warned", False),
        "source_names": source_names,
        "words": value_words(type, value),
        "article_words": _article_words(newest),
        "hosts": host_names(type, value),
        "fingerprint": fingerprint(last["ioc_id"], first_seen),
        "malware_folded": list(dict.fromkeys(name.casefold() for one in newest for name in one["malware"])),
        **sharing_members(of_level(level)),
        **_address(type, value),
        "newest": _newest_rows(newest),
    }
    return document | {"card": card_parts(document)}


def _newest_rows(newest: Sequence[Document]) -> list[list[Any]]:
    """Return what counting needs of the newest sightings; what the document says of the first one is left out."""
    first, *others = ([one["counted_source"], one.get("tlp", 0), one["malware"]] for one in newest)
    return [first, *([*row, *(one[name] for name in _OF_OTHERS)] for row, one in zip(others, newest[1:], strict=True))]


def newest_in(ioc: Document) -> list[Document] | None:
    """Return the newest sightings of a stored indicator, newest first, as far as counting needs them: of the first one
    all; None where an earlier version stored it.
    """
    rows = ioc.get("newest")
    if rows is None:
        return None
    article = ioc["article"]
    members = {name: ioc.get(name) for name in ("type", "value", "context")}
    first = {"ioc_id": ioc["id"], **members, "warned": ioc.get("warned", False), **article, "article_id": article["id"]}
    others = (dict(zip(_OF_OTHERS, row[len(_OF_ALL) :], strict=True)) for row in rows[1:])
    return [{**one, **dict(zip(_OF_ALL, row, strict=False))} for row, one in zip(rows, [first, *others], strict=True)]


def with_tags(ioc: Document, tags: Sequence[str]) -> Document:
    """Return an indicator's document with these tags, in its card too."""
    tagged = {**ioc, "tags": list(tags)}
    return tagged | {"card": card_parts(tagged)}


def _ref_document(sighting: Document) -> Document:
    members = {name: sighting[name] for name in ("title", "url", "source_name", "published_at", "seen_at")}
    # Sightings that an earlier version wrote have no domain.
    return {"id": sighting["article_id"], **members, "source_domain": sighting.get("source_domain")}


def _article_words(newest: Iterable[Document]) -> list[str]:
    texts = dict.fromkeys(text for one in newest for text in (one["title"], one["source_name"], *one["malware"]))
    return [words for text in texts if (words := _words_of(text))]


# Titles and names come again with each indicator of their articles.
_words_of = lru_cache(maxsize=256)(encoded_words)


def _address(type: str, value: str) -> Document:
    if type != "ip":
        return {}
    try:
        version = ipaddress.ip_address(value).version
    except ValueError:
        return {}
    return {f"ipv{version}": value}


def ioc_record(document: Document) -> Ioc:
    """Return the indicator that a document holds."""
    return Ioc(
        id=document["id"],
        type=document["type"],
        value=document["value"],
        first_seen=from_rfc3339(document["first_seen"]),
        last_seen=from_rfc3339(document["last_seen"]),
        sightings=document["sightings"],
        sources=document["sources"],
        context=document["context"],
        malware=tuple(document["malware"]),
        article=from_document(ArticleRef, document["article"]),
        # What a former version stored does not tell these before it is numbered.
        added_at=from_rfc3339(document.get("added_at") or document["first_seen"]),
        changed_at=from_rfc3339(document.get("changed_at") or document["last_seen"]),
        tags=tuple(document.get("tags", ())),
        tlp=document.get("tlp"),
    )


def is_there(ioc: Document) -> bool:
    """Tell whether the document holds an indicator, not only the mark of a removed one."""
    return "first_seen" in ioc


def following(before: Document | None, derived: Document | None, now: datetime) -> Document | None:
    """Return the document to store where `before` is stored and `derived` is what the sightings say; None for nothing.

    What says something else than before waits for a number; what does not keeps its own.
    """
    if derived is None:
        return None if before is None else _removed(before, now)
    if before is None or not is_there(before):
        added = {"added_at": (at := moment(now)), "changed_at": at, "change_number": 0}
        return derived | added | {"false_positives": 0 if before is None else None}
    kept = {name: before[name] for name in _KEPT_MEMBERS if name in before}
    if before.get("tags"):
        derived = with_tags(derived, before["tags"])
    if ioc_record(before) == ioc_record(derived):
        return derived | kept
    added = {"added_at": before["first_seen"]} | kept
    return derived | added | {"changed_at": moment(now), "change_number": 0}


def _removed(before: Document, now: datetime) -> Document:
    if not is_there(before):
        return before
    mark = {name: before[name] for name in ("id", "type", "value")}
    added_at = {"added_at": before["added_at"]} if "added_at" in before else {}
    return {"removed": mark, "changed_at": moment(now), "change_number": 0} | added_at


def sighted_article(sighting: Document) -> ArticleRef:
    """Return the article of a sighting."""
    return from_document(ArticleRef, _ref_document(sighting))


def sighting_record(document: Document) -> Sighting:
    """Return the sighting that a document holds; one of an earlier version has no position."""
    position = document.get("position", 0)
    return Sighting(document["type"], document["value"], document["context"], tuple(document["malware"]), position)


def seen_ioc(sighting: Document, first_seen: str) -> SeenIoc:
    """Return a sighting with the time its indicator was first seen."""
    return from_document(SeenIoc, {**sighting, "first_seen": first_seen})


def annotated_at(article: Document, now: datetime) -> str:
    """Return the time of a change of an article's tags or TLP: later than the last one, whatever the clock says."""
    last = article.get("annotated_at")
    return moment(max(now, from_rfc3339(last) + timedelta(milliseconds=1)) if last else now)


def content_of(article: Article) -> Document:
    """Return what an article itself says, without what accounts put on it later."""
    document = to_document(article)
    del document["annotated_at"]
    return document


def article_document(article: Article) -> Document:
    """Return an article with the words by which it is found."""
    document = to_document(article)
    marked = (article.id, *(document[name] for name in ("title", "source_name", "published_at", "fetched_at", "url")))
    return with_words(document) | {
        "seen_at": moment(article.seen_at),
        "fingerprint": fingerprint(*marked, digest(content_of(article))),
    }


def with_words(article: Document) -> Document:
    """Return the article's document with the words of its texts, each a text of its own."""
    texts = (article["title"], article["summary"], article["text"] or "", article["source_name"])
    return {**article, "words": [words for text in texts if (words := encoded_words(text))]}


def article_record(document: Document) -> Article:
    """Return the article that a document holds."""
    return from_document(Article, document)
