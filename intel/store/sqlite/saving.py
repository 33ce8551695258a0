"""Saving articles with what was seen in them, many in one transaction, and removing one."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import orjson

from intel.ids import ioc_id_bytes
from intel.records import REMOVED, Article, Sighting
from intel.store.entry import Entry, steps
from intel.store.sqlite import subjects
from intel.store.sqlite.alike import Named
from intel.store.sqlite.cards import article_card
from intel.store.sqlite.changes import next_moment
from intel.store.sqlite.deriving import Derivation
from intel.store.sqlite.notes import forget_notes
from intel.store.sqlite.packing import pack_text, unpack_text
from intel.store.sqlite.rows import id_text, milliseconds, to_json
from intel.store.sqlite.seen import Sighted
from intel.store.sqlite.weeks import take_back
from intel.store.sqlite.word_index import ArticleWords, stored_words, words_of, write_article_words
from intel.store.taking_back import could_be_told_since
from intel.times import from_milliseconds, to_milliseconds
from intel.tlp import Tlp, level_of


def save(connection: sqlite3.Connection, entries: Sequence[Entry], now: int) -> None:
    """Save articles in their order; `now` is in milliseconds."""
    ids = [entry.article.id for entry in entries]
    stored = {id for id in ids if connection.execute("SELECT 1 FROM articles WHERE id = ?", (id,)).fetchone()}
    moment = next_moment(connection, now)
    for step, is_new in steps(ids, stored):
        if not is_new and _is_stored(connection, entries[step.start]):
            _claim(connection, entries[step.start], _next_save_number(connection))
        else:
            _save(connection, entries[step], moment)


def remove(connection: sqlite3.Connection, id: str, now: int, *, expired: bool) -> bool:
    """Remove an article and all that came from it; False where there is none. An expired one takes no week back."""
    article = connection.execute("SELECT seq, cluster_id, fetched_at FROM articles WHERE id = ?", (id,)).fetchone()
    if article is None:
        return False
    derivation = Derivation(connection)
    derivation.note_article(article["seq"])
    words = ArticleWords(article["seq"], stored_words(connection, article["seq"]), None)
    write_article_words(connection, [words])
    forgotten = {"id": id, "seq": article["seq"], "detail": REMOVED}
    for statement in _FORGET:
        connection.execute(statement, {name: forgotten[name] for name in forgotten if f":{name}" in statement})
    subjects.forget(connection, id)
    derivation.count_cluster(article["cluster_id"])
    gone = derivation.derive(next_moment(connection, now))
    connection.executemany("DELETE FROM votes WHERE ioc_id = ?", ((ioc,) for ioc in gone))
    forget_notes(connection, [id, *map(id_text, gone)])
    if not expired:
        take_back(connection, could_be_told_since(from_milliseconds(article["fetched_at"])))
    return True


def change_tlp(connection: sqlite3.Connection, id: str, tlp: Tlp | None, now: int) -> None:
    """Let a stored article have that level."""
    article = connection.execute("SELECT seq FROM articles WHERE id = ?", (id,)).fetchone()
    derivation = Derivation(connection)
    derivation.note_article(article["seq"])
    connection.execute("UPDATE articles SET tlp = ? WHERE seq = ?", (level_of(tlp), article["seq"]))
    note_annotated(connection, article["seq"], now)
    derivation.derive(next_moment(connection, now))


def note_annotated(connection: sqlite3.Connection, seq: int, now: int) -> None:
    """Note that tags or TLP of an article change, at a time later than at the last change, whatever the clock says."""
    sql = "UPDATE articles SET annotated_at = max(?, coalesce(annotated_at + 1, 0)) WHERE seq = ?"
    connection.execute(sql, (now, seq))


def _save(connection: sqlite3.Connection, entries: Sequence[Entry], now: int) -> None:
    before = [connection.execute(_BEFORE, (entry.article.id,)).fetchone() for entry in entries]
    derivation = Derivation(connection, adds_only=not any(before))
    clusters = {entry.article.cluster_id for entry in entries}
    for stored in filter(None, before):
        clusters.add(stored["cluster_id"])
        derivation.note_article(stored["seq"])
    named = [[_named(sighting) for sighting in entry.sightings] for entry in entries]
    warned = [
        one.id
        for entry, some in zip(entries, named, strict=True)
        for sighting, one in zip(entry.sightings, some, strict=True)
        if sighting.warned
    ]
    seqs = derivation.name((one for some in named for one in some), warned)
    words = list[ArticleWords]()
    for entry, some, stored in zip(entries, named, before, strict=True):
        words_before = stored_words(connection, stored["seq"]) if stored else None
        article_seq = _put_article(connection, entry)
        words.append(ArticleWords(article_seq, words_before, words_of(entry.article)))
        derivation.add_article(article_seq)
        _replace_sightings(connection, entry, article_seq, [seqs[one.id] for one in some], derivation)
    for cluster_id in sorted(clusters):
        derivation.count_cluster(cluster_id)
    derivation.derive(now)
    # Together: each statement between two of them would have the engine write a piece of the index.
    write_article_words(connection, words)
    for entry, some in zip(entries, named, strict=True):
        subjects.write(connection, entry.article, zip((seqs[one.id] for one in some), entry.sightings, strict=True))


def _is_stored(connection: sqlite3.Connection, entry: Entry) -> bool:
    """Tell whether exactly this article is stored with exactly these sightings, so that to save it changes nothing."""
    wanted = _article_row(entry.article) | {"structure": entry.article.structure}
    row = connection.execute(_STORED, (entry.article.id,)).fetchone()
    if row is None or row["tlp"] < level_of(entry.article.tlp):
        return False
    if any(row[name] != value for name, value in wanted.items() if name not in _ANNOTATED):
        return False
    if unpack_text(row["text"]) != entry.article.text:
        return False
    sightings = connection.execute(_STORED_SIGHTINGS, (row["seq"],))
    return list(map(tuple, sightings)) == sorted(
        (
            (one.position, one.type, one.value, one.context, orjson.dumps(one.malware).decode())
            for one in entry.sightings
        ),
    )


def _named(sighting: Sighting) -> Named:
    return Named(ioc_id_bytes(sighting.type, sighting.value), sighting.type, sighting.value)


def _put_article(connection: sqlite3.Connection, entry: Entry) -> int:
    """Write an article, its text and addresses; return its `seq`."""
    article = entry.article
    number = _next_save_number(connection)
    connection.execute("INSERT OR IGNORE INTO sources (name) VALUES (?)", (article.source_name,))
    (seq,) = connection.execute(_PUT_ARTICLE, _article_row(article) | {"save_number": number}).fetchone()
    connection.execute(_PUT_TEXT, (seq, pack_text(article.text), article.structure))
    _claim(connection, entry, number)
    return int(seq)


def _next_save_number(connection: sqlite3.Connection) -> int:
    (number,) = connection.execute("UPDATE save_numbers SET last = last + 1 RETURNING last").fetchone()
    return int(number)


def _claim(connection: sqlite3.Connection, entry: Entry, number: int) -> None:
    connection.executemany(_PUT_ADDRESS, ((address, entry.article.id, number) for address in entry.addresses))


def _replace_sightings(
    connection: sqlite3.Connection, entry: Entry, article_seq: int, ioc_seqs: Sequence[int], derivation: Derivation
) -> None:
    connection.execute("DELETE FROM sightings WHERE article_seq = ?", (article_seq,))
    newest_first = -to_milliseconds(entry.article.seen_at)
    malware = {names: orjson.dumps(names).decode() for names in {one.malware for one in entry.sightings}}
    rows = [
        (seq, newest_first, article_seq, one.position, malware[one.malware], one.context)
        for seq, one in zip(ioc_seqs, entry.sightings, strict=True)
    ]
    derivation.sighted(
        (seq, Sighted(newest_first, article_seq, names, context)) for seq, _, _, _, names, context in rows
    )
    connection.executemany(_ADD_SIGHTING, rows)


def _article_row(article: Article) -> dict[str, str | int | None]:
    published_at = milliseconds(article.published_at)
    return {
        "id": article.id,
        "url": article.url,
        "title": article.title,
        "source_name": article.source_name,
        "author": article.author,
        "published_at": published_at,
        "fetched_at": to_milliseconds(article.fetched_at),
        "seen_at": to_milliseconds(article.seen_at),
        "language": article.language,
        "summary": article.summary,
        "cluster_id": article.cluster_id,
        "notes": to_json(article.notes),
        "ioc_counts": to_json(article.ioc_counts),
        "ioc_dropped": article.ioc_dropped,
        "revision": article.revision,
        "findings": to_json(article.findings),
        "source_domain": article.source_domain,
        "tlp": level_of(article.tlp),
        "annotated_at": milliseconds(article.annotated_at),
        "card": article_card(
            article.id, article.title, article.url, article.source_name, published_at, article.source_domain
        ),
    }


_FIELDS = (
    "url", "title", "source_name", "author", "published_at", "fetched_at", "seen_at", "language", "summary",
    "cluster_id", "notes", "ioc_counts", "ioc_dropped", "revision", "findings", "source_domain", "tlp",
    "annotated_at", "card",
)  # fmt: skip
# What a stored article keeps whatever is saved, but for a stricter TLP.
_ANNOTATED = ("tlp", "annotated_at")
_BEFORE = "SELECT seq, cluster_id FROM articles WHERE id = ?"
_PUT_ARTICLE = f"""
    INSERT INTO articles (id, save_number, source_seq, {", ".join(_FIELDS)})
    VALUES (
        :id, :save_number, (SELECT seq FROM sources WHERE name = :source_name),
        {", ".join(f":{name}" for name in _FIELDS)}
    )
    ON CONFLICT (id) DO UPDATE SET
        save_number = excluded.save_number, source_seq = excluded.source_seq,
        {", ".join(f"{name} = excluded.{name}" for name in _FIELDS if name not in _ANNOTATED)},
        tlp = max(articles.tlp, excluded.tlp)
    RETURNING seq
