"""What articles say of subjects: written with each article, and read by focus.

`mentions` holds who names a subject, `notable_subjects` which of them articles alone may bring into focus,
`newly_named` how many indicators near a malware are new, counted from `named_near` as that is written, and
`article_observables` what an article names, so that no sighting is read for any of it.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from heapq import nsmallest

from intel.ids import ioc_id
from intel.records import Article, Sighting
from intel.store.sqlite.alike import Alike
from intel.store.sqlite.connection import Database
from intel.store.sqlite.rows import id_bytes, moment, to_json
from intel.store.sqlite.seen import Sighted, note
from intel.store.subjects import (
    MOST_DOMAINS,
    MOST_RELATED,
    NEWEST_MENTIONS,
    OBSERVABLES,
    SUBJECTS,
    WINDOW,
    Asked,
    Beside,
    NewlyNamed,
    Run,
    Told,
    domain_of,
    said_in,
)
from intel.times import from_milliseconds, to_milliseconds

_MILLISECONDS = WINDOW.days * 24 * 3600 * 1000


class SqliteSubjects:
    """`intel.store.subjects.Subjects` of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def runs(self, start: datetime, until: datetime, cves: Collection[str] | None = None) -> tuple[Run, ...]:
        asked: dict[str, int | str] = {
            "start": to_milliseconds(start),
            "until": to_milliseconds(until),
            "length": _MILLISECONDS,
        }
        if cves is not None:
            asked["cves"] = to_json([*cves])
        sql = _RUNS if cves is None else _NOTABLE_RUNS
        return await self._database.read(lambda connection: tuple(map(_run, connection.execute(sql, asked))))

    async def newly_named(self, start: datetime, until: datetime) -> tuple[NewlyNamed, ...]:
        span = (to_milliseconds(start), to_milliseconds(until))
        rows = await self._database.read(lambda connection: connection.execute(_NEWLY_NAMED, span).fetchall())
        return tuple(
            NewlyNamed(name, from_milliseconds(named), from_milliseconds(seen), iocs)
            for name, named, seen, iocs in rows
        )

    async def next_article(self, after: datetime) -> datetime | None:
        sql, asked = "SELECT min(seen_at) FROM articles WHERE seen_at > ?", (to_milliseconds(after),)
        row = await self._database.read(lambda connection: connection.execute(sql, asked).fetchone())
        return moment(row[0])

    async def told(self, asked: Sequence[Asked]) -> tuple[Told | None, ...]:
        return await self._database.read(lambda connection: tuple(_told(connection, one) for one in asked))

    async def beside(self, asked: Sequence[tuple[Sequence[str], str | None]]) -> tuple[Beside, ...]:
        return await self._database.read(lambda connection: tuple(_beside_all(connection, asked)))


def write(connection: sqlite3.Connection, article: Article, named: Iterable[tuple[int, Sighting]]) -> None:
    """Replace what a stored article says; `named` are its sightings with each indicator's `seq`."""
    forget(connection, article.id)
    (source,) = connection.execute("SELECT counted_source FROM articles WHERE id = ?", (article.id,)).fetchone()
    seen_at, domain = to_milliseconds(article.seen_at), domain_of(article.url)
    mentions, every = [], [*named]
    for _, sighting in every:
        if sighting.type in SUBJECTS:
            said = said_in(article.findings, sighting.type, sighting.value)
            mention = (sighting.type, sighting.value, seen_at, article.id, source, said.level, said.score, domain)
            mentions.append(mention)
    connection.executemany(_ADD_MENTION, mentions)
    connection.execute(_NOTE_SUBJECTS, (article.id,))
    connection.executemany(_ADD_OBSERVABLES, _named(article.id, every))


def forget(connection: sqlite3.Connection, article_id: str) -> None:
    """Delete what an article said."""
    connection.execute("DELETE FROM mentions WHERE article_id = ?", (article_id,))
    connection.execute("DELETE FROM article_observables WHERE article_id = ?", (article_id,))


def count_copy(connection: sqlite3.Connection, seq: int, source: str) -> None:
    """Let an article, by its `seq`, count for that source."""
    connection.execute(_COUNT_COPY, (source, seq))
    connection.execute(_NOTE_SUBJECTS_OF, (seq,))


