"""The model of large clusters, and the judgement of a soak, on figures whose answer is known."""

from __future__ import annotations

import importlib
import os
import socket
from pathlib import Path
from typing import Any

import pytest

# Of no package, for a type checker.
_NAMES = (
    "benchmarks.scaling",
    "benchmarks.scaling_model",
    "benchmarks.scaling_page",
    "storms.soak",
    "storms.tree",
    "benchmarks.filling",
)
scaling, model, page, soak, tree, filling = (importlib.import_module(f"scripts.{name}") for name in _NAMES)


def point(nodes: int, indicators: int, ask_ms: float) -> Any:
    asked = dict.fromkeys(scaling.ASKED, ask_ms)
    copies = 1 if nodes == 1 else 2
    saving = 2.0 * copies
    return scaling.Point(
        nodes, copies, indicators, indicators // 50, 1_000 * indicators, indicators, 1.0, saving, asked
    )


@pytest.fixture
def measured() -> Any:
    """A kilobyte and a document an indicator; a query costs as the root of the size."""
    one = [point(1, 10_000, 1.0), point(1, 40_000, 2.0), point(1, 160_000, 4.0)]
    return scaling.Scaling([*one, point(3, 160_000, 4.0)], 100.0, "on a day")


def test_a_cluster_is_as_large_as_what_asks_for_the_most_nodes(measured: Any) -> None:
    found = model.cluster_of(16_000_000_000, measured)
    assert found.bytes == 2 * 16 * 10**12
    assert found.shards == 640
    assert found.nodes_by["disk"] == 23
    # 833 indicators a second, 2 ms each, twice for the copies; queries cost 4 ms times the root of 100,000.
    assert found.save_cores == pytest.approx(3.33, abs=0.01)
    assert found.read_cores == pytest.approx(2.5, abs=0.01)
    assert found.query_cores == pytest.approx(4 * 100_000**0.5)
    assert (found.first, found.nodes) == ("queries", 159)
    # 160 € for cores, 128 € for memory, 160 € for the disk of a node; workers are half idle.
    assert found.money(model.Prices(10, 2, 80)) == pytest.approx(159 * 448 + 50)
    assert found.rebuild_hours == pytest.approx(16_000_000_000 / 1_000 / 3_600)


def test_the_model_is_right_about_points_that_it_was_not_made_from(measured: Any) -> None:
    assert all(said == pytest.approx(was) for _, said, was in model.checks(measured))


def test_the_page_tells_every_size_and_how_far_the_model_is_off(measured: Any) -> None:
    text = page.page(measured, model.Prices())
    assert "| indicators | 1,000,000 | 100,000,000 | 10,000,000,000 |" in text
    assert text.count("| +0% |") == len(model.checks(measured))
    assert max(map(len, (line for line in text.splitlines() if not line.startswith("|")))) <= 140


def test_a_query_costs_as_the_power_of_the_size_that_is_nearest_to_all_points() -> None:
    steady = [point(1, 10_000, 3.0), point(1, 40_000, 1.0), point(1, 160_000, 2.0)]
    # What became cheaper, because the engine was cold at first, is taken for what does not grow.
    assert model.ask_ms(steady, "newest 50", 10**9) == pytest.approx(6 ** (1 / 3))


def test_a_point_takes_the_place_of_one_of_the_same_size(measured: Any) -> None:
    again = measured.with_point(point(1, 40_000, 9.0)).with_point(point(1, 2_000_000, 8.0))
    assert [(each.nodes, each.indicators) for each in again.points] == [
        (1, 10_000), (1, 40_000), (1, 160_000), (1, 2_000_000), (3, 160_000)
    ]  # fmt: skip
    assert again.points[1].ask_ms["a word"] == 9.0


def test_a_filling_that_was_cut_short_goes_on_where_all_before_is_there() -> None:
    a_task, at_once = filling._A_TASK, filling._PROCESSES
    assert filling.surely_done(at_once * a_task - 1) == 0
    # Of 7 tasks' worth that are there, what as many as run at once left may be missing in the middle.
    assert filling.surely_done((7 + at_once) * a_task + 5) == 7 * a_task


def test_the_page_is_made_again_from_the_points_beside_it(
    measured: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(page, "POINTS", tmp_path / "points.json")
    page.write(measured, model.Prices(core=20))
    again = page.measured_before(tmp_path / "points.json")
    assert page.page(again, model.Prices(core=20)) == (tmp_path / "page.md").read_text("utf-8")
    assert "euros a month: 20 a core" in page.page(again, model.Prices(core=20))


@pytest.mark.parametrize(
    ("last", "status", "said"),
    [
        (tree.Held(100, 50, 40, 10), 429, "flat, and nothing failed"),
        (tree.Held(120, 50, 40, 10), 200, "memory grew"),
        (tree.Held(100, 190, 40, 10), 200, "files grew"),
        (tree.Held(100, 50, 40, 10), 500, "1 answers of 500"),
        (tree.Held(100, 50, 40, 10), 0, "1 answers of 0"),
        (tree.Held(100, 50, 40, 10), 503, "1 × 503 GET /: too busy"),
    ],
)
def test_a_soak_is_judged_by_what_grew_and_what_failed(
    capsys: pytest.CaptureFixture[str], last: Any, status: int, said: str
) -> None:
    asked = soak.Asked()
    asked.note(status, 0.1, "GET /: too busy")
    samples = [tree.Held(100, 50, 40, 10)] * 6 + [last] * 2
    wrong = soak._tell(samples, {"somebody": asked}, [None], "")
    assert said in capsys.readouterr().out
    assert wrong == ("flat" not in said)


def test_what_this_process_holds_is_told() -> None:
    before = tree.held_by([os.getpid()])
    read, write = os.pipe()
    after = tree.held_by([os.getpid()])
    os.close(read)
    os.close(write)
    assert (after.files - before.files, after.sockets - before.sockets) == (2, 0)
    assert before.memory > 1 and before.threads >= 1


def test_connections_of_those_who_hold_them_are_not_counted() -> None:
    with socket.socket() as listening, socket.socket() as one, socket.socket() as other:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        before = tree.held_by([os.getpid()], but_from=["127.0.0.2"])
        one.bind(("127.0.0.2", 0))
        for each in (one, other):
            each.connect(listening.getsockname())
        with listening.accept()[0], listening.accept()[0]:
            after = tree.held_by([os.getpid()], but_from=["127.0.0.2"])
    assert after.sockets - before.sockets == 1
