"""What commands share: settings, a store for as long as one runs, and output for people or programs."""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, Final, TypeVar

import orjson
from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from api.logs import configure_logs
from intel.errors import ConfigurationError
from intel.settings import Settings, load_settings
from intel.store import SQLITE_FILE, Store, open_store

T = TypeVar("T")

# New objects, some megabytes of them, and passes after which the garbage collector looks at the young, and at all.
_RARELY: Final = (50_000, 20, 10)
_GAP: Final = "  "
# Within emoji and words of many scripts.
_JOINERS: Final = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"


def with_store(use: Callable[[Store, Settings], Awaitable[T]], *, reads: bool = False, writes_much: bool = False) -> T:
    """Run `use` with the store that the settings name, set up first and closed afterwards.

    With `reads` an embedded store must be there already: ConfigurationError where it is not.
    """
    settings = load_settings()
    if reads:
        check_there_is_data(settings)
    configure_logs(level="WARNING")

    async def run() -> T:
        store = open_store(settings, writes_much=writes_much)
        try:
            await store.setup()
            with _long_rests() if writes_much else nullcontext():
                return await use(store, settings)
        finally:
            await store.close()

    return asyncio.run(run())


@contextmanager
def _long_rests() -> Iterator[None]:
    """Let the garbage collector rest for longer, and leave alone what is loaded: what is saved makes many objects that
    live for a moment, and few cycles.
    """
    usual = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*_RARELY)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()


def check_there_is_data(settings: Settings) -> None:
    """Raise ConfigurationError where the embedded store is not there: nothing is made in a folder by asking."""
    if not settings.served and not has_data(settings):
        raise ConfigurationError(
            f"there is no data in {settings.data_dir.absolute()}: set IOC_DATA_DIR to the data folder of the service, "
            "or fill this one with `ioc import PATH` or `ioc serve`"
        )


def has_data(settings: Settings) -> bool:
    """Tell whether the data folder holds an embedded store."""
    return (settings.data_dir / SQLITE_FILE).exists()


def print_json(value: Any) -> None:
    """Print one JSON value and a line's end on standard output."""
    # Read again, for records are JSON already, which would not be indented.
    laid_out = orjson.dumps(orjson.loads(orjson.dumps(value)), option=orjson.OPT_INDENT_2)
    sys.stdout.buffer.write(laid_out + b"\n")
    sys.stdout.buffer.flush()


def say(text: str) -> None:
    """Print a line for a person, on standard error, where it disturbs no program."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(Text(text))


def print_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], *, wide: bool = False, none: str = "none"
) -> None:
    """Print a table for a person: nothing is cut or left out, cells are plain text whatever they hold.

    Where its rows do not fit the terminal each becomes a few lines, unless `wide`; an empty one says `none`.
    """
    cells = [tuple(printable("–" if cell is None else str(cell)) for cell in row) for row in rows]
    width = None if wide else _width()
    sys.stdout.write(f"{title}: {none}\n" if not cells else f"{title}\n\n")
    sys.stdout.writelines(f"{line.rstrip()}\n" for line in _lines(columns, cells, width))
    sys.stdout.flush()


def _width() -> int | None:
    """Return how many columns there are; None where nobody says."""
    given = os.environ.get("COLUMNS", "").isdigit()
    return shutil.get_terminal_size().columns if given or sys.stdout.isatty() else None


def _lines(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int | None) -> Iterator[str]:
    if not rows:
        return
    widths = [max(map(cell_len, column)) for column in zip(columns, *rows, strict=True)]
    if width is None or sum(widths) + len(_GAP) * (len(widths) - 1) <= width:
        yield _GAP.join(map(_padded, columns, widths))
        yield _GAP.join("─" * width for width in widths)
        yield from (_GAP.join(map(_padded, row, widths)) for row in rows)
        return
    for row in rows:
        yield from _record(columns, row, width)


def _record(columns: Sequence[str], row: Sequence[str], width: int) -> Iterator[str]:
    """Yield one row on lines of its own: what it is about, then each other cell with its column's name."""
    yield _GAP.join(row[:2])
    told = [f"{column}: {cell}" for column, cell in zip(columns[2:], row[2:], strict=True) if cell]
    line = ""
    for each in told:
        joined = f"{line}; {each}" if line else f"  {each}"
        if line and cell_len(joined) >= width:
            yield line
            joined = f"  {each}"
        line = joined
    if line:
        yield line
    yield ""


def _padded(cell: str, width: int) -> str:
    return cell + " " * (width - cell_len(cell))


def printable(text: str) -> str:
    """Return a text without what could steer a terminal."""
    return "".join(c if c.isprintable() or c in _JOINERS else "\N{REPLACEMENT CHARACTER}" for c in text)


def progress_bar() -> Progress:
    """Return a progress bar on standard error; nothing where that is no terminal."""
    console = Console(stderr=True, highlight=False)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, disable=not console.is_terminal)
