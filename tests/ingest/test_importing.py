"""Files on their way into a store: how far reading runs ahead, and what is saved together."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from ingest.assembly import open_ingest
from ingest.files import FoundFile
from ingest.importing import Importing
from intel.settings import load_settings
from intel.store.sqlite.store import SqliteStore
from tests.ingest.writing import prose, table
from tests.stores import lay_store

FILES = 60


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    opened = SqliteStore(lay_store(tmp_path / "ioc.sqlite3"))
    await opened.setup()
    yield opened
    await opened.close()


@pytest.mark.slow
async def test_the_first_files_are_saved_while_most_are_unread_and_all_of_them_in_their_order(
    store: SqliteStore,
) -> None:
    found: list[str] = []

    async def files() -> AsyncIterator[FoundFile]:
        for number in range(FILES):
            found.append(f"{number}.txt")
            yield FoundFile(found[-1], f"{prose(number)}\n{table(40 * number, 400)}".encode())

    ingest = open_ingest(load_settings({}), store)
    taken: list[str] = []
    try:
        importing = Importing(store, ingest, "Source", ingest.read_many.most_indicators, again=False)
        async with aclosing(importing.all(files())) as all:
            async for file in all:
                if not taken:
                    assert len(found) < FILES / 2
                    assert (await store.totals()).articles >= 1
                assert file.refusal is None
                taken.append(file.path)
    finally:
        await ingest.close()
    assert taken == found
    assert len(taken) == (await store.totals()).articles == FILES
