"""Cards straight from rows: what `intel.cards.card_of` gives for the record, without making one.

Rendering takes some two microseconds a card; keeping the JSON beside the record would double the file.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence

import orjson

from intel.cards import Card, article_members, card_json
from intel.defanged import defang
from intel.store.sqlite.rows import article_ref, id_bytes, id_text
from intel.times import from_milliseconds, rfc3339


def cards_by_id(connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, Card]:
    """Return the cards of those of the given indicators that exist."""
    rows = _rows(connection, "id", [*map(id_bytes, dict.fromkeys(ids))])
    return {card.id: card for card in _rendered(connection, rows)}


def cards_in_order(connection: sqlite3.Connection, seqs: Sequence[int]) -> tuple[Card, ...]:
    """Return the cards of existing indicators in the order of `seqs`."""
    found = {row["seq"]: row for row in _rows(connection, "seq", seqs)}
    return tuple(_rendered(connection, (found[seq] for seq in seqs)))


def _rows(connection: sqlite3.Connection, key: str, wanted: Sequence[int | bytes]) -> list[sqlite3.Row]:
    """Return the rows of the wanted indicators; one statement, for each costs more than a row."""
    # Filled up with NULL, so that a connection keeps a few statements and not one for every number of them.
    room = 1 << max(0, len(wanted) - 1).bit_length()
    asked = (*wanted, *(None,) * (room - len(wanted)))
    return connection.execute(f"{_CARDS} WHERE i.{key} IN ({', '.join('?' * room)})", asked).fetchall()


def _rendered(connection: sqlite3.Connection, rows: Iterable[sqlite3.Row]) -> Iterable[Card]:
    # Indicators of one page share their articles and times.
    articles: dict[int, tuple[str, str, bytes]] = {}
    moments: dict[int, str] = {}
    for row in rows:
        id, type, value, first, last, added, changed, sightings, sources, context, malware, article, votes, _ = row
        if article not in articles:
            articles[article] = _article(connection, article)
        for moment in (first, last, added, changed):
            if moment not in moments:
                moments[moment] = rfc3339(from_milliseconds(moment))
        spelled, title, source_name, id = orjson.dumps(value).decode(), *articles[article][:2], id_text(id)
        shown = orjson.dumps(defang(type, value)).decode()
        indicator = (
            f'{{"id":"{id}","type":"{type}","value":{spelled},"defanged":{shown},"first_seen":"{moments[first]}",'
            f'"last_seen":"{moments[last]}","added_at":"{moments[added]}","changed_at":"{moments[changed]}",'
            f'"sightings":{sightings},"sources":{sources},"context":{orjson.dumps(context).decode()},'
            f'"malware":{malware},"tags":[]}}'
        )
        names = tuple(json.loads(malware)) if malware != "[]" else ()
        rendered = card_json(indicator.encode(), articles[article][2])
        yield Card(id, type, value, last, names, title, source_name, sources, votes, rendered)


def _article(connection: sqlite3.Connection, seq: int) -> tuple[str, str, bytes]:
    """Return an article's title and source name, and how a card shows it."""
    ref = article_ref(connection.execute(_ARTICLE, (seq,)).fetchone())
    return ref.title, ref.source_name, orjson.dumps(article_members(ref))


_CARDS = """
    SELECT i.id, i.type, i.value, i.first_seen, i.last_seen, i.added_at, i.changed_at, i.sightings, i.sources,
        i.context, i.malware, i.article_seq, (SELECT count(*) FROM votes AS v WHERE v.ioc_id = i.id),
        i.seq
    FROM iocs AS i
"""
_ARTICLE = """
    SELECT id AS article_id, title, url, source_name, published_at, seen_at, source_domain FROM articles WHERE seq = ?
"""
