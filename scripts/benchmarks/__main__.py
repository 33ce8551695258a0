"""Reads what is to be measured, measures it, prints it: of all that can be, only that is imported."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import orjson

from api.logs import configure_logs

if TYPE_CHECKING:
    from .extraction import Effort as ExtractionEffort
    from .measuring import Pace
    from .performance import Effort as PerformanceEffort
    from .reports import Size

_INDICATORS = 20_000
_INDICATORS_IN_AN_ARTICLE = 50
_FEWEST_INDICATORS = 200
# From fewer indicators no page is written: a forecast of billions would rest on how an engine warms up.
_FEWEST_TO_FORECAST = 100_000


def main(arguments: list[str]) -> int:
    signal.signal(signal.SIGTERM, _end)
    configure_logs(level="WARNING")
    options = _parser().parse_args(arguments)
    _MEASURES[options.what](options)
    return 0


def _extraction(options: argparse.Namespace) -> None:
    from .extraction import measure_extraction
    from .tables import print_extraction

    found = measure_extraction(_effort(options.quick), _tell)
    _print_json(found) if options.json else print_extraction(found)


def _tables(options: argparse.Namespace) -> None:
    from .performance import measure_performance
    from .performance_page import print_performance, write_page

    performance = measure_performance(_performance_effort(options), _tell)
    _print_json(performance) if options.json else print_performance(performance)
    if options.write:
        write_page(performance)


def _growth(options: argparse.Namespace) -> None:
    from .growth import measure_growth
    from .performance_page import GROWTH_PAGE, print_performance, write_page

    sizes = options.sizes or ((200, 1_000) if options.quick else (500_000, 5_000_000))
    if len(sizes) != 2:
        raise SystemExit("growth compares two sizes: --sizes N,N")
    growth = measure_growth((sizes[0], sizes[1]), _performance_effort(options), options.keep, _tell)
    _print_json(growth) if options.json else print_performance(growth, GROWTH_PAGE)
    if options.write:
        write_page(growth, GROWTH_PAGE)


def _loop(options: argparse.Namespace) -> None:
    from .loop import measure_loop, print_loop

    stalls = measure_loop(_indicators(options), _tell)
    _print_json(stalls) if options.json else print_loop(stalls)


def _service(options: argparse.Namespace) -> None:
    from .service import measure_service
    from .tables import print_service

    report = measure_service(_size(_indicators(options)), _pace(options.quick), _tell)
    _print_json(report) if options.json else print_service(report)


def _scaling(options: argparse.Namespace) -> None:
    """Print the page of a former run, or measure: with `--write` each point goes beside former ones at once."""
    from tests.engines.elasticsearch_server import JAVA_OPTIONS_FOR_TESTS

    from . import scaling_page
    from .scaling import IN_AN_ARTICLE, LAYOUTS, Effort, measure_points, parts_of, read_ms
    from .scaling_model import Prices

    asked = {"core": options.core_price, "memory_gb": options.memory_price, "disk_tb": options.disk_price}
    prices = Prices(**{name: price for name, price in asked.items() if price is not None})
    measured = scaling_page.measured_before(options.points or scaling_page.POINTS)
    if options.points and options.write:
        scaling_page.write(measured, prices)
    if not options.points:
        sizes = options.sizes or parts_of(options.indicators or (1_000 if options.quick else 200_000))
        effort = Effort(sizes, options.nodes or LAYOUTS, keep=options.keep)
        if options.quick:
            effort = replace(effort, asked=20, java=JAVA_OPTIONS_FOR_TESTS)
        write = options.write and max(sizes) >= _FEWEST_TO_FORECAST
        if not write:
            measured = replace(measured, points=())
        if not options.sizes:
            _tell("reading reports")
            measured = replace(measured, read_ms=read_ms(max(20, max(sizes) // IN_AN_ARTICLE // 20)))
        measured = replace(measured, measured_on=f"on {datetime.now(UTC):%Y-%m-%d} on {os.cpu_count()} shared cores")
        for point in measure_points(effort, _tell):
            measured = measured.with_point(point)
            _tell(f"  {json.dumps(asdict(point))}")
            if write:
                scaling_page.write(measured, prices)
    _print_json(measured) if options.json else sys.stdout.write(scaling_page.page(measured, prices))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Measures speeds side by side in one run.")
    parser.add_argument("what", nargs="?", choices=tuple(_MEASURES), default="service")
    parser.add_argument("--quick", action="store_true", help="a short run that only shows that everything works")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    parser.add_argument(
        "--indicators", type=_enough, metavar="N", help="how many the store is filled with (default 20,000)"
    )
    parser.add_argument("--reports", type=int, metavar="N", help="tables: how many reports are imported (default 500)")
    parser.add_argument("--in-a-report", type=int, metavar="N", help="tables: indicators in each (default 1,000)")
    parser.add_argument(
        "--only", choices=("Embedded", "Served"), help="tables: one of the two; `--write` leaves the other as it stands"
    )
    parser.add_argument("--rounds", type=int, metavar="N", help="tables: runs of each side (default 5)")
    parser.add_argument(
        "--write",
        action="store_true",
        help="tables: write docs/performance.md; growth: docs/growth.md;"
        " scaling, from 100,000 indicators on: docs/scaling.md",
    )
    parser.add_argument(
        "--sizes",
        type=_numbers,
        metavar="N,N",
        help="growth: the smaller and the larger store (default 500,000,5,000,000); scaling: indicators at each point"
        " (default a fifth, half and all of 200,000, or of --indicators)",
    )
    parser.add_argument("--nodes", type=_numbers, metavar="N,N", help="scaling: on how many nodes (default 1,3)")
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="FOLDER",
        help="growth, scaling: where data stay, for the next run to go on with; a place that other users can reach",
    )
    parser.add_argument(
        "--from",
        dest="points",
        type=Path,
        metavar="FILE",
        help="scaling: what a former run measured, not measured again",
    )
    for name, what in (("core", "a core"), ("memory", "a GB of memory"), ("disk", "a TB of disk")):
        parser.add_argument(f"--{name}-price", type=float, metavar="€", help=f"scaling: euros a month for {what}")
    return parser


def _performance_effort(options: argparse.Namespace) -> PerformanceEffort:
    """Return how much is measured for the tables: all of it by default."""
    from .folders import Shape
    from .performance import Effort as PerformanceEffort

    reports, indicators, rounds, seconds = (4, 100, 1, 0.2) if options.quick else (500, 1_000, 5, 4.0)
    shape = Shape(options.reports or reports, options.in_a_report or indicators)
    effort = PerformanceEffort(shape, options.rounds or rounds, seconds, only=options.only)
    if not options.quick:
        return effort
    # Each source is imported by a process of its own.
    return replace(effort, shape=replace(shape, sources=2), install=False, articles=2, large=200)


def _enough(text: str) -> int:
    number = int(text)
    if number < _FEWEST_INDICATORS:
        raise argparse.ArgumentTypeError(
            f"must be at least {_FEWEST_INDICATORS}, so that every question finds something"
        )
    return number


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(sorted({int(number) for number in text.split(",")}))


def _indicators(options: argparse.Namespace) -> int:
    return int(options.indicators or (_FEWEST_INDICATORS if options.quick else _INDICATORS))


def _size(indicators: int) -> Size:
    from .reports import Size

    articles = indicators // _INDICATORS_IN_AN_ARTICLE
    return Size(articles * _INDICATORS_IN_AN_ARTICLE, articles)


def _pace(quick: bool) -> Pace:
    from .measuring import Pace

    return Pace(1, 0.05) if quick else Pace(5, 0.5)


def _effort(quick: bool) -> ExtractionEffort:
    from .extraction import Effort as ExtractionEffort

    if quick:
        return ExtractionEffort(40_000, 2_000, rounds=1, cap_seconds=4, install_peers=False, items=30)
    return ExtractionEffort(2_000_000, 1_000_000, rounds=3, cap_seconds=15, install_peers=True)


def _print_json(report: Any) -> None:
    """One JSON object; its members are the report's."""
    sys.stdout.write(orjson.dumps(report, option=orjson.OPT_INDENT_2).decode() + "\n")


def _tell(line: str) -> None:
    sys.stderr.write(line + "\n")


def _end(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + number)


_MEASURES: dict[str, Callable[[argparse.Namespace], None]] = {
    "service": _service,
    "extraction": _extraction,
    "loop": _loop,
    "tables": _tables,
    "growth": _growth,
    "scaling": _scaling,
}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
