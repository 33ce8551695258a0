"""What is derived from sightings: always computed anew from all of an indicator's sightings, never counted up.

What each indicator was stands beside it while its sightings change: one that says something else afterwards has
changed, and what follows from it (words, lists of sources, numbers) is written where it differs.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable
from functools import lru_cache
from operator import itemgetter
from typing import Final, NamedTuple

import orjson

from intel.records import NEWEST_ARTICLES
from intel.store.sqlite import subjects
from intel.store.sqlite.alike import Alike, Counts, Named, part
from intel.store.sqlite.changes import take_numbers
from intel.store.sqlite.facet_keys import FIRST, FURTHER, NO_KEY, ONLY, key_of, key_of_several, write_keys
from intel.store.sqlite.kinds import kind_of, week_of
from intel.store.sqlite.matching import ip_bytes
from intel.store.sqlite.rows import ID_BYTES
from intel.store.sqlite.seen import SAID, Kept, Said, Seen, Sighted, Sightings, note
from intel.store.sqlite.word_index import Words, write_words
from intel.store.subjects import SUBJECTS

_NO_NAMES: Final = "[]"
# Of what more articles name, not all sightings are read each time that another one does.
_FEW: Final = NEWEST_ARTICLES
_TYPES_OF_KEYS: Final = ("ip", "malware")
_NO_KEYS: Final = (None, None)
_FIRST: Final = itemgetter(0)


class Stored(NamedTuple):
    """An indicator as it was noted: what it said, and what followed from that."""

    named: Named
    last_seen: int
    said: Said
    seen: Seen | None
    source_seqs: frozenset[int]


class Derivation:
    """The indicators that one transaction touches: noted before their sightings or articles change, then derived."""

    def __init__(self, connection: sqlite3.Connection, *, adds_only: bool = False) -> None:
        """`adds_only`: all that changes is that articles come in which were not stored; of what very many name, most
        sightings are then never read.
        """
        self._connection = connection
        self._adds_only = adds_only
        self._stored: dict[int, Stored] = {}
        self._kept: dict[int, Kept] = {}
        self._new: dict[int, Named] = {}
        self._sighted: dict[int, list[Sighted]] = {}
        self._added: dict[int, list[Sighted]] = {}
        self._articles: set[int] = set()
        self._alike: list[Alike] = []
        self._warned: set[bytes] = set()

    def name(self, named: Iterable[Named], warned: Collection[bytes] = ()) -> dict[bytes, int]:
        """Return the `seq` of each of these indicators by its id, and note them; new ones are made by `derive`.

        The ids `warned` stand on a warning list: new ones are marked so, others are as they were marked before.
        """
        self._warned.update(warned)
        wanted = {one.id: one for one in named}
        # In order, so that neighbours are found in one page.
        places = orjson.dumps([*range(1, ID_BYTES * len(wanted), ID_BYTES)]).decode()
        asked = (places, b"".join(sorted(wanted)), ID_BYTES)
        seqs: dict[bytes, int] = dict(map(tuple, self._connection.execute(_KNOWN, asked)))
        self.note(list(seqs.values()))
        seqs.update({one.id: seq for seq, one in self._new.items() if one.id in wanted})
        (last,) = self._connection.execute("SELECT coalesce(max(seq), 0) FROM iocs").fetchone()
        next = max(last, max(self._new, default=0)) + 1
        # In the order of indexes, whose pages then fill better: most begin with a type or a time, and end with the id.
        new = sorted((one.type, id) for id, one in wanted.items() if id not in seqs)
        for seq, (_, id) in enumerate(new, start=next):
            seqs[id] = seq
            self._new[seq] = wanted[id]
        return seqs

    def sighted(self, sightings: Iterable[tuple[int, Sighted]]) -> None:
        """Note sightings of named indicators; of new ones those are all that there are, and none is read again."""
        new, noted = self._new, self._sighted
        for seq, sighting in sightings:
            if seq in new:
                if seq in noted:
                    noted[seq].append(sighting)
                else:
                    noted[seq] = [sighting]
            elif self._adds_only:
                self._added.setdefault(seq, []).append(sighting)

    def note(self, seqs: Iterable[int]) -> None:
        """Note stored indicators; to be called before their sightings or articles change."""
        unknown = sorted(seq for seq in set(seqs) if seq not in self._stored and seq not in self._new)
        if not unknown:
            return
        note(self._connection, unknown)
        sources: dict[int, set[int]] = {}
        for seq, source in self._connection.execute(_SOURCES):
            sources.setdefault(seq, set()).add(source)
        rows = self._connection.execute(_STORED).fetchall()
        many = {row["seq"] for row in rows if self._adds_only and row["sightings"] > _FEW}
        sightings = Sightings(self._connection)
        seen = sightings.of({row["seq"]: row["sightings"] for row in rows if row["seq"] not in many})
        for row in rows:
            seq, id, type, value, last_seen, *said = row
            of_sources = frozenset(sources.get(seq, ()))
            if seq in many:
                self._kept[seq] = sightings.kept(seq, Said(*said), of_sources)
                seen[seq] = self._kept[seq].seen
            self._stored[seq] = Stored(Named(id, type, value), last_seen, Said(*said), seen.get(seq), of_sources)

    def note_article(self, seq: int) -> None:
        """Note the indicators of an article that is stored."""
        self._adds_only = False
        self.note(ioc for (ioc,) in self._connection.execute(_OF_ARTICLE, (seq,)))

    def add_article(self, seq: int) -> None:
        """Note that an article is new, whose sightings follow."""
        self._articles.add(seq)

    def count_cluster(self, cluster_id: str) -> None:
        """Let every article of a cluster count for the source of the earliest one."""
        first = self._connection.execute(_FIRST_OF_CLUSTER, (cluster_id,)).fetchone()
        if first is None:
            return
        copies = self._connection.execute(_OTHERWISE_COUNTED, (cluster_id, first["source"])).fetchall()
        for (seq,) in copies:
            if seq not in self._articles:
                self.note_article(seq)
            self._connection.execute("UPDATE articles SET counted_source = ? WHERE seq = ?", (first["source"], seq))
            subjects.count_copy(self._connection, seq, first["source"])

    def derive(self, moment: int, *, rewrite: bool = False) -> tuple[bytes, ...]:
        """Bring every noted indicator in line with its sightings, and number what changed; return the ids of those that
        are gone, for an indicator without sightings goes.

        `moment` is that of `next_moment`. What follows from indicators is written only where it differs, unless
        `rewrite`.
        """
        sightings = Sightings(self._connection)
        kept = self._kept if self._adds_only else {}
        seen = sightings.of(
            {seq: one.seen.said.sightings if one.seen else 0 for seq, one in self._stored.items() if seq not in kept}
        )
        seen.update((seq, sightings.with_more(seq, one, self._added[seq])) for seq, one in kept.items())
        several, self._alike = part(self._sighted, self._new, sightings)
        seen.update(several)
        every = sorted([*self._stored, *several])
        self._write_records(seen, moment)
        self._write_sources(every, seen, rewrite)
        self._write_malware(every, seen, rewrite)
        self._write_words(every, seen)
        self._write_counts(every, seen)
        self._write_weeks(every, seen, rewrite)
        if self._adds_only:
            subjects.name_more(self._connection, self._named_again(seen))
        else:
            subjects.derive_named(self._connection, self._stored)
        subjects.name_new(
            self._connection,
            ((seq, self._sighted[seq]) for seq in several if self._new[seq].type not in SUBJECTS),
            self._alike,
        )
        return tuple(stored.named.id for seq, stored in self._stored.items() if seq not in seen)

    def _named_again(self, seen: dict[int, Seen]) -> dict[int, tuple[int, list[Sighted]]]:
        """Return when stored observables were first seen, with the sightings that come to those that there were."""
        return {
            seq: (seen[seq].said.first_seen, self._added[seq])
            for seq, stored in self._stored.items()
            if stored.named.type not in SUBJECTS
        }

    def _named(self, seq: int) -> Named:
        return self._new[seq] if seq in self._new else self._stored[seq].named

    def _write_records(self, seen: dict[int, Seen], moment: int) -> None:
        added = [seq for seq in self._new if seq in seen]
        alone = {member.seq: member.named.id for alike in self._alike for member in alike.members}
        gone = [seq for seq in self._stored if seq not in seen]
        kept = [seq for seq, stored in self._stored.items() if seq in seen and stored.said != seen[seq].said]
        different = [(self._named(seq).id, seq) for seq in (*added, *gone, *kept)]
        different += [(id, seq) for seq, id in alone.items()]
        different.sort()
        if not different:
            return
        taken = take_numbers(self._connection, len(different), moment)
        places = {seq: place for place, (_, seq) in zip(taken, different, strict=True)}
        write = self._connection.executemany
        write(_REMOVED, ((*self._stored[seq].named, *places[seq]) for seq in gone))
        write("DELETE FROM iocs WHERE seq = ?", ((seq,) for seq in gone))
        write("DELETE FROM ioc_tags WHERE ioc_seq = ?", ((seq,) for seq in gone))
        if self._connection.execute("SELECT 1 FROM removed_iocs LIMIT 1").fetchone():
            write("DELETE FROM removed_iocs WHERE id = ?", ((self._new[seq].id,) for seq in (*added, *alone)))
        rows = [self._row(seq, self._new[seq], _derived(seen[seq]), *places[seq]) for seq in added]
        for alike in self._alike:
            for member, record in alike.records():
                rows.append(self._row(member.seq, member.named, record, *places[member.seq]))
        rows.sort(key=_FIRST)
        write(_ADD, rows)
        write(_CHANGE, ((*_derived(seen[seq]), *places[seq], seq) for seq in kept))

    def _write_sources(self, every: Iterable[int], seen: dict[int, Seen], rewrite: bool) -> None:
        gone, sources, lists, keys = [], [], [], dict[int, int]()
        for seq in every:
            before, after = self._stored.get(seq), seen.get(seq)
            was = (before.source_seqs, before.last_seen) if before else (frozenset[int](), 0)
            now = (after.source_seqs, after.last_seen) if after else (frozenset[int](), 0)
            if was == now and not rewrite:
                continue
            named = self._named(seq)
            gone += [(source, -was[1], named.id) for source in was[0]]
            keys[seq] = NO_KEY
            if now[0]:
                kind, shared = kind_of(named.type, now[1]), _shared(now[0])
                sources += [(seq, source, how, kind) for source, how in shared]
                keys[seq] = key_of(*shared[0], kind) if len(shared) == 1 else key_of_several(kind)
            lists += [(source, -now[1], named.id, named.type, seq) for source in now[0]]
            if before:
                self._connection.execute("DELETE FROM ioc_sources WHERE ioc_seq = ?", (seq,))
        for alike in self._alike:
            for (seq, named, _), source, how, kind, keys[seq] in alike.sources():
                sources.append((seq, source, how, kind))
                lists.append((source, -alike.seen.last_seen, named.id, named.type, seq))
        sources.sort()
        self._connection.executemany(_UNLIST, gone)
        self._connection.executemany("INSERT INTO ioc_sources VALUES (?, ?, ?, ?)", sources)
        self._connection.executemany("REPLACE INTO source_lists VALUES (?, ?, ?, ?, ?)", lists)
        write_keys(self._connection, keys)

    def _row(self, seq: int, named: Named, derived: tuple[object, ...], number: int, at: int) -> tuple[object, ...]:
        """Return a new indicator's row."""
        keys = search_keys(named.type, named.value) if named.type in _TYPES_OF_KEYS else _NO_KEYS
        return (seq, *named, *keys, *derived, at, number, at, number, named.id in self._warned)

    def _write_malware(self, every: Iterable[int], seen: dict[int, Seen], rewrite: bool) -> None:
        gone: list[tuple[str, int, bytes]] = []
        lists: list[tuple[str, int, bytes, int]] = []
        for seq in every:
            before, after = self._stored.get(seq), seen.get(seq)
            was = (before.said.malware, before.last_seen) if before else (_NO_NAMES, 0)
            now = (after.said.malware, after.last_seen) if after else (_NO_NAMES, 0)
            if was == now and not rewrite:
                continue
            id = self._named(seq).id
            gone += [(name, -was[1], id) for name in _folded(was[0])]
            lists += [(name, -now[1], id, seq) for name in _folded(now[0])]
        for alike in self._alike:
            for name in _folded(alike.seen.said.malware):
                lists += [(name, -alike.seen.last_seen, named.id, seq) for seq, named, _ in alike.members]
        self._connection.executemany(_UNLIST_MALWARE, gone)
        names = {name for name, *_ in lists}
        self._connection.executemany("INSERT OR IGNORE INTO malware_names (name) VALUES (?)", ((n,) for n in names))
        seqs = dict(map(tuple, self._connection.execute(_MALWARE_SEQS, (orjson.dumps([*names]).decode(),))))
        self._connection.executemany(_LIST_MALWARE, ((seqs[name], *listed) for name, *listed in lists))

    def _write_words(self, every: Iterable[int], seen: dict[int, Seen]) -> None:
        different = []
        for seq in every:
            stored = self._stored.get(seq)
            before = stored.seen.words if stored and stored.seen else None
            after = seen[seq].words if seq in seen else None
            if before != after:
                _, type, value = self._named(seq)
                different.append(Words(seq, type, value, before, after))
        for alike in self._alike:
            words = alike.seen.words
            different += [Words(seq, named.type, named.value, None, words) for seq, named, _ in alike.members]
        different.sort(key=_FIRST)
        write_words(self._connection, different)

    def _write_counts(self, every: Iterable[int], seen: dict[int, Seen]) -> None:
        of_all, of_source, of_week = Counts(), Counts(), Counts()
        for seq in every:
            type, before, after = self._named(seq).type, self._stored.get(seq), seen.get(seq)
            if before and after and (before.last_seen, before.source_seqs) == (after.last_seen, after.source_seqs):
                continue
            for state, step in ((before, -1), (after, 1)):
                if state:
                    week = week_of(state.last_seen)
                    of_all[type, week] += step
                    for source in state.source_seqs:
                        of_source[source, type] += step
                        of_week[source, type, week] += step
        for alike in self._alike:
            alike.add_to_counts(of_all, of_source, of_week)
        for table, counts in (("ioc_counts", of_all), ("source_counts", of_source), ("source_weeks", of_week)):
            self._connection.executemany(_COUNT[table], ((*key, count) for key, count in counts.items() if count))
            if min(counts.values(), default=0) < 0:
                self._connection.execute(f"DELETE FROM {table} WHERE iocs = 0")

    def _write_weeks(self, every: Iterable[int], seen: dict[int, Seen], rewrite: bool) -> None:
        """Write in which weeks observables were named; what subjects come to follows from what articles say of them."""
        counts, new, shared, rows = Counts(), Counts(), [], []
        for seq in every:
            type, stored, after = self._named(seq).type, self._stored.get(seq), seen.get(seq)
            before = stored.seen if stored else None
            if type in SUBJECTS or (_weeks(before) == _weeks(after) and not rewrite):
                continue
            for state, step in ((before, -1), (after, 1)):
                if state:
                    new[week_of(state.said.first_seen), type] += step
                    for week in state.weeks:
                        counts[week.week, type] += step
            if before and (before.said.sightings > 1 or rewrite):
                shared.append((seq,))
            if after and after.said.sightings > 1:
                rows += [(seq, *week, after.said.first_seen) for week in after.weeks]
        for alike in self._alike:
            alike.add_to_weeks(counts, new)
        self._connection.executemany("DELETE FROM week_iocs WHERE ioc_seq = ?", shared)
        self._connection.executemany(_ADD_WEEK, rows)
        both = ((*key, counts[key], new[key]) for key in counts.keys() | new.keys())
        self._connection.executemany(_COUNT_WEEK, (row for row in both if row[2] or row[3]))


