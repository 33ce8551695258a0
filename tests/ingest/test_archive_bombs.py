"""Archives that unfold without end, hold themselves or claim more entries than there are: what is beside them stays."""

from __future__ import annotations

import io
import struct
import zipfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from ingest.archives import LIMITS
from ingest.files import ARTICLES, found_files
from ingest.isolated import Isolation
from intel.errors import IngestFailed
from tests.ingest.quine_zip import NAME, quine_zip
from tests.ingest.test_files import found, isolation, nested, zipped

pytestmark = pytest.mark.slow

__all__ = ["isolation"]

_ENTRY = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")


def many_entries(count: int, claimed: int | None = None) -> bytes:
    """A zip of a report and so many entries that all point at one empty file; its end may claim another number."""
    held = zipped({"fine.html": b"fine"})
    start = held.index(b"PK\1\2")
    report = held[start : held.index(b"PK\5\6")]
    empty = _ENTRY.pack(b"PK\1\2", 20, 20, 0, 0, 0, 33, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0) + b"x"
    entries = report + empty * count
    told = (count if claimed is None else claimed) & 0xFFFF
    size = len(entries) if claimed is None else claimed * len(empty)
    return held[:start] + entries + _END.pack(b"PK\5\6", 0, 0, told, told, size, start, 0)


async def taken_by(isolation: Isolation, folder: Path) -> dict[str, bytes | str]:
    """Each file's bytes, or the reason why there are none, as the confined process finds them."""
    held: dict[str, bytes | str] = {}
    async for file in found_files(isolation, [folder]):
        name = str(Path(file.path).relative_to(folder))
        held[name] = file.body.reason if isinstance(file.body, IngestFailed) else file.body
    return held


def beside_good_files(folder: Path, name: str, body: bytes) -> None:
    """The archive, with a report before and a report and an archive after it."""
    (folder / name).write_bytes(body)
    (folder / "a.html").write_bytes(b"first")
    (folder / "z.html").write_bytes(b"last")
    (folder / "z.zip").write_bytes(zipped({"packed.html": b"packed"}))


GOOD = {"a.html": b"first", "z.html": b"last", "z.zip!packed.html": b"packed"}


async def test_a_bomb_like_42_zip_is_opened_three_levels_deep(tmp_path: Path, isolation: Isolation) -> None:
    beside_good_files(tmp_path, "bomb.zip", nested(5, 16, bytes(1_000_000)))
    taken = await taken_by(isolation, tmp_path)
    assert {name: body for name, body in taken.items() if isinstance(body, bytes)} == GOOD
    assert Counter(reason for reason in taken.values() if isinstance(reason, str)) == {"too_deep": 16**3}


async def test_a_bomb_whose_files_lie_within_reach_ends_with_the_budget(
    tmp_path: Path, isolation: Isolation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.files.ARTICLES", replace(ARTICLES, spare_bytes=50_000_000))
    beside_good_files(tmp_path, "bomb.zip", nested(3, 16, bytes(500_000)))
    taken = await taken_by(isolation, tmp_path)
    assert taken.pop("bomb.zip") == "archive_too_large"
    assert sum(len(body) for body in taken.values()) < 60_000_000
    assert {name: taken[name] for name in GOOD} == GOOD


async def test_a_zip_that_holds_itself_is_opened_three_levels_deep(tmp_path: Path, isolation: Isolation) -> None:
    body, name = quine_zip(), NAME.decode()
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        assert (archive.namelist(), archive.read(name)) == ([name], body)
    beside_good_files(tmp_path, name, body)
    assert await taken_by(isolation, tmp_path) == GOOD | {"!".join([name] * 4): "too_deep"}


async def test_an_archive_of_very_many_entries_ends_with_the_budget(tmp_path: Path, isolation: Isolation) -> None:
    beside_good_files(tmp_path, "bomb.zip", many_entries(300_000))
    taken = await taken_by(isolation, tmp_path)
    # The entries of a whole import are counted together: nothing is left of them for the archive that follows.
    assert taken == {
        "a.html": b"first",
        "bomb.zip!fine.html": b"fine",
        "bomb.zip": "archive_too_large",
        "z.html": b"last",
        "z.zip": "archive_too_large",
    }


async def test_more_entries_than_memory_takes_are_refused(
    tmp_path: Path, isolation: Isolation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.files.LIMITS", replace(LIMITS, memory_bytes=200 << 20))
    beside_good_files(tmp_path, "bomb.zip", many_entries(1_500_000))
    assert await taken_by(isolation, tmp_path) == GOOD | {"bomb.zip": "archive_too_large"}


async def test_millions_of_entries_are_refused_before_they_are_read(tmp_path: Path, isolation: Isolation) -> None:
    beside_good_files(tmp_path, "bomb.zip", many_entries(2_200_000))
    assert await taken_by(isolation, tmp_path) == GOOD | {"bomb.zip": "archive_too_large"}


def test_an_archive_that_claims_ten_million_entries_is_refused(tmp_path: Path) -> None:
    beside_good_files(tmp_path, "bomb.zip", many_entries(1, claimed=10_000_000))
    assert found(tmp_path) == GOOD | {"bomb.zip": "archive_too_large"}
