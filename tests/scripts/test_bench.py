from __future__ import annotations

import functools
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from tests.engines.engine import memory_folder
from tests.scripts.conftest import ROOT

BENCH = [sys.executable, "-m", "scripts.benchmarks"]
EMBEDDED = {"TEST_ELASTICSEARCH_URL": "none", "TEST_REDIS_URL": "none"}
OPERATIONS = {
    "newest 50",
    "newest 50 of a type",
    "exact value",
    "a word",
    "a frequent word",
    "a domain",
    "a network",
    "newest 50 articles",
}
# Of no package, for a type checker.
_PAGES = ("performance", "performance_page")
EVERY_WAY = {"raw", "store", "api", "api_with_key"}

# A quick run starts a service several times, which a busy machine can make slow.
pytestmark = pytest.mark.timeout(900)


def bench(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*BENCH, *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=800,
    )


@functools.cache
def measured(*arguments: str, **environment: str) -> Any:
    """The numbers of a quick run, made once for all tests that look at it."""
    done = bench(*arguments, "--quick", "--json", **environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def rates(speeds: dict[str, dict[str, dict[str, float]]]) -> list[float]:
    return [speed["per_second"] for ways in speeds.values() for speed in ways.values()]


def test_a_quick_run_without_engines_shows_every_operation_and_says_what_is_left_out() -> None:
    done = bench("--quick", **EMBEDDED)
    assert done.returncode == 0, done.stderr
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert all(any(line.startswith(f"{name} ") for line in lines) for name in OPERATIONS), done.stdout
    assert any("store÷raw" in line and "API÷raw" in line and "p95 ms" in line for line in lines)
    assert [line.split(":")[0] for line in lines if "not to be had" in line] == [
        "Redis is not to be had, so neither are its buckets nor the API on Elasticsearch",
        "Elasticsearch is not to be had",
    ]


def test_both_engines_and_all_buckets_are_measured_in_one_run_that_leaves_no_index_behind(
    elasticsearch_url: str, redis_url: str
) -> None:
    found = measured("service", TEST_ELASTICSEARCH_URL=elasticsearch_url, TEST_REDIS_URL=redis_url)
    assert [world["engine"] for world in found["worlds"]] == ["SQLite", "Elasticsearch"]
    for world in found["worlds"]:
        assert set(world["operations"]) == OPERATIONS
        assert all(set(ways) == EVERY_WAY for ways in world["operations"].values())
        assert set(world["walk"]) == {"page 1", world["deep"]}
        assert world["filled"]["indicators"] == 200
        assert min(rates(world["operations"]) + rates(world["walk"])) > 0
    assert set(found["buckets"]["newest 1"]) == {"none", "memory", "redis"}
    assert found["left_out"] == []
    with urllib.request.urlopen(f"{elasticsearch_url}/_cat/indices/bench-*", timeout=30) as left_behind:
        assert left_behind.read() == b""


def test_a_run_that_is_ended_leaves_no_folder_behind(tmp_path: Path) -> None:
    environment = {**os.environ, **EMBEDDED, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [*BENCH, "--indicators", "200"], cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True
    ) as run:
        assert run.stderr is not None
        for line in run.stderr:
            if "round 1" in line:
                break
        run.send_signal(signal.SIGTERM)
        run.stderr.read()
        assert run.wait(timeout=60) == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []


def test_extractors_are_measured_on_the_same_reports_and_ours_on_hostile_texts() -> None:
    found = measured("extraction")
    assert {"ours", "iocextract"} <= set(found["extractors"])
    assert all(speed["megabytes_per_second"] > 0 for speed in found["extractors"].values())
    assert found["extractors"]["ours"]["ours_is_faster"] == 1
    assert found["extractors"]["ours"]["found"] > 0
    assert {"'a.a.a.'", "'1.1.1.'", "'(((('", "hex", "base64", "spaces"} <= set(found["hostile"])
    for peer in ("ioc-finder", "iocsearcher", "msticpy"):
        assert peer in found["extractors"] or any(line.startswith(f"{peer} is left out") for line in found["lines"])


def test_extractors_are_judged_on_labelled_texts() -> None:
    found = measured("extraction")["labelled"]["own labelled texts"]
    assert found["ours"]["items"] == 30
    assert found["ours"]["compared_f1"] > found["iocextract"]["compared_f1"]
    # A second reader may add indicators, never errors.
    assert found["ours with iocextract"]["compared_f1"] >= found["ours"]["compared_f1"]


def test_extraction_prints_a_table_with_the_ratios(capsys: pytest.CaptureFixture[str]) -> None:
    extraction, tables = (importlib.import_module(f"scripts.benchmarks.{name}") for name in ("extraction", "tables"))
    tables.print_extraction(TypeAdapter(extraction.ExtractionReport).validate_python(measured("extraction")))
    printed = capsys.readouterr().out
    assert "With iocextract as second reader, on own labelled texts" in printed
    assert "ours is faster, times" in printed
    assert "times as long as half of it" in printed


def test_large_answers_are_measured_alone_and_unread() -> None:
    found = measured("loop")
    assert all(one["cpu"] > 0 and one["held"] > 0 for one in found["requests"])
    assert any(one["path"].endswith("format=stix") for one in found["requests"])
    assert len(found["unread"]) == 4
    assert all(one["healthz"] > 0 for one in found["unread"])


@pytest.fixture
def reachable_path() -> Iterator[Path]:
    """A folder that every user can reach: Elasticsearch does not run as root."""
    reachable = memory_folder() or "/tmp"  # noqa: S108 # a folder with a name of its own is made in it
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True, dir=reachable) as name:
        folder = Path(name)
        folder.chmod(0o711)
        yield folder


