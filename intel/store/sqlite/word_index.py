"""The words by which indicators are found.

The full-text table keeps no copy of them: to take an indicator out, its words are given once more as they went in.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from intel.store.sqlite.matching import host_column, value_column

_Row = tuple[str | None, int, str, str, str]


class Words(NamedTuple):
    """An indicator and the words of its newest articles, as they were and as they are; None where it is not indexed."""

    seq: int
    type: str
    value: str
    before: str | None
    after: str | None


def write_words(connection: sqlite3.Connection, different: Sequence[Words]) -> None:
    """Bring the index in line, and the one that is being built beside it as far as it has come; in order of `seq`."""
    connection.executemany(_WRITE.format("ioc_words"), _rows(different))
    rebuilding = connection.execute("SELECT seq FROM rebuilding").fetchone()
    if rebuilding:
        done = (words for words in different if words.seq <= rebuilding["seq"])
        connection.executemany(_WRITE.format("new_ioc_words"), _rows(done))


def begin_rebuilding(connection: sqlite3.Connection, run: str) -> None:
    """Make an empty index beside the one that is searched; one that somebody else is building is given up."""
    connection.execute("DROP TABLE IF EXISTS new_ioc_words")
    connection.execute("DROP TABLE IF EXISTS former_ioc_words")
    connection.execute(_NEW_INDEX)
    connection.execute("DELETE FROM rebuilding")
    connection.execute("INSERT INTO rebuilding (run, seq) VALUES (?, 0)", (run,))


def add_rebuilt(connection: sqlite3.Connection, run: str, words: Sequence[Words], seq: int) -> bool:
    """Add indicators to the index that is being built, up to `seq`; False where somebody else builds another one."""
    ours = connection.execute("UPDATE rebuilding SET seq = ? WHERE run = ?", (seq, run)).rowcount == 1
    if ours:
        connection.executemany(_WRITE.format("new_ioc_words"), _rows(words))
    return ours


def follow_writes(connection: sqlite3.Connection, run: str) -> None:
    """Let whatever is saved from now on go into the index that is being built too: it holds all that is stored."""
    connection.execute("UPDATE rebuilding SET seq = ? WHERE run = ?", (_BEYOND_ALL, run))


def merge_some(connection: sqlite3.Connection, run: str, *, first: bool) -> bool:
    """Merge a part of the index that is being built, whose many pieces slow searches down; False where all is done."""
    if not connection.execute("SELECT 1 FROM rebuilding WHERE run = ?", (run,)).fetchone():
        return False
    before = connection.total_changes
    # A negative number begins with all pieces, whatever their size.
    connection.execute(_MERGE, (-_PAGES_AT_ONCE if first else _PAGES_AT_ONCE,))
    return connection.total_changes - before > 1


def merge_all(connection: sqlite3.Connection) -> None:
    """Merge the pieces of the index that is searched, in one step."""
    connection.execute("INSERT INTO ioc_words (ioc_words) VALUES ('optimize')")


def end_rebuilding(connection: sqlite3.Connection, run: str) -> None:
    """Put the index that was built into the place of the one that is searched, which `drop_some` then drops."""
    if connection.execute("DELETE FROM rebuilding WHERE run = ?", (run,)).rowcount:
        connection.execute("ALTER TABLE ioc_words RENAME TO former_ioc_words")
        connection.execute("ALTER TABLE new_ioc_words RENAME TO ioc_words")


def drop_some(connection: sqlite3.Connection) -> bool:
    """Drop a part of the index that was searched before; False where all is done.

    Dropped at once, it would lie in memory whole.
    """
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'former_ioc_words'").fetchone():
        return False
    if not connection.execute(_DROP_SOME, (_PAGES_AT_ONCE,)).rowcount:
        connection.execute("DROP TABLE former_ioc_words")
    return True


def _rows(different: Iterable[Words]) -> Iterator[_Row]:
    for seq, type, value, before, after in different:
        words, hosts = value_column(type, value), host_column(type, value)
        if before is not None:
            yield "delete", seq, words, before, hosts
        if after is not None:
            yield None, seq, words, after, hosts


_PAGES_AT_ONCE = 1_000
_BEYOND_ALL = 2**62
# Its first rows, which say what it holds, are the last to go.
_DROP_SOME = """
    DELETE FROM former_ioc_words_data
    WHERE id IN (SELECT id FROM former_ioc_words_data WHERE id > 10 ORDER BY id DESC LIMIT ?)
"""
_MERGE = "INSERT INTO new_ioc_words (new_ioc_words, rank) VALUES ('merge', ?)"
# A command of the table's own name, or none, tells what is done with a row.
_WRITE = "INSERT INTO {0} ({0}, rowid, value, article, host) VALUES (?, ?, ?, ?, ?)"
_NEW_INDEX = """
    CREATE VIRTUAL TABLE new_ioc_words USING fts5 (
        value, article, host, tokenize = "ascii tokenchars '_'", columnsize = 0, content = ''
    )
"""
