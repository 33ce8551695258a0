"""All records of the file, read from one state of it, and written into an empty one."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from intel.audit import AuditEntry
from intel.feedback import Feedback
from intel.notes import Note
from intel.records import Account, ApiKey, Catalogue, Feed, Session, Submission, Vote, Week
from intel.saved_searches import Delivery, SavedSearch
from intel.store.copying import (
    Address,
    BlockedDomain,
    CataloguePart,
    FirstAdministrator,
    IocChange,
    KeptFile,
    Ledger,
    Records,
    SourceTrust,
)
from intel.store.marks import Marks
from intel.store.port import Articles, Entry
from intel.store.sqlite.changes import next_moment, take_numbers
from intel.store.sqlite.connection import ROWS_AT_ONCE, Database, connect, engine_errors
from intel.store.sqlite.readings import reading_record, reading_row
from intel.store.sqlite.rows import (
    ARTICLES_WITH_TEXT,
    article_with_text,
    from_row,
    id_bytes,
    id_text,
    sightings_of,
    to_row,
)
from intel.store.sqlite.tags import COUNT_TAGGED, read_tagged, write_tagged
from intel.times import from_milliseconds

# What the copy derives anew from the records of the parts; virtual tables bring tables of their own name.
DERIVED_TABLES = frozenset(
    {
        "article_days", "article_observables", "malware_lists", "malware_names", "submission_counts", "warned_basis",
        "article_tags", "article_texts", "article_words", "ioc_tags", "iocs", "ioc_counts", "ioc_sources", "ioc_words",
        "mentions", "named_near", "newly_named", "rebuilding", "rebuilding_articles", "removed_iocs", "save_numbers",
        "sightings", "facet_keys", "notable_subjects", "source_counts", "source_lists", "source_weeks", "sources",
        "week_counts", "week_iocs",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Table:
    """A table whose rows are the records of a part."""

    name: str
    record: Callable[[sqlite3.Row], Any]
    row: Callable[[Any], dict[str, Any]] = to_row

    def read(self, connection: sqlite3.Connection) -> Iterator[Any]:
        return map(self.record, connection.execute(f"SELECT * FROM {self.name}"))

    def write(self, connection: sqlite3.Connection, records: Sequence[Any]) -> None:
        rows = [self.row(record) for record in records]
        columns = list(rows[0])
        values = ", ".join(f":{column}" for column in columns)
        connection.executemany(f"REPLACE INTO {self.name} ({', '.join(columns)}) VALUES ({values})", rows)


def _vote(row: sqlite3.Row) -> Vote:
    return from_row(Vote, {**dict(row), "ioc_id": id_text(row["ioc_id"])})


TABLES = {
    "first_administrator": _Table(
        "first_administrator", partial(from_row, FirstAdministrator), lambda one: {"singleton": 1, **to_row(one)}
    ),
    "accounts": _Table("accounts", partial(from_row, Account)),
    "keys": _Table("keys", partial(from_row, ApiKey)),
    "sessions": _Table("sessions", partial(from_row, Session)),
    "audit": _Table("audit", partial(from_row, AuditEntry)),
    "blocked_domains": _Table("blocked_domains", partial(from_row, BlockedDomain)),
    "source_trust": _Table("source_trust", partial(from_row, SourceTrust)),
    "feedback": _Table("feedback", partial(from_row, Feedback)),
    "notes": _Table("notes", partial(from_row, Note)),
    "feeds": _Table("feeds", partial(from_row, Feed)),
    "catalogues": _Table("catalogues", partial(from_row, Catalogue)),
    "catalogue_parts": _Table("catalogue_parts", partial(from_row, CataloguePart)),
    "ledger": _Table("newest_change", partial(from_row, Ledger), lambda one: {"only": 1, **to_row(one)}),
    "readings": _Table("readings", reading_record, reading_row),
    "files": _Table("files", partial(from_row, KeptFile)),
    "searches": _Table("searches", partial(from_row, SavedSearch)),
    "deliveries": _Table("deliveries", partial(from_row, Delivery)),
    "submissions": _Table("submissions", partial(from_row, Submission)),
    "votes": _Table("votes", _vote, lambda vote: to_row(vote) | {"ioc_id": id_bytes(vote.ioc_id)}),
    "weeks": _Table("weeks", partial(from_row, Week)),
}


def _read_articles(connection: sqlite3.Connection) -> Iterator[Entry]:
    for row in connection.execute(f"{ARTICLES_WITH_TEXT} ORDER BY save_number"):
        yield Entry(article_with_text(row), sightings_of(connection, row["seq"]))


def _read_addresses(connection: sqlite3.Connection) -> Iterator[Address]:
    rows = connection.execute("SELECT address, article_id FROM addresses ORDER BY address, claimed, article_id")
    for address, claims in groupby(rows, key=lambda row: str(row["address"])):
        yield Address(address, tuple(claim["article_id"] for claim in claims))


def _write_addresses(connection: sqlite3.Connection, records: Sequence[Address]) -> None:
    claims = [
        {"address": one.address, "article_id": id, "claimed": place}
        for one in records
        for place, id in enumerate(one.article_ids)
    ]
    connection.executemany(_ADD_ADDRESS, claims)


def _read_changes(connection: sqlite3.Connection) -> Iterator[IocChange]:
    for row in connection.execute(_CHANGES):
        added_at = row["added_at"]
        yield IocChange(
            id=id_text(row["id"]),
            type=row["type"],
            value=row["value"],
            number=row["change_number"],
            changed_at=from_milliseconds(row["changed_at"]),
            added_number=row["added_number"],
            added_at=None if added_at is None else from_milliseconds(added_at),
            removed=bool(row["removed"]),
        )


def _write_changes(connection: sqlite3.Connection, records: Sequence[IocChange]) -> None:
    """Write the numbers of changes; what waits for one keeps that which it took when its article was saved."""
    for one in records:
        row = to_row(one) | {"id": id_bytes(one.id)}
        if one.removed:
            if not one.number:
                [(row["number"], row["changed_at"])] = take_numbers(
                    connection, 1, next_moment(connection, row["changed_at"])
                )
            connection.execute(_PUT_REMOVED, row)
        else:
            connection.execute(_PUT_CHANGE if one.number else _PUT_TIMES, row)


READERS: dict[str, Callable[[sqlite3.Connection], Iterator[Any]]] = {
    **{part: table.read for part, table in TABLES.items()},
    "articles": _read_articles,
    "addresses": _read_addresses,
    "changes": _read_changes,
    "tags": read_tagged,
}
_WRITERS: dict[str, Callable[[sqlite3.Connection, Sequence[Any]], None]] = {
    **{part: table.write for part, table in TABLES.items()},
    "addresses": _write_addresses,
    "changes": _write_changes,
    "tags": write_tagged,
}
_COUNTED = {**{part: table.name for part, table in TABLES.items()}, "articles": "articles"}


class _State:
    """The file's records as one connection sees them from its first read on."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    async def count(self, part: str) -> int:
        sql = _COUNTS.get(part) or f"SELECT count(*) FROM {_COUNTED[part]}"
        (count,) = await asyncio.to_thread(lambda: self._connection.execute(sql).fetchone())
        return int(count)

    async def of(self, part: str) -> AsyncIterator[Any]:
        with engine_errors():
            records = READERS[part](self._connection)
            while batch := await asyncio.to_thread(lambda: list(islice(records, ROWS_AT_ONCE))):
                for record in batch:
                    yield record


