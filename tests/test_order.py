"""The order of a run over several processes."""

from __future__ import annotations

from pathlib import Path

from tests.cases import each
from tests.order import LONG_FILES, long_first

ROOT = Path(__file__).parent.parent
TESTS = {
    "a": ["a1", "a2", "a3"],
    "long": ["l1", "l2"],
    "b": ["b1", "b2", "b3", "b4"],
    "longest": ["x1"],
    "longer": ["m1", "m2"],
}
LONG = {"long": 40, "longer": 50, "longest": 100, "not run": 10}


def test_long_files_begin_each_whole_in_one_process() -> None:
    assert long_first(TESTS, 2, LONG) == ["x1", "a1", "a2", "a3", "b1", "b2", "m1", "m2", "l1", "l2", "b3", "b4"]


@each("processes", range(1, 16))
def test_every_test_runs_once_however_many_processes_there_are(processes: int) -> None:
    ordered = long_first(TESTS, processes, LONG)
    assert sorted(ordered) == sorted(test for own in TESTS.values() for test in own)


def test_every_long_file_is_there() -> None:
    assert [file for file in LONG_FILES if not (ROOT / file).is_file()] == []
