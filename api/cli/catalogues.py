"""`ioc import kev|epss|cvss|attack|warninglist`."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from api import views
from api.auditing import on_command_line
from api.cli.running import print_json, progress_bar, say, with_store
from ingest.assembly import fetch_allow, fetch_proxy
from ingest.catalogues import Imported, Located, import_catalogue, is_address, locate
from ingest.warned import keep_marked
from intel.settings import Settings
from intel.store import Store
from intel.times import utc_now


def import_from(name: str, locations: Sequence[str], *, as_json: bool) -> int:
    """Import a catalogue from files, folders or addresses. Raises an IocError, with nothing changed by that one."""

    async def run(store: Store, settings: Settings) -> list[Imported]:
        return [await _import(store, name, location, settings) for location in locations]

    imported = with_store(run)
    if as_json:
        print_json({"items": [views.catalogue(each.catalogue) | {"notes": list(each.notes)} for each in imported]})
    else:
        for each in imported:
            _tell(each)
    return 0


async def _import(store: Store, name: str, location: str, settings: Settings) -> Imported:
    waiting = Console(stderr=True).status("fetching …") if is_address(location) else contextlib.nullcontext()
    with waiting:
        found = await locate(location, fetch_allow(settings), fetch_proxy(settings))
    with _bar() as bar:
        task = bar.add_task(f"reading {name}", total=_size(found))
        done = await import_catalogue(store, name, found, utc_now(), lambda read: bar.advance(task, read))
    about = f"{done.catalogue.entries:,} entries as of {done.catalogue.as_of:%Y-%m-%d}"
    await on_command_line(store).note("catalogue.imported", name, about)
    with progress_bar() as progress:
        marking = progress.add_task("marking indicators", total=None)
        await keep_marked(store, lambda looked_at: progress.advance(marking, looked_at))
    return done


def _size(found: Located) -> int:
    return sum(file.size for file in found.files)


def _tell(done: Imported) -> None:
    catalogue = done.catalogue
    for note in done.notes:
        say(f"note: {note}")
    former = f"; before: {done.former.entries:,}, as of {done.former.as_of:%Y-%m-%d}" if done.former else ""
    say(f"{catalogue.name}: {catalogue.entries:,} entries, as of {catalogue.as_of:%Y-%m-%d}{former}")


def _bar() -> Progress:
    """Return a progress bar on standard error; nothing where that is no terminal."""
    console = Console(stderr=True, highlight=False)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, disable=not console.is_terminal)