class SqliteCopier:
    """`intel.store.copying.Copier` of one file."""

    def __init__(self, database: Database, articles: Articles, marks: Marks) -> None:
        self._database = database
        self._articles = articles
        self._marks = marks
        self._last_number = 0

    @asynccontextmanager
    async def state(self) -> AsyncIterator[Records]:
        with engine_errors(), closing(connect(self._database.path, mode="rw")) as connection:
            connection.execute("BEGIN")
            connection.execute("SELECT count(*) FROM newest_change").fetchone()  # from here on the state is held
            yield _State(connection)

    async def put(self, part: str, records: Sequence[Any]) -> None:
        if part == "articles":
            await self._articles.save_many(records)
        else:
            if part == "ledger":
                self._last_number = max(one.number for one in records)
            await self._database.write(lambda connection: _WRITERS[part](connection, records))

    async def finish(self) -> None:
        await self._database.write(lambda connection: connection.execute(_SET_LEDGER, (self._last_number,)))
        await self._marks.settle("")


def copy_file(source: Path, target: Path, progress: Callable[[int, int], None]) -> None:
    """Copy a store's file, as it is at one moment, over another one, or to where there is none; both may be in use.

    `progress` is told pages done and pages in all.
    """

    def told(_: int, remaining: int, total: int) -> None:
        progress(total - remaining, total)

    with engine_errors(), closing(connect(source, mode="rw")) as read, closing(connect(target, mode="rwc")) as written:
        read.execute("BEGIN")  # so that no writer makes the copying begin anew
        read.execute("SELECT count(*) FROM sqlite_master").fetchone()
        read.backup(written, pages=_PAGES_AT_ONCE, progress=told)
        read.execute("COMMIT")


def check_file(file: Path) -> bool:
    """Tell whether a store's file is sound."""
    with engine_errors(), closing(connect(file, mode="rw")) as connection:
        found: str = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        return found == "ok"


_PAGES_AT_ONCE = 2_000
_ADD_ADDRESS = """
    INSERT INTO addresses (address, article_id, claimed) SELECT :address, id, :claimed FROM articles
    WHERE id = :article_id ON CONFLICT DO NOTHING
"""
_CHANGES = """
    SELECT id, type, value, change_number, changed_at, added_number, added_at, 0 AS removed FROM iocs
    UNION ALL SELECT id, type, value, change_number, changed_at, 0, added_at, 1 FROM removed_iocs
"""
_PUT_CHANGE = """
    UPDATE iocs SET change_number = :number, changed_at = :changed_at, added_number = :added_number,
        added_at = :added_at
    WHERE id = :id
"""
_PUT_TIMES = """
    UPDATE iocs SET changed_at = :changed_at, added_at = coalesce(:added_at, added_at),
        added_number = CASE WHEN :added_number THEN :added_number ELSE added_number END
    WHERE id = :id
"""
_PUT_REMOVED = """
    INSERT INTO removed_iocs (id, type, value, changed_at, change_number, added_at)
    SELECT :id, :type, :value, :changed_at, :number, :added_at WHERE NOT EXISTS (SELECT 1 FROM iocs WHERE id = :id)
"""
# Numbers that were only taken while articles were saved again are free.
_SET_LEDGER = """
    UPDATE newest_change SET number = max(
        ?,
        (SELECT coalesce(max(change_number), 0) FROM iocs),
        (SELECT coalesce(max(change_number), 0) FROM removed_iocs)
    )
"""
_COUNTS = {
    "tags": COUNT_TAGGED,
    "addresses": "SELECT count(DISTINCT address) FROM addresses",
    "changes": "SELECT (SELECT count(*) FROM iocs) + (SELECT count(*) FROM removed_iocs)",
}