def derive_named(connection: sqlite3.Connection, stored: Collection[int]) -> None:
    """Write when stored indicators, which are derived already or gone, were first named near a malware."""
    if stored:
        connection.executemany("DELETE FROM named_near WHERE seq = ?", ((seq,) for seq in stored))
        note(connection, stored)
        connection.execute(_DERIVE_NAMED, (_MILLISECONDS,))
        connection.execute(_COUNT_DERIVED)


def name_more(connection: sqlite3.Connection, sighted: Mapping[int, tuple[int, Sequence[Sighted]]]) -> None:
    """Do as `derive_named` for stored observables to which sightings came and nothing else changed: by `seq` when each
    was first seen, and these sightings. What is written says all of the others that counts.
    """
    if not sighted:
        return
    note(connection, sighted)
    written: dict[int, dict[str, tuple[int, int]]] = defaultdict(dict)
    for seq, name, named_at, first_seen in connection.execute(_NAMED_NEAR):
        written[seq][name] = named_at, first_seen
    gone: list[tuple[int, str]] = []
    rows: list[tuple[int, str, int, int]] = []
    names_in = lru_cache(maxsize=64)(json.loads)
    for seq, (first_seen, more) in sighted.items():
        before = written[seq]
        named = {name: named_at for name, (named_at, _) in before.items()}
        for one in more:
            for name in names_in(one.malware):
                named[name] = min(named.get(name, -one.newest_first), -one.newest_first)
        after = {name: (at, first_seen) for name, at in named.items() if at < first_seen + _MILLISECONDS}
        gone += [(seq, name) for name, row in before.items() if after.get(name) != row]
        rows += [(seq, name, *row) for name, row in after.items() if before.get(name) != row]
    connection.executemany("DELETE FROM named_near WHERE seq = ? AND malware = ?", gone)
    connection.executemany(_ADD_NAMED, rows)
    counts = Counter((first_seen, named_at, name) for _, name, named_at, first_seen in rows)
    connection.executemany(_COUNT_NAMED, ((*key, count) for key, count in counts.items()))


def name_new(
    connection: sqlite3.Connection, sighted: Iterable[tuple[int, Sequence[Sighted]]], alike: Iterable[Alike]
) -> None:
    """Do as `derive_named` for new observables: by `seq` with all their sightings, and all that are alike."""
    rows: list[tuple[int, str, int, int]] = []
    counts: Counter[tuple[int, int, str]] = Counter()
    names_in = lru_cache(maxsize=64)(json.loads)
    for seq, sightings in sighted:
        first_seen = min(-one.newest_first for one in sightings)
        named: dict[str, int] = {}
        for one in sightings:
            for name in names_in(one.malware):
                named[name] = min(named.get(name, -one.newest_first), -one.newest_first)
        for name, named_at in named.items():
            if named_at < first_seen + _MILLISECONDS:
                rows.append((seq, name, named_at, first_seen))
                counts[first_seen, named_at, name] += 1
    for each in alike:
        first_seen = each.seen.said.first_seen
        observables = [member.seq for member in each.members if member.named.type not in SUBJECTS]
        for name in names_in(each.seen.said.malware) if observables else ():
            rows += [(seq, name, first_seen, first_seen) for seq in observables]
            counts[first_seen, first_seen, name] += len(observables)
    connection.executemany(_ADD_NAMED, rows)
    connection.executemany(_COUNT_NAMED, ((*key, count) for key, count in counts.items()))