def _weeks(seen: Seen | None) -> tuple[object, ...]:
    """Return what is written of an indicator's weeks."""
    return (seen.said.first_seen, seen.weeks) if seen else ()


@lru_cache(maxsize=64)
def _folded(malware: str) -> tuple[str, ...]:
    """Return the names of a record's malware, casefolded; indicators of one article mostly have the same."""
    return () if malware == _NO_NAMES else tuple(dict.fromkeys(name.casefold() for name in orjson.loads(malware)))


def search_keys(type: str, value: str) -> tuple[bytes | None, str | None]:
    """Return the bytes of an address, and the folded name of malware; None for what is neither."""
    return ip_bytes(value) if type == "ip" else None, value.casefold() if type == "malware" else None


@lru_cache(maxsize=1_024)
def _shared(source_seqs: frozenset[int]) -> tuple[tuple[int, int], ...]:
    """Return each source with how far it shares an indicator with others; many indicators have the same ones."""
    if len(source_seqs) == 1:
        return tuple((source, ONLY) for source in source_seqs)
    return tuple((source, FURTHER if place else FIRST) for place, source in enumerate(sorted(source_seqs)))


def _derived(seen: Seen) -> tuple[object, ...]:
    said = seen.said
    return (
        said.first_seen, said.last_seen, said.sightings, said.sources, said.article_seq, said.malware, said.context,
        said.tlp,
    )  # fmt: skip


