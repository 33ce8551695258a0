"""Rows to records and back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any, TypeVar

from intel.records import Article, ArticleRef, Ioc, Sighting
from intel.store.sqlite.packing import unpack_text
from intel.times import from_milliseconds, to_milliseconds
from intel.tlp import of_level

R = TypeVar("R")

ID_BYTES = 16

IOC_COLUMNS = """
    i.id, i.type, i.value, i.first_seen, i.last_seen, i.sightings, i.sources, i.context, i.malware,
    i.added_at, i.changed_at, i.tags, i.tlp,
    a.id AS article_id, a.title, a.url, a.source_name, a.published_at, a.seen_at,
    a.source_domain
"""
IOCS = f"SELECT {IOC_COLUMNS} FROM iocs AS i CROSS JOIN articles AS a ON a.seq = i.article_seq"
ARTICLE_COLUMNS = """
    id, url, title, source_name, author, published_at, fetched_at, language, summary, cluster_id, notes, ioc_counts,
    ioc_dropped, revision, findings, source_domain, tags, tlp, annotated_at
"""
ARTICLES_WITH_TEXT = f"SELECT {ARTICLE_COLUMNS}, seq, text, structure FROM articles LEFT JOIN article_texts USING (seq)"


def id_bytes(id: str) -> bytes:
    """Return an indicator's id as it is stored; nothing for what is no id."""
    try:
        packed = bytes.fromhex(digits := id.replace("-", ""))
    except ValueError:
        return b""
    is_parted = len(packed) == ID_BYTES and id[8::5][:4] == "----"
    return packed if is_parted and len(id) == 36 and packed.hex() == digits else b""


def id_text(id: bytes) -> str:
    """Return the id that `id_bytes` stores."""
    digits = id.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def moment(milliseconds: int | None) -> datetime | None:
    return None if milliseconds is None else from_milliseconds(milliseconds)


def milliseconds(moment: datetime | None) -> int | None:
    return None if moment is None else to_milliseconds(moment)


def to_row(record: Any) -> dict[str, Any]:
    """Return a record's members by name, as columns hold them; for records whose table has the same names."""
    return {field.name: _stored(getattr(record, field.name)) for field in fields(record)}


def from_row(kind: type[R], row: sqlite3.Row | dict[str, Any]) -> R:
    """Return the record of that kind that `to_row` spelled out."""
    members = fields(kind)  # type: ignore[arg-type]  # every record is a dataclass
    return kind(**{field.name: _READ.get(field.type, _as_it_is)(row[field.name]) for field in members})


def _stored(value: Any) -> Any:
    if isinstance(value, datetime):
        return to_milliseconds(value)
    return to_json(value) if isinstance(value, (dict, tuple)) else value


def _as_it_is(value: Any) -> Any:
    return value


def _tuple(value: str) -> tuple[Any, ...]:
    return tuple(json.loads(value))


def to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# How a column is read, by the annotation of the record's member.
_READ: dict[Any, Callable[[Any], Any]] = {
    "bool": bool,
    "datetime": from_milliseconds,
    "datetime | None": moment,
    "dict[str, Any]": json.loads,
    "tuple[Scope, ...]": _tuple,
}


def article_ref(row: sqlite3.Row) -> ArticleRef:
    return ArticleRef(
        id=row["article_id"],
        title=row["title"],
        url=row["url"],
        source_name=row["source_name"],
        published_at=moment(row["published_at"]),
        seen_at=from_milliseconds(row["seen_at"]),
        source_domain=row["source_domain"],
    )


def ioc(row: sqlite3.Row) -> Ioc:
    """Return the indicator of a row of `IOC_COLUMNS`."""
    return Ioc(
        id=id_text(row["id"]),
        type=row["type"],
        value=row["value"],
        first_seen=from_milliseconds(row["first_seen"]),
        last_seen=from_milliseconds(row["last_seen"]),
        sightings=row["sightings"],
        sources=row["sources"],
        context=row["context"],
        malware=tuple(json.loads(row["malware"])),
        article=article_ref(row),
        added_at=from_milliseconds(row["added_at"]),
        changed_at=from_milliseconds(row["changed_at"]),
        tags=tuple(json.loads(row["tags"])),
        tlp=of_level(row["tlp"]),
    )


def article(row: sqlite3.Row, text: str | None = None, structure: str | None = None) -> Article:
    """Return the article of a row of `ARTICLE_COLUMNS`."""
    return Article(
        id=row["id"],
        url=row["url"],
        title=row["title"],
        source_name=row["source_name"],
        author=row["author"],
        published_at=moment(row["published_at"]),
        fetched_at=from_milliseconds(row["fetched_at"]),
        language=row["language"],
        summary=row["summary"],
        cluster_id=row["cluster_id"],
        text=text,
        notes=tuple(json.loads(row["notes"])),
        ioc_counts=json.loads(row["ioc_counts"]),
        ioc_dropped=row["ioc_dropped"],
        revision=row["revision"],
        findings=json.loads(row["findings"]),
        source_domain=row["source_domain"],
        structure=structure or "",
        tags=tuple(json.loads(row["tags"])),
        tlp=of_level(row["tlp"]),
        annotated_at=moment(row["annotated_at"]),
    )


def article_with_text(row: sqlite3.Row) -> Article:
    """Return the article of a row of `ARTICLES_WITH_TEXT`."""
    return article(row, unpack_text(row["text"]), row["structure"])


def iocs_by_id(connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, Ioc]:
    """Return those of the given indicators that exist."""
    wanted = dict.fromkeys(ids)
    among, asked = one_of([*map(id_bytes, wanted)])
    found = {one.id: one for one in map(ioc, connection.execute(f"{IOCS} WHERE i.id {among}", asked))}
    return {id: found[id] for id in wanted if id in found}


def stored_ids(connection: sqlite3.Connection, ids: Sequence[str]) -> frozenset[str]:
    """Return which of the given ids exist."""
    by_bytes = {id_bytes(id): id for id in ids}
    among, asked = one_of([*by_bytes])
    return frozenset(by_bytes[id] for (id,) in connection.execute(f"SELECT id FROM iocs WHERE id {among}", asked))


def one_of(wanted: Sequence[int | bytes]) -> tuple[str, tuple[int | bytes | None, ...]]:
    """Return a condition that a column is one of some values, and its parameters: one statement for each costs more.

    They are filled up with NULL, so that a connection keeps a few statements and not one for every number of them.
    """
    room = 1 << max(0, len(wanted) - 1).bit_length()
    return f"IN ({', '.join('?' * room)})", (*wanted, *(None,) * (room - len(wanted)))


def iocs_in_order(connection: sqlite3.Connection, seqs: Sequence[int]) -> tuple[Ioc, ...]:
    """Return existing indicators in the order of `seqs`."""
    return tuple(ioc(connection.execute(f"{IOCS} WHERE i.seq = ?", (seq,)).fetchone()) for seq in seqs)


def sightings_of(connection: sqlite3.Connection, article_seq: int) -> tuple[Sighting, ...]:
    """Return what was seen in an article, in order of first appearance."""
    return tuple(
        Sighting(type, value, context, tuple(json.loads(malware)), position)
        for type, value, context, malware, position in connection.execute(_SIGHTINGS, (article_seq,))
    )


_SIGHTINGS = """
    SELECT i.type, i.value, s.context, s.malware, s.position
    FROM sightings AS s CROSS JOIN iocs AS i ON i.seq = s.ioc_seq WHERE s.article_seq = ? ORDER BY s.position
"""