def _named(article_id: str, named: Iterable[tuple[int, Sighting]]) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield what an article names: its observables, and the observables and subjects near each malware."""
    by_name: dict[str, list[tuple[int, Sighting]]] = defaultdict(list)
    beside: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for seq, sighting in named:
        near = dict.fromkeys(sighting.malware)
        if sighting.type not in SUBJECTS:
            for name in ("", *near):
                by_name[name].append((seq, sighting))
        elif sighting.type != "malware":
            for name in near:
                beside[name].append((sighting.type, sighting.value))
    for name in by_name | beside:
        found = by_name[name]
        first = nsmallest(MOST_RELATED, ((sighting.type, sighting.value) for _, sighting in found))
        yield article_id, name, to_json([seq for seq, _ in found]), to_json(first), to_json(beside[name])


def _run(row: sqlite3.Row) -> Run:
    type, value, source, level, score, first, last = row
    return Run(type, value, source, level, score, from_milliseconds(first), from_milliseconds(last))


def _told(connection: sqlite3.Connection, asked: Asked) -> Told | None:
    span = (asked.type, asked.value, to_milliseconds(asked.after), to_milliseconds(asked.until))
    articles, first, last = connection.execute(_COUNT, span).fetchone()
    seen = connection.execute(_FIRST_SEEN, (id_bytes(ioc_id(asked.type, asked.value)),)).fetchone()
    if not articles or seen is None:
        return None
    said = connection.execute(_SAID, span).fetchall() if asked.type == "cve" else []
    return Told(
        from_milliseconds(seen[0]),
        articles,
        from_milliseconds(first),
        from_milliseconds(last),
        tuple(id for (id,) in connection.execute(_NEWEST, (*span, NEWEST_MENTIONS))),
        tuple(domain for (domain,) in connection.execute(_DOMAINS, (*span, MOST_DOMAINS))),
        # The newest stands last.
        {row["level"]: row["article_id"] for row in said if row["level"] is not None},
        {row["score"]: row["article_id"] for row in said if row["score"] is not None},
    )


def _beside_all(connection: sqlite3.Connection, asked: Sequence[tuple[Sequence[str], str | None]]) -> Iterator[Beside]:
    articles = to_json(list(dict.fromkeys(id for ids, _ in asked for id in ids)))
    named: dict[str, list[str]] = defaultdict(list)
    for id, value in connection.execute(_TECHNIQUES, (articles,)):
        named[id].append(value)
    for ids, malware in asked:
        rows = connection.execute(_OBSERVABLES, (to_json(list(ids)), malware or "")).fetchall()
        techniques = Counter(value for id in ids for value in named[id])
        yield Beside(tuple(_related(connection, rows)), techniques)


def _related(connection: sqlite3.Connection, articles: Sequence[sqlite3.Row]) -> list[tuple[str, str]]:
    """Return the indicators that most of these articles name, equally many by type and value.

    What only one article names is counted by nobody: of it, the first ones of each article are enough.
    """
    counted: Counter[int] = Counter()
    for row in articles:
        counted.update(json.loads(row["seqs"]))
    several = {seq: count for seq, count in counted.items() if count > 1}
    values = {row["seq"]: (row["type"], row["value"]) for row in connection.execute(_VALUES, (to_json(list(several)),))}
    ranked = nsmallest(MOST_RELATED, ((-count, values[seq]) for seq, count in several.items()))
    found = [indicator for _, indicator in ranked]
    ones = {tuple(each) for row in articles for each in json.loads(row["first_20"])} - set(values.values())
    return found + nsmallest(MOST_RELATED - len(found), ones)


_IN_SPAN = "type = ? AND value = ? AND seen_at > ? AND seen_at <= ?"
_OF_RUNS = """
    SELECT m.type, m.value, m.source, m.level, m.score, min(m.seen_at), max(m.seen_at) FROM {}
    WHERE m.seen_at BETWEEN :start AND :until
    GROUP BY m.type, m.value, m.source, m.level, m.score, m.seen_at / :length
"""
_RUNS = _OF_RUNS.format("mentions AS m")
_NOTABLE_RUNS = f"""
    WITH wanted (type, value) AS (
        SELECT type, value FROM notable_subjects WHERE last_seen >= :start
        UNION SELECT 'cve', value FROM json_each(:cves)
    )
    {_OF_RUNS.format("wanted CROSS JOIN mentions AS m ON m.type = wanted.type AND m.value = wanted.value")}
"""
_NEWLY_NAMED = """
    SELECT malware, named_at, first_seen, iocs FROM newly_named WHERE first_seen >= ? AND named_at <= ?