# CROSS JOIN keeps the engine from beginning with the larger table.
_KNOWN = """
    SELECT i.id, i.seq FROM json_each(?1) AS place CROSS JOIN iocs AS i ON i.id = substr(?2, place.value, ?3)
"""
_SOURCES = """
    SELECT s.ioc_seq, s.source_seq FROM noted CROSS JOIN ioc_sources AS s ON s.ioc_seq = noted.seq
"""
_STORED = f"""
    SELECT i.seq, i.id, i.type, i.value, i.last_seen, {SAID}
    FROM noted CROSS JOIN iocs AS i ON i.seq = noted.seq CROSS JOIN articles AS a ON a.seq = i.article_seq
"""
_OF_ARTICLE = "SELECT ioc_seq FROM sightings INDEXED BY sightings_of_article WHERE article_seq = ?"
_FIRST_OF_CLUSTER = """
    SELECT coalesce(source_domain, source_name) AS source FROM articles
    WHERE cluster_id = ? ORDER BY seen_at, id LIMIT 1
"""
_OTHERWISE_COUNTED = "SELECT seq FROM articles WHERE cluster_id = ? AND counted_source <> ?"
_REMOVED = """
    REPLACE INTO removed_iocs (id, type, value, change_number, changed_at, added_at)
    VALUES (?1, ?2, ?3, ?4, ?5, (SELECT added_at FROM iocs WHERE id = ?1))
"""
_ADD = """
    INSERT INTO iocs (
        seq, id, type, value, ip, name, first_seen, last_seen, sightings, sources, article_seq, malware, context,
        tlp, added_at, added_number, changed_at, change_number, warned
    ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_CHANGE = """
    UPDATE iocs SET
        first_seen = ?, last_seen = ?, sightings = ?, sources = ?, article_seq = ?, malware = ?, context = ?,
        tlp = ?, change_number = ?, changed_at = ?
    WHERE seq = ?
