"""Some seconds of what `scripts/fuzz` does for as long as one likes."""

from __future__ import annotations

from itertools import islice

import pytest

from tests.ingest.indicators.fuzzing import crash, hostile_units, main, mutants, slow

# What is worse than linear goes far beyond this.
A_BUSY_MACHINES = 8.0


@pytest.mark.slow
def test_no_broken_file_raises() -> None:
    assert [(data, what) for data in islice(mutants(2026), 1200) if (what := crash(data))] == []


@pytest.mark.slow
def test_no_repeated_piece_costs_more_than_its_share() -> None:
    assert [found for unit in islice(hostile_units(2026), 120) if (found := slow(unit, patience=A_BUSY_MACHINES))] == []


@pytest.mark.slow
def test_no_repeated_piece_of_a_page_does_either() -> None:
    units = islice(hostile_units(11), 80)
    page = "<!doctype html><html><body>"
    assert [found for unit in units if (found := slow(unit, page, A_BUSY_MACHINES))] == []


def test_a_run_tells_its_seed_and_what_it_tried() -> None:
    assert main(["--seconds", "0.2", "--seed", "3", "--patience", "8"]) == 0
