"""Texts of articles as columns hold them: whole again, and bounded where a row is damaged."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

from intel.errors import StoreDamaged
from intel.store.sqlite.connection import Database
from intel.store.sqlite.packing import pack_text, unpack_text
from intel.store.sqlite.store import SqliteStore
from tests.cases import each
from tests.contract.store.builders import make_article, publish


@each("text", ["", "a\x00b", "分析 \U0001f600\u202e", "One ü\n" * 170_000])
def test_a_text_is_read_back_whole(text: str) -> None:
    assert unpack_text(pack_text(text)) == text


def test_no_text_stays_none() -> None:
    assert pack_text(None) is None
    assert unpack_text(None) is None


@each(
    "packed",
    [
        pytest.param(b"plain", id="not packed"),
        pytest.param(zlib.compress(b"a text")[:-1], id="cut off"),
        pytest.param(zlib.compress(b"\xff"), id="no text"),
        pytest.param(zlib.compress(bytes(64 * 2**20 + 1)), id="a bomb"),
    ],
)
def test_what_is_no_packed_text_is_damage(packed: bytes) -> None:
    with pytest.raises(StoreDamaged):
        unpack_text(packed)


async def test_a_damaged_text_is_told_and_spoils_nothing_else(path: Path, store: SqliteStore) -> None:
    broken, whole = make_article("broken", at=1), make_article("whole", at=2)
    for article in (broken, whole):
        await publish(store, article, f"domain {article.id}.example")
    database = Database(path)
    await database.write(
        lambda connection: connection.execute(
            "UPDATE article_texts SET text = x'0000' WHERE seq = (SELECT seq FROM articles WHERE id = ?)", (broken.id,)
        )
    )
    await database.close()
    with pytest.raises(StoreDamaged, match="a text cannot be read"):
        await store.articles.get(broken.id)
    kept = await store.articles.get(whole.id)
    assert kept is not None and kept.text == whole.text
    assert list(await store.articles.get_many([broken.id])) == [broken.id]
    assert await store.articles.remove(broken.id)