"""
_STORED = """
    SELECT a.*, t.text, t.structure FROM articles AS a CROSS JOIN article_texts AS t ON t.seq = a.seq WHERE a.id = ?
"""
_STORED_SIGHTINGS = """
    SELECT s.position, i.type, i.value, s.context, s.malware
    FROM sightings AS s CROSS JOIN iocs AS i ON i.seq = s.ioc_seq
    WHERE s.article_seq = ? ORDER BY s.position, i.type, i.value, s.context, s.malware
"""
_PUT_TEXT = "REPLACE INTO article_texts (seq, text, structure) VALUES (?, ?, ?)"
_PUT_ADDRESS = "INSERT INTO addresses (address, article_id, claimed) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
_ADD_SIGHTING = """
    INSERT INTO sightings (ioc_seq, newest_first, article_seq, position, malware, context) VALUES (?, ?, ?, ?, ?, ?)
"""
_FORGET = (
    "DELETE FROM sightings WHERE article_seq = :seq",
    "DELETE FROM addresses WHERE article_id = :id",
    "DELETE FROM readings WHERE article_id = :id",
    "DELETE FROM article_texts WHERE seq = :seq",
    "DELETE FROM article_tags WHERE article_seq = :seq",
    """
    UPDATE submissions SET article_id = NULL, ioc_count = NULL, ioc_dropped = NULL, reason = 'removed', detail = :detail
    WHERE article_id = :id
    """,
    "DELETE FROM articles WHERE seq = :seq",
)
