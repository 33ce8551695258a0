"""The tables of `performance` for a person, on the terminal and as `docs/performance.md`."""

from __future__ import annotations

import json
import os
import platform
import re
import sqlite3
import statistics
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .performance import Performance, Row

_DOCS = Path(__file__).parents[2] / "docs"
PAGE = _DOCS / "performance.md"
GROWTH_PAGE = _DOCS / "growth.md"
_WIDTH = 160
# A ratio that is lower than so much of the one on the page is red.
FALLEN = 0.8
_KEPT = re.compile(r"<!-- ratios (\{.*?\}) -->", re.DOTALL)
_TABLE = re.compile(r"(?m)^## (?P<title>.+)\n\n(?P<lines>(?:\|.*\n)*\|.*)")
_HEADS = {
    "performance": (
        "# Performance\n\n"
        "Written by `scripts/bench tables --write`, which makes every row anew: reports, import, service and load on"
    ),
    "growth": (
        "# Growth\n\n"
        "Written by `scripts/bench growth --write`: two embedded services, one of which holds several times as much, on"
    ),
}
_COLUMNS = ("measured", "value, median (spread)", "beside", "its value", "ratio (spread)", "must")


def print_performance(found: Performance, page: Path = PAGE) -> None:
    """Print every table; red are ratios that fell by more than a fifth against the page."""
    console, fallen = Console(highlight=False), fallen_ratios(found, kept_ratios(page))
    if not console.is_terminal:
        console = Console(highlight=False, width=_WIDTH)
    for title, rows in found.tables.items():
        table = Table(title=f"{title}: {found.data}", title_justify="left", header_style="bold")
        for place, column in enumerate(_COLUMNS):
            table.add_column(column, justify="left" if place in (0, 2) else "right")
        for row in rows:
            style = "bold red" if f"{title}: {row.name} / {row.beside_name}" in fallen else ""
            table.add_row(*(Text(cell, style=style) for cell in cells(row)))
        console.print(table)
    for name, (was, now) in fallen.items():
        console.print(Text(f"{name}: the ratio went from {was:.2f} to {now:.2f}", style="bold red"))
    for line in found.left_out:
        console.print(Text(line), soft_wrap=True)


def kept_ratios(page: Path) -> dict[str, float]:
    """Return the ratios that the page was written with; none where there is no page."""
    kept = _KEPT.search(page.read_text("utf-8")) if page.is_file() else None
    return dict(json.loads(kept[1])) if kept else {}


def fallen_ratios(found: Performance, kept: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """Return what is worse by more than a fifth, as (was, is): a ratio of rates that fell, one of times that rose."""
    now = found.ratios
    both = {name: (was, now[name]) for name, was in kept.items() if name in now}
    return {
        name: (was, is_now)
        for name, (was, is_now) in both.items()
        if (was < is_now * FALLEN if name in found.of_times else is_now < was * FALLEN)
    }


def cells(row: Row) -> list[str]:
    """Return a row's cells, in the order of the columns."""
    value = f"{_spread(row.ours)} {row.unit}"
    if not row.ratios:
        return [_named(row), value, "", "", "", row.must]
    ratio = f"{statistics.median(row.ratios):.2f} × ({min(row.ratios):.2f}–{max(row.ratios):.2f})"
    return [_named(row), value, row.beside_name, _spread(row.beside), ratio, row.must]


def write_page(found: Performance, page: Path = PAGE) -> None:
    """Write the page anew; the ratios stand on it for the next run to be compared with. A table that was not measured
    stays as it is.
    """
    page.write_text("\n".join(_page(found, page)) + "\n", "utf-8")


def _page(found: Performance, page: Path) -> Iterator[str]:
    yield _HEADS[page.stem]
    yield "one machine. Only ratios can be compared between machines; the spread is from the lowest to the highest run."
    yield f"\n- Date: {datetime.now(UTC):%Y-%m-%d}\n- Machine: {_machine()}\n- Data: {found.data}"
    kept = _kept_tables(page)
    if before := [title for title in kept if title not in found.tables]:
        yield f"- Measured before, on another day or machine: {', '.join(before)}"
    for title, lines in (kept | _tables(found)).items():
        yield f"\n## {title}\n\n{lines}"
    if found.left_out:
        yield "\n" + "\n".join(f"- Left out: {line}" for line in found.left_out)
    others = {name: each for name, each in kept_ratios(page).items() if name.partition(":")[0] not in found.tables}
    yield f"\n<!-- ratios {json.dumps(others | found.ratios)} -->"


def _tables(found: Performance) -> dict[str, str]:
    head = f"| {' | '.join(_COLUMNS)} |\n|{'---|' * len(_COLUMNS)}"
    return {
        title: "\n".join([head, *(f"| {' | '.join(cells(row))} |" for row in rows)])
        for title, rows in found.tables.items()
    }


def _kept_tables(page: Path) -> dict[str, str]:
    """Return the tables of the page as they stand, by their titles."""
    text = page.read_text("utf-8") if page.is_file() else ""
    return {found["title"]: found["lines"] for found in _TABLE.finditer(text)}


def _named(row: Row) -> str:
    return f"{row.name} ({row.note})" if row.note else row.name


def _spread(values: Sequence[float]) -> str:
    if not values:
        return "–"
    median = _number(statistics.median(values))
    return f"{median} ({_number(min(values))}–{_number(max(values))})" if len(values) > 1 else median


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:,.1f}" if value >= 10 else f"{value:.2f}"


def _machine() -> str:
    models = re.findall(r"(?m)^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text()) or [platform.machine()]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    return (
        f"{os.cpu_count()} × {models[0]}, {memory:.0f} GiB, Python {platform.python_version()},"
        f" SQLite {sqlite3.sqlite_version}; load when it ended: {load}"
    )
