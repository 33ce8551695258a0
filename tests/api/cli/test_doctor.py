"""`ioc doctor` on a store that cannot be used: what it is, and what to do."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.end_to_end.processes import Installation


def no_database(file: Path) -> None:
    file.write_bytes(b"This is a shopping list, and no database.\n" * 300)


def cut_in_half(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def of_a_newer_version(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA user_version = 9999")


@pytest.mark.promise("cli.doctor")
@pytest.mark.parametrize(
    ("spoil", "said"),
    [(no_database, "restore it from a backup"), (cut_in_half, ".recover"), (of_a_newer_version, "newer version")],
)
def test_doctor_says_what_to_do_about_a_store_that_cannot_be_used(
    here: Installation, tmp_path: Path, spoil: Callable[[Path], None], said: str
) -> None:
    assert here.run("reindex").returncode == 0
    (file,) = tmp_path.rglob("ioc.sqlite3")
    for beside in file.parent.glob("ioc.sqlite3-*"):
        beside.unlink()
    spoil(file)
    ended = here.run("doctor", "--json")
    (store,) = (each for each in json.loads(ended.stdout)["items"] if each["what"] == "store")
    assert (ended.returncode, store["well"]) == (1, False)
    assert said in store["found"] + store["advice"]
    assert "folder that can be written" not in store["advice"]
