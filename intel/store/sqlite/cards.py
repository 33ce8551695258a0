"""Cards straight from rows: what `intel.cards.card_of` gives for the record, without making one.

Rendering takes some two microseconds a card; keeping the JSON beside the record would double the file. Of an article,
which many share, it is kept.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import orjson

from intel.cards import Card, article_facts, sharing_members
from intel.defanged import defang
from intel.store.sqlite.matching import Sql
from intel.store.sqlite.rows import ID_BYTES, id_bytes, id_text, one_of
from intel.times import rfc3339_of
from intel.tlp import of_level

Place = Mapping[str, int | str | bytes]
_Row = tuple[Any, ...]


def cards_by_id(connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, Card]:
    """Return the cards of those of the given indicators that exist."""
    named = {id_bytes(id): id for id in ids}
    named.pop(b"", None)
    # In order, so that neighbours are found in one page.
    places = orjson.dumps([*range(1, ID_BYTES * len(named), ID_BYTES)]).decode()
    asked = (places, b"".join(sorted(named)), ID_BYTES)
    rows = _cursor(connection).execute(_OF_IDS.format(_columns(connection)), asked).fetchall()
    return {(id := named[row[_ID]]): _card(id, row[:_CARD_COLUMNS], *row[_CARD_COLUMNS:]) for row in rows}


def cards_in_order(connection: sqlite3.Connection, seqs: Sequence[int]) -> tuple[Card, ...]:
    """Return the cards of existing indicators in the order of `seqs`."""
    found = {row[_CARD_COLUMNS]: row for row in _rows(connection, seqs)}
    return tuple(_rendered(connection, [found[seq] for seq in seqs]))


def cards_ranked(
    connection: sqlite3.Connection, seqs: Sequence[int], class_of: Callable[[str, str], int], limit: int
) -> tuple[tuple[Card, ...], tuple[int, Card] | None]:
    """Return the cards of existing indicators in order of rank, at most `limit`, each of the class that its type and
    value have; where there are more, also the last one and its class.
    """
    rows = _rows(connection, seqs)
    rows.sort(key=lambda row: (class_of(row[_TYPE], row[_VALUE]), -row[_SOURCES], -row[_LAST_SEEN], row[_ID]))
    cards = tuple(_rendered(connection, rows[:limit]))
    return cards, (class_of(cards[-1].type, cards[-1].value), cards[-1]) if len(rows) > limit else None


def cards_listed(connection: sqlite3.Connection, page: Sql, limit: int) -> tuple[tuple[Card, ...], Place | None]:
    """Return the cards that a statement of `finding` selects, at most `limit`; where there are more, also the last
    one's sort values by name.
    """
    cursor = _cursor(connection)
    rows = cursor.execute(_LISTED.format(_columns(connection), page.text), page.parameters).fetchall()
    cards = tuple(_rendered(connection, rows[:limit]))
    if len(rows) <= limit:
        return cards, None
    names = [name for name, *_ in cursor.description]
    return cards, dict(zip(names[_CARD_COLUMNS + 1 :], rows[limit - 1][_CARD_COLUMNS + 1 :], strict=True))


def article_card(
    id: str, title: str, url: str | None, source_name: str, published_at: int | None, source_domain: str | None
) -> str:
    """Return how a card shows an article, in JSON, from columns of its row."""
    published = None if published_at is None else rfc3339_of(published_at)
    return orjson.dumps(article_facts(id, title, url, source_name, published, source_domain)).decode()


def _rows(connection: sqlite3.Connection, seqs: Sequence[int]) -> list[_Row]:
    """Return the rows of existing indicators, each with its `seq` at the end."""
    asked = (orjson.dumps([*seqs]).decode(),)
    return _cursor(connection).execute(_OF_SEQS.format(_columns(connection)), asked).fetchall()


def _columns(connection: sqlite3.Connection) -> str:
    """Return the columns of a card; votes are looked for only where there are any, for mostly there are none."""
    (are_any,) = connection.execute("SELECT EXISTS (SELECT 1 FROM votes)").fetchone()
    return _WITH_VOTES if are_any else _WITHOUT_VOTES


def _cursor(connection: sqlite3.Connection) -> sqlite3.Cursor:
    """Return a cursor whose rows are tuples: they cost less to take apart than rows of names."""
    cursor = connection.cursor()
    cursor.row_factory = None
    return cursor


def _rendered(connection: sqlite3.Connection, rows: Sequence[_Row]) -> Iterator[Card]:
    # Indicators of one page share their articles.
    articles = _articles(connection, {row[_ARTICLE] for row in rows})
    for row in rows:
        yield _card(id_text(row[_ID]), row[:_CARD_COLUMNS], *articles[row[_ARTICLE]])


def _card(named: str, row: Sequence[Any], title: str, source_name: str, article: str) -> Card:
    """Return the card of a row of `_CARDS` and of its article."""
    _, type, value, first, last, added, changed, sightings, sources, context, malware, _, tags, tlp, votes, warned = row
    members: dict[str, Any] = {
        "id": named,
        "type": type,
        "value": value,
        "defanged": defang(type, value),
        "first_seen": rfc3339_of(first),
        "last_seen": rfc3339_of(last),
        "added_at": rfc3339_of(added),
        "changed_at": rfc3339_of(changed),
        "sightings": sightings,
        "sources": sources,
        "context": context,
        "malware": orjson.Fragment(malware),
        "tags": orjson.Fragment(tags),
    }
    if tlp:
        members |= sharing_members(of_level(tlp))
    members["article"] = orjson.Fragment(article)
    names = tuple(orjson.loads(malware)) if malware != "[]" else ()
    rendered = orjson.dumps(members)[:-1]
    return Card(named, type, value, last, names, title, source_name, sources, votes, warned != 0, rendered)


def _articles(connection: sqlite3.Connection, seqs: Collection[int]) -> dict[int, tuple[str, str, str]]:
    """Return the title and source name of articles, and how a card shows each."""
    among, asked = one_of([*seqs])
    rows = _cursor(connection).execute(_ARTICLES + among, asked)
    return {seq: (title, source_name, card) for seq, title, source_name, card in rows}


_CARD_COLUMNS, _ID, _TYPE, _VALUE, _LAST_SEEN, _SOURCES, _ARTICLE = 16, 0, 1, 2, 4, 8, 11
_CARDS = """i.id, i.type, i.value, i.first_seen, i.last_seen, i.added_at, i.changed_at, i.sightings, i.sources,
    i.context, i.malware, i.article_seq, i.tags, i.tlp, {}, i.warned"""
_WITHOUT_VOTES = _CARDS.format("0")
_WITH_VOTES = _CARDS.format("(SELECT count(*) FROM votes AS v WHERE v.ioc_id = i.id)")
# CROSS JOIN keeps the engine from beginning with a larger table.
_OF_IDS = """
    SELECT {}, a.title, a.source_name, a.card
    FROM json_each(?1) AS place CROSS JOIN iocs AS i ON i.id = substr(?2, place.value, ?3)
    CROSS JOIN articles AS a ON a.seq = i.article_seq
"""
_LISTED = "SELECT {}, listed.* FROM ({}) AS listed CROSS JOIN iocs AS i ON i.seq = listed.seq"
_OF_SEQS = "SELECT {}, i.seq FROM json_each(?) AS listed CROSS JOIN iocs AS i ON i.seq = listed.value"
_ARTICLES = "SELECT seq, title, source_name, card FROM articles WHERE seq "
