"""What was measured, as tables for a person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from intel.records import IOC_TYPES

from .accuracy import Accuracy
from .extraction import OURS, OURS_WITH_IOCEXTRACT, ExtractionReport, ExtractorSpeed, HostileSpeed
from .measuring import Speed, Speeds
from .service import API, API_WITH_KEY, FIRST_PAGE, RAW, STORE, ServiceReport, WorldReport

_WIDTH = 150


def print_service(report: ServiceReport) -> None:
    """A table for each engine, one for the pages of a walk, one for the buckets."""
    for world in report.worlds:
        filled = world.filled
        saved = (
            f"{filled.articles / filled.seconds:,.1f} articles/s, {filled.sightings / filled.seconds:,.0f} sightings/s"
        )
        _print_table(
            f"{world.engine}: {filled.indicators:,} indicators of {filled.articles:,} articles, saved at {saved}",
            (
                "asked for",
                "raw/s",
                "store/s",
                "API/s",
                "with key/s",
                "store÷raw",
                "API÷raw",
                "with key÷raw",
                "API p50",
                "p95 ms",
            ),
            (_operation_row(name, speeds) for name, speeds in world.operations.items()),
        )
    _print_table(
        "A walk through the list of all indicators",
        ("engine", "way", "page 1 /s", "far down", "its page/s", "cost far down ÷ page 1"),
        (row for world in report.worlds for row in _walk_rows(world)),
    )
    _print_table(
        "Token buckets, on a request for one indicator",
        ("buckets", "requests/s", "p50 ms", "p95 ms", "÷ no buckets", "share of the time"),
        _bucket_rows(report.buckets),
    )
    _print_lines(["A visitor's searches have 10 results, all others up to 50.", *report.left_out])


def print_extraction(report: ExtractionReport) -> None:
    """Tables of how right the extractors are, how fast on reports, and what hostile texts cost them."""
    for title, accuracies in report.labelled.items():
        _print_accuracy(title, accuracies)
    _print_table(
        f"Extractors on the same reports ({report.report_megabytes:.2f} MB), as far as each came within its time",
        ("extractor", "version", "MB per CPU second", "MB read", "found", "texts refused", "ours is faster, times"),
        (_extractor_row(name, speed) for name, speed in report.extractors.items()),
    )
    _print_table(
        f"Ours on hostile texts of {report.hostile_characters:,} characters",
        ("text", "CPU seconds", "times as long as half of it"),
        (_hostile_row(name, speed) for name, speed in report.hostile.items()),
    )
    if report.peers_worst:
        _print_table(
            f"The others on the same kinds of text, {report.peer_characters:,} characters each",
            ("extractor", "worst CPU seconds", "on", "texts over the cap"),
            (
                [
                    name,
                    f"{'over ' if worst.over_the_cap else ''}{worst.seconds:.2f}",
                    worst.text,
                    f"{worst.over_the_cap}",
                ]
                for name, worst in report.peers_worst.items()
            ),
        )
    _print_lines([*_added_by_iocextract(report), *report.lines])


def _print_accuracy(title: str, accuracies: Mapping[str, Accuracy]) -> None:
    items = next(iter(accuracies.values())).items
    types = [type for type in IOC_TYPES if any(type in each.f1 for each in accuracies.values())]
    _print_table(
        f"F1 on {items} {title}; all: but names of malware, which no peer reads",
        ("extractor", *types, "all", "without error"),
        (
            [
                name,
                *(f"{each.f1.get(type, 0.0):.3f}" for type in types),
                f"{each.compared_f1:.3f}",
                f"{each.without_error}",
            ]
            for name, each in accuracies.items()
        ),
    )


def _added_by_iocextract(report: ExtractionReport) -> Iterable[str]:
    """Yield what the second reader changes, in a line for each set of texts, and what it costs."""
    for title, accuracies in report.labelled.items():
        alone, both = accuracies[OURS], accuracies[OURS_WITH_IOCEXTRACT]
        yield (
            f"With iocextract as second reader, on {title}: F1 {alone.compared_f1:.4f} -> {both.compared_f1:.4f}, "
            f"without error {alone.without_error} -> {both.without_error} of {alone.items}."
        )
    if OURS_WITH_IOCEXTRACT in report.extractors:
        speed = report.extractors[OURS_WITH_IOCEXTRACT]
        yield f"It costs {speed.ours_is_faster - 1:.0%} of the time on reports."


def _print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    table = Table(title=title, title_justify="left", header_style="bold", box=SIMPLE_HEAD, pad_edge=False)
    for place, column in enumerate(columns):
        table.add_column(column, justify="right" if place else "left", no_wrap=True)
    for row in rows:
        table.add_row(*map(Text, row))
    _console().print(table)


def _print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        _console().print(line, markup=False, emoji=False, soft_wrap=True)


def _console() -> Console:
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=_WIDTH)


def _extractor_row(name: str, speed: ExtractorSpeed) -> list[str]:
    numbers = (
        f"{speed.megabytes_per_second:.2f}",
        f"{speed.megabytes:.2f}",
        f"{speed.found:,}",
        f"{speed.refused_texts}",
    )
    return [name, speed.version, *numbers, f"{speed.ours_is_faster:.1f}"]


def _hostile_row(name: str, speed: HostileSpeed) -> list[str]:
    if speed.seconds is None or speed.doubling_ratio is None:
        return [name, "over the cap", "–"]
    return [name, f"{speed.seconds:.3f}", f"{speed.doubling_ratio:.2f}"]


def _operation_row(name: str, speeds: dict[str, Speed]) -> list[str]:
    ways = (RAW, STORE, API, API_WITH_KEY)
    rates = [f"{speeds[way].per_second:,.0f}" if way in speeds else "–" for way in ways]
    ratios = [_ratio(speeds, way) for way in ways[1:]]
    latencies = [f"{speeds[API].p50_ms:.2f}", f"{speeds[API].p95_ms:.2f}"] if API in speeds else ["–", "–"]
    return [name, *rates, *ratios, *latencies]


def _ratio(speeds: dict[str, Speed], way: str) -> str:
    return f"{speeds[way].per_second / speeds[RAW].per_second:.2f}" if way in speeds else "–"


def _walk_rows(world: WorldReport) -> Iterable[list[str]]:
    for way, first in world.walk[FIRST_PAGE].items():
        far = world.walk[world.deep][way]
        cost = f"{first.per_second / far.per_second:.2f}"
        yield [
            world.engine,
            way.replace("_", " "),
            f"{first.per_second:,.0f}",
            world.deep,
            f"{far.per_second:,.0f}",
            cost,
        ]


def _bucket_rows(buckets: Speeds) -> Iterable[list[str]]:
    for speeds in buckets.values():
        without = speeds["none"].per_second
        for kind, speed in speeds.items():
            ratio = speed.per_second / without
            numbers = [f"{speed.per_second:,.0f}", f"{speed.p50_ms:.2f}", f"{speed.p95_ms:.2f}"]
            yield [kind, *numbers, f"{ratio:.2f}", f"{1 - ratio:.0%}"]