"""
_UNLIST = "DELETE FROM source_lists WHERE source_seq = ? AND newest_first = ? AND id = ?"
_UNLIST_MALWARE = """
    DELETE FROM malware_lists
    WHERE malware_seq = (SELECT seq FROM malware_names WHERE name = ?) AND newest_first = ? AND id = ?
"""
_MALWARE_SEQS = "SELECT name, seq FROM malware_names WHERE name IN (SELECT value FROM json_each(?))"
_LIST_MALWARE = "REPLACE INTO malware_lists (malware_seq, newest_first, id, ioc_seq) VALUES (?, ?, ?, ?)"
_ADD_WEEK = "INSERT INTO week_iocs (ioc_seq, week, articles, sources, first_seen) VALUES (?, ?, ?, ?, ?)"
_COUNT_WEEK = """
    INSERT INTO week_counts (week, type, iocs, new_iocs) VALUES (?, ?, ?, ?)
    ON CONFLICT (week, type) DO UPDATE SET iocs = iocs + excluded.iocs, new_iocs = new_iocs + excluded.new_iocs
"""
_COUNT = {
    "ioc_counts": """
        INSERT INTO ioc_counts (type, week, iocs) VALUES (?, ?, ?)
        ON CONFLICT (type, week) DO UPDATE SET iocs = iocs + excluded.iocs
    """,
    "source_counts": """
        INSERT INTO source_counts (source_seq, type, iocs) VALUES (?, ?, ?)
        ON CONFLICT (source_seq, type) DO UPDATE SET iocs = iocs + excluded.iocs
    """,
    "source_weeks": """
        INSERT INTO source_weeks (source_seq, type, week, iocs) VALUES (?, ?, ?, ?)
        ON CONFLICT (source_seq, type, week) DO UPDATE SET iocs = iocs + excluded.iocs
    """,
}
