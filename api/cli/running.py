"""What commands share: settings, a store for as long as one runs, and output for people or programs."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, TypeVar

import orjson
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from api.logs import configure_logs
from intel.settings import Settings, load_settings
from intel.store import Store, open_store

T = TypeVar("T")

_WIDTH_WITHOUT_TERMINAL = 200


def with_store(use: Callable[[Store, Settings], Awaitable[T]]) -> T:
    """Run `use` with the store that the settings name, set up first and closed afterwards."""
    settings = load_settings()
    configure_logs(level="WARNING")

    async def run() -> T:
        store = open_store(settings)
        try:
            await store.setup()
            return await use(store, settings)
        finally:
            await store.close()

    return asyncio.run(run())


def print_json(value: Any) -> None:
    """Print one JSON value and a line's end on standard output."""
    # Read again, for records are JSON already, which would not be indented.
    laid_out = orjson.dumps(orjson.loads(orjson.dumps(value)), option=orjson.OPT_INDENT_2)
    sys.stdout.buffer.write(laid_out + b"\n")
    sys.stdout.buffer.flush()


def say(text: str) -> None:
    """Print a line for a person, on standard error, where it disturbs no program."""
    Console(stderr=True, highlight=False).print(Text(text))


def print_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], folded: Sequence[int] = (1,)
) -> None:
    """Print a table for a person; cells are plain text whatever they hold, `folded` columns fold where it is narrow."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=_WIDTH_WITHOUT_TERMINAL)
    table = Table(title=Text(title), title_justify="left", header_style="bold", box=SIMPLE_HEAD, pad_edge=False)
    for place, column in enumerate(columns):
        if place in folded:
            table.add_column(column, overflow="fold", min_width=20 if place == 1 else 12)
        else:
            table.add_column(column, overflow="ellipsis", no_wrap=True, max_width=max(16, console.width - 120))
    for row in rows:
        table.add_row(*(Text(printable(str(cell))) for cell in row))
    console.print(table)


def printable(text: str) -> str:
    """Return a text without what could steer a terminal."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def progress_bar() -> Progress:
    """Return a progress bar on standard error; nothing where that is no terminal."""
    console = Console(stderr=True, highlight=False)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, disable=not console.is_terminal)
