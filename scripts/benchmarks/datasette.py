"""Datasette on the same rows: what one gets who serves them from a SQLite file with an index each way."""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from tests.engines.engine import free_port, running, wait_until

from .load import answers
from .peers import python_of

VERSION = "0.65.5"
_START_SECONDS = 60
# What it is asked for, beside the same question to the service.
ALIKE = "each side also counts all that match; Datasette's rows hold their article, so that it joins none"


def copy_rows(store: Path, target: Path) -> None:
    """Write the indicators of an embedded store as one plain table, indexed for what is asked."""
    with closing(sqlite3.connect(target)) as connection:
        connection.execute("ATTACH ? AS store", (str(store),))
        connection.executescript(_COPY)
        connection.execute("DETACH store")


@contextmanager
def datasette(file: Path) -> Iterator[str]:
    """Give the address of a Datasette that serves the file. NotToBeHad where it cannot be installed."""
    python = python_of("datasette", VERSION, install=True)
    port = free_port()
    process = subprocess.Popen(
        # What the service tells too is left on: the total. Facets are neither asked for nor guessed.
        [str(python), "-m", "datasette", "serve", str(file), "--port", str(port), "--setting", "suggest_facets", "off"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    with running(process):
        wait_until(process, lambda: answers(port, "/-/versions.json"), _START_SECONDS)
        yield f"127.0.0.1:{port}"


def lookup_path(file: Path, value: str) -> str:
    return f"/{file.stem}/iocs.json?value={quote(value, safe='')}&_shape=objects"


def list_path(file: Path) -> str:
    return f"/{file.stem}/iocs.json?_sort_desc=last_seen&_size=50&_shape=objects"


def search_path(file: Path, word: str) -> str:
    return f"/{file.stem}/iocs.json?_search={quote(word)}&_size=50&_shape=objects"


_COPY = """
    CREATE TABLE iocs (
        id TEXT PRIMARY KEY, type TEXT, value TEXT, first_seen TEXT, last_seen TEXT, sightings INTEGER, sources INTEGER,
        context TEXT, malware TEXT, article_title TEXT, article_url TEXT, source_name TEXT
    );
    INSERT INTO iocs
        SELECT hex(i.id), i.type, i.value, datetime(i.first_seen / 1000, 'unixepoch'),
            datetime(i.last_seen / 1000, 'unixepoch'), i.sightings, i.sources, i.context, i.malware, a.title, a.url,
            a.source_name
        FROM store.iocs AS i JOIN store.articles AS a ON a.seq = i.article_seq;
    CREATE INDEX iocs_by_value ON iocs (value);
    CREATE INDEX iocs_newest ON iocs (last_seen);
    CREATE VIRTUAL TABLE iocs_fts USING fts5 (value, article_title, source_name, content = 'iocs');
    INSERT INTO iocs_fts (rowid, value, article_title, source_name)
        SELECT rowid, value, article_title, source_name FROM iocs;
"""