def test_scaling_is_measured_at_given_sizes_and_taken_up_again_where_it_was(reachable_path: Path) -> None:
    keep = str(reachable_path / "kept")
    first = measured("scaling", "--sizes", "1000", "--nodes", "1", "--keep", keep)["points"]
    assert [(point["nodes"], point["indicators"], point["articles"]) for point in first] == [(1, 1_000, 20)]
    assert min(*first[0]["ask_ms"].values(), first[0]["save_ms"], first[0]["save_engine_ms"], first[0]["bytes"]) > 0
    again = bench("scaling", "--quick", "--sizes", "1000,2000", "--nodes", "1", "--keep", keep)
    assert again.returncode == 0, again.stderr
    told = [json.loads(line) for line in again.stderr.splitlines() if line.startswith("  {")]
    assert told[0] == first[0] and told[1]["indicators"] == 2_000
    assert "2,000 indicators, of which 1,000 are there" in again.stderr
    # A model needs more points than these.
    assert "| 1 × 1 | 2,000 |" in again.stdout and "euros a month" not in again.stdout


def test_something_unknown_is_refused_with_the_choices() -> None:
    done = bench("storage")
    assert (done.returncode, done.stdout) == (2, "")
    assert "'service', 'extraction', 'loop'" in done.stderr


def test_a_quick_run_of_the_tables_measures_every_embedded_row_and_says_what_is_left_out() -> None:
    found = measured("tables", **EMBEDDED)
    rows = {row["name"]: row for row in found["tables"]["Embedded"]}
    for name in ("import of these reports", "newest 50, 16 connections", "whole list with facets", "file"):
        assert min(rows[name]["ours"]) > 0, name
    assert rows["look-up with `--workers 2`"]["beside"]
    assert min(rows["articles, two processes"]["beside"]) > 0
    assert min(rows["an article of 180 indicators, from submit to searchable"]["ours"]) > 0
    assert len(found["left_out"]) == 2  # Datasette, and all that is served


def test_a_ratio_that_fell_by_more_than_a_fifth_against_the_page_is_told(tmp_path: Path) -> None:
    measuring, pages = (importlib.import_module(f"scripts.benchmarks.{name}") for name in _PAGES)
    page = tmp_path / "performance.md"
    for ratio in (4.0, 3.3, 3.1):
        row = measuring.Row("look-up", "a second", [ratio * 100, ratio * 100], "4 ×", [100, 100], "Datasette")
        found = measuring.Performance("some reports", {"Embedded": [row]})
        if not page.exists():
            pages.write_page(found, page)
        assert bool(pages.fallen_ratios(found, pages.kept_ratios(page))) is (ratio < 3.2)
    assert (
        "| look-up | 400 (400–400) a second | Datasette | 100 (100–100) | 4.00 × (4.00–4.00) | 4 × |"
        in page.read_text()
    )


def test_a_ratio_of_times_that_rose_by_more_than_a_fifth_is_told(tmp_path: Path) -> None:
    measuring, pages = (importlib.import_module(f"scripts.benchmarks.{name}") for name in _PAGES)
    page = tmp_path / "performance.md"
    for ratio in (4.0, 2.0, 4.8, 5.2):
        row = measuring.Row("look-up of 50", "ms", [ratio], "3 × one look-up", [1], "one look-up")
        found = measuring.Performance("some reports", {"Embedded": [row]})
        if not page.exists():
            pages.write_page(found, page)
        assert bool(pages.fallen_ratios(found, pages.kept_ratios(page))) is (ratio > 5)


def test_a_table_that_was_not_measured_again_stays_on_the_page(tmp_path: Path) -> None:
    measuring, pages = (importlib.import_module(f"scripts.benchmarks.{name}") for name in _PAGES)
    page = tmp_path / "performance.md"

    def write(value: float, *titles: str) -> None:
        row = measuring.Row("look-up", "a second", [value], "4 ×", [100], "others")
        pages.write_page(measuring.Performance("some reports", {title: [row] for title in titles}), page)

    write(400, "Embedded", "Served")
    write(300, "Served")
    assert [page.read_text().count(f"| look-up | {value} a second |") for value in (400, 300)] == [1, 1]
    assert pages.kept_ratios(page) == {"Embedded: look-up / others": 4.0, "Served: look-up / others": 3.0}
    assert page.read_text().index("## Embedded") < page.read_text().index("## Served")
    assert "- Measured before, on another day or machine: Embedded" in page.read_text()


def test_a_quick_run_of_growth_measures_a_store_of_each_size() -> None:
    found = measured("growth", "--sizes", "200,1000", **EMBEDDED)
    rows = {row["name"]: row for row in found["tables"]["Growth"]}
    for name in ("look-up, one connection", "newest 50, one connection", "page 1,000, one connection"):
        assert min(*rows[name]["ours"], *rows[name]["beside"]) > 0, name
    assert rows["whole list of 1,000 with facets"]["ours"]
    assert bench("growth", "--quick", "--sizes", "200").returncode == 1
