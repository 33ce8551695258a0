"""The words by which indicators and articles are found.

The full-text tables keep no copy of them: to take a record out, its words are given once more as they went in.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from intel.errors import StoreDamaged
from intel.records import Article
from intel.store.sqlite.matching import host_column, value_column
from intel.store.sqlite.packing import unpack_text
from intel.words import encoded_words

# A command or none, the `seq` of a record, and its words by column.
_Row = tuple[str | int | None, ...]


class Index(NamedTuple):
    """A full-text table with its columns, and the table that tells how far another one beside it is built."""

    name: str
    columns: tuple[str, ...]
    rebuilding: str


IOC_WORDS = Index("ioc_words", ("value", "article", "host"), "rebuilding")
ARTICLE_WORDS = Index("article_words", ("title", "summary", "text", "source_name"), "rebuilding_articles")


class Words(NamedTuple):
    """An indicator and the words of its newest articles, as they were and as they are; None where it is not indexed."""

    seq: int
    type: str
    value: str
    before: str | None
    after: str | None


class ArticleWords(NamedTuple):
    """The words of an article by column, as they were and as they are; None where it is not indexed."""

    seq: int
    before: tuple[str, ...] | None
    after: tuple[str, ...] | None


def words_of(article: Article) -> tuple[str, ...]:
    """Return the words of an article by column."""
    return tuple(map(encoded_words, (article.title, article.summary, article.text or "", article.source_name)))


def stored_words(connection: sqlite3.Connection, seq: int) -> tuple[str, ...]:
    """Return the words of a stored article by column."""
    title, summary, text, source_name = connection.execute(_STORED, (seq,)).fetchone()
    return encoded_words(title), encoded_words(summary), packed_words(text), encoded_words(source_name)


def packed_words(text: bytes | None) -> str:
    """Return the words of a packed text; none of one that is damaged, which must not keep others from being indexed."""
    try:
        return encoded_words(unpack_text(text) or "")
    except StoreDamaged:
        return ""


def write_words(connection: sqlite3.Connection, different: Sequence[Words]) -> None:
    """Bring the index of indicators in line; in order of `seq`."""
    _write(connection, IOC_WORDS, _rows(different))


def write_article_words(connection: sqlite3.Connection, different: Iterable[ArticleWords]) -> None:
    """Bring the index of articles in line."""
    _write(connection, ARTICLE_WORDS, _article_rows(one for one in different if one.before != one.after))


def begin_rebuilding(connection: sqlite3.Connection, index: Index, run: str) -> None:
    """Make an empty index beside the one that is searched; one that somebody else is building is given up."""
    connection.execute(f"DROP TABLE IF EXISTS new_{index.name}")
    connection.execute(f"DROP TABLE IF EXISTS former_{index.name}")
    connection.execute(_NEW_INDEX.format(index.name, ", ".join(index.columns)))
    connection.execute(f"DELETE FROM {index.rebuilding}")
    connection.execute(f"INSERT INTO {index.rebuilding} (run, seq) VALUES (?, 0)", (run,))


def add_rebuilt(connection: sqlite3.Connection, run: str, words: Sequence[Words], seq: int) -> bool:
    """Add indicators to the index that is being built, up to `seq`; False where somebody else builds another one."""
    return _add_rebuilt(connection, IOC_WORDS, run, _rows(words), seq)


def add_rebuilt_articles(connection: sqlite3.Connection, run: str, words: Sequence[ArticleWords], seq: int) -> bool:
    """Do as `add_rebuilt` for articles."""
    return _add_rebuilt(connection, ARTICLE_WORDS, run, _article_rows(words), seq)


def follow_writes(connection: sqlite3.Connection, index: Index, run: str) -> None:
    """Let whatever is saved from now on go into the index that is being built too: it holds all that is stored."""
    connection.execute(f"UPDATE {index.rebuilding} SET seq = ? WHERE run = ?", (_BEYOND_ALL, run))


def merge_some(connection: sqlite3.Connection, index: Index, run: str, *, first: bool) -> bool:
    """Merge a part of the index that is being built, whose many pieces slow searches down; False where all is done."""
    if not connection.execute(f"SELECT 1 FROM {index.rebuilding} WHERE run = ?", (run,)).fetchone():
        return False
    before = connection.total_changes
    # A negative number begins with all pieces, whatever their size.
    connection.execute(_MERGE.format(index.name), (-_PAGES_AT_ONCE if first else _PAGES_AT_ONCE,))
    return connection.total_changes - before > 1


def merge_all(connection: sqlite3.Connection) -> None:
    """Merge the pieces of the index of indicators that is searched, in one step."""
    connection.execute("INSERT INTO ioc_words (ioc_words) VALUES ('optimize')")


def end_rebuilding(connection: sqlite3.Connection, index: Index, run: str) -> None:
    """Put the index that was built into the place of the one that is searched, which `drop_some` then drops."""
    if connection.execute(f"DELETE FROM {index.rebuilding} WHERE run = ?", (run,)).rowcount:
        connection.execute(f"ALTER TABLE {index.name} RENAME TO former_{index.name}")
        connection.execute(f"ALTER TABLE new_{index.name} RENAME TO {index.name}")


def drop_some(connection: sqlite3.Connection, index: Index) -> bool:
    """Drop a part of the index that was searched before; False where all is done.

    Dropped at once, it would lie in memory whole.
    """
    former = f"former_{index.name}"
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (former,)).fetchone():
        return False
    if not connection.execute(_DROP_SOME.format(former), (_PAGES_AT_ONCE,)).rowcount:
        connection.execute(f"DROP TABLE {former}")
    return True


def _write(connection: sqlite3.Connection, index: Index, rows: Iterable[_Row]) -> None:
    """Write to an index, and to the one that is being built beside it as far as it has come."""
    rebuilding = connection.execute(f"SELECT seq FROM {index.rebuilding}").fetchone()
    if rebuilding is None:
        connection.executemany(_write_to(index, index.name), rows)
        return
    every = list(rows)
    connection.executemany(_write_to(index, index.name), every)
    done = (row for row in every if row[_SEQ] <= rebuilding["seq"])
    connection.executemany(_write_to(index, f"new_{index.name}"), done)


def _add_rebuilt(connection: sqlite3.Connection, index: Index, run: str, rows: Iterable[_Row], seq: int) -> bool:
    ours = connection.execute(f"UPDATE {index.rebuilding} SET seq = ? WHERE run = ?", (seq, run)).rowcount == 1
    if ours:
        connection.executemany(_write_to(index, f"new_{index.name}"), rows)
    return ours


def _rows(different: Iterable[Words]) -> Iterator[_Row]:
    for seq, type, value, before, after in different:
        words, hosts = value_column(type, value), host_column(type, value)
        if before is not None:
            yield "delete", seq, words, before, hosts
        if after is not None:
            yield None, seq, words, after, hosts


def _article_rows(different: Iterable[ArticleWords]) -> Iterator[_Row]:
    for seq, before, after in different:
        if before is not None:
            yield "delete", seq, *before
        if after is not None:
            yield None, seq, *after


def _write_to(index: Index, table: str) -> str:
    # A command of the table's own name, or none, tells what is done with a row.
    marks = ", ".join("?" * (len(index.columns) + 2))
    return f"INSERT INTO {table} ({table}, rowid, {', '.join(index.columns)}) VALUES ({marks})"


_SEQ = 1
_PAGES_AT_ONCE = 1_000
_BEYOND_ALL = 2**62
# Its first rows, which say what it holds, are the last to go.
_DROP_SOME = """
    DELETE FROM {0}_data WHERE id IN (SELECT id FROM {0}_data WHERE id > 10 ORDER BY id DESC LIMIT ?)
"""
_MERGE = "INSERT INTO new_{0} (new_{0}, rank) VALUES ('merge', ?)"
_NEW_INDEX = """
    CREATE VIRTUAL TABLE new_{0} USING fts5 ({1}, tokenize = "ascii tokenchars '_'", columnsize = 0, content = '')
"""
_STORED = """
    SELECT a.title, a.summary, t.text, a.source_name
    FROM articles AS a CROSS JOIN article_texts AS t ON t.seq = a.seq WHERE a.seq = ?
"""