"""
_COUNT = f"SELECT count(*), min(seen_at), max(seen_at) FROM mentions WHERE {_IN_SPAN}"
_FIRST_SEEN = "SELECT first_seen FROM iocs WHERE id = ?"
_NEWEST = f"SELECT article_id FROM mentions WHERE {_IN_SPAN} ORDER BY seen_at DESC, article_id DESC LIMIT ?"
_DOMAINS = f"SELECT DISTINCT domain FROM mentions WHERE {_IN_SPAN} AND domain IS NOT NULL ORDER BY domain LIMIT ?"
_SAID = f"""
    SELECT level, score, article_id FROM mentions
    WHERE {_IN_SPAN} AND (level IS NOT NULL OR score IS NOT NULL) ORDER BY seen_at, article_id
"""
_TECHNIQUES = """
    SELECT m.article_id, m.value FROM json_each(?) AS wanted
    CROSS JOIN mentions AS m ON m.article_id = wanted.value AND m.type = 'mitre_attack'
"""
_OBSERVABLES = """
    SELECT o.seqs, o.first_20 FROM json_each(?) AS wanted
    CROSS JOIN article_observables AS o ON o.article_id = wanted.value AND o.malware = ?
"""
_VALUES = "SELECT i.seq, i.type, i.value FROM json_each(?) AS wanted CROSS JOIN iocs AS i ON i.seq = wanted.value"
_ADD_MENTION = """
    INSERT INTO mentions (type, value, seen_at, article_id, source, level, score, domain)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_ADD_OBSERVABLES = """
    INSERT INTO article_observables (article_id, malware, seqs, first_20, subjects) VALUES (?, ?, ?, ?, ?)
"""
_COUNT_COPY = "UPDATE mentions SET source = ? WHERE article_id = (SELECT id FROM articles WHERE seq = ?)"
_NOTE_SUBJECTS = """
    INSERT INTO notable_subjects (type, value, last_seen)
    SELECT type, value, (SELECT max(seen_at) FROM mentions AS o WHERE o.type = m.type AND o.value = m.value)
    FROM mentions AS m
    WHERE m.article_id = ? AND (
        m.level IS NOT NULL
        OR EXISTS (SELECT 1 FROM mentions AS o WHERE o.type = m.type AND o.value = m.value AND o.source < m.source)
        OR EXISTS (SELECT 1 FROM mentions AS o WHERE o.type = m.type AND o.value = m.value AND o.source > m.source)
        OR EXISTS (SELECT 1 FROM notable_subjects AS n WHERE n.type = m.type AND n.value = m.value)
    )
    ON CONFLICT DO UPDATE SET last_seen = max(last_seen, excluded.last_seen)
"""
_NOTE_SUBJECTS_OF = _NOTE_SUBJECTS.replace("= ?", "= (SELECT id FROM articles WHERE seq = ?)")
_NAMED_NEAR = """
    SELECT n.seq, n.malware, n.named_at, n.first_seen
    FROM noted CROSS JOIN named_near AS n ON n.seq = noted.seq
"""
_ADD_NAMED = "INSERT INTO named_near (seq, malware, named_at, first_seen) VALUES (?, ?, ?, ?)"
_COUNT_NAMED = """
    INSERT INTO newly_named (first_seen, named_at, malware, iocs) VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET iocs = iocs + excluded.iocs
"""
_COUNT_DERIVED = """
    INSERT INTO newly_named (first_seen, named_at, malware, iocs)
    SELECT n.first_seen, n.named_at, n.malware, count(*)
    FROM noted CROSS JOIN named_near AS n ON n.seq = noted.seq GROUP BY n.first_seen, n.named_at, n.malware
    ON CONFLICT DO UPDATE SET iocs = iocs + excluded.iocs
"""
_DERIVE_NAMED = f"""
    INSERT INTO named_near (seq, malware, named_at, first_seen)
    SELECT i.seq, near.value, -max(s.newest_first), i.first_seen
    FROM noted CROSS JOIN sightings AS s INDEXED BY sightings_near ON s.ioc_seq = noted.seq
    CROSS JOIN iocs AS i ON i.seq = noted.seq CROSS JOIN json_each(s.malware) AS near
    WHERE s.malware <> '[]' AND i.type IN ({", ".join(f"'{type}'" for type in OBSERVABLES)})
    GROUP BY i.seq, near.value HAVING -max(s.newest_first) < i.first_seen + ?
"""
