"""`ioc weekly build` and `ioc weekly show`."""

from __future__ import annotations

import sys
from functools import partial

from rich.progress import Progress, TaskID

from api.cli.running import print_json, print_table, progress_bar, say, with_store
from api.formats.markdown import week_markdown
from api.routes.weekly import week_record
from intel.awareness import load_lessons
from intel.errors import NotFound
from intel.records import Week
from intel.settings import Settings
from intel.store import Store
from intel.times import rfc3339, utc_now
from intel.weekly import week_id, week_ids, week_start, weekly

_NEWEST_WEEKS = 2


def build_weeks(weeks: list[str], *, every: bool, as_json: bool) -> int:
    """Compute the given weeks, or all, or else the two newest; exit status 1 where one has no articles."""

    async def run(store: Store, _: Settings) -> tuple[list[Week], list[str]]:
        known = await week_ids(store)
        wanted = known if every else weeks or known[:_NEWEST_WEEKS]
        for id in wanted:
            week_start(id)
        return await _build(store, wanted)

    built, missing = with_store(run, reads=True)
    for id in missing:
        say(f"{id}: no article was seen in this week")
    if as_json:
        print_json({"items": [_outline(week) for week in built]})
    elif built:
        print_table("Weekly roundups", ("week", "summary", "status", "revision", "generated"), map(_row, built))
    return 1 if missing or not built else 0


async def _build(store: Store, wanted: list[str]) -> tuple[list[Week], list[str]]:
    lessons, built, missing = load_lessons(), [], []
    with progress_bar() as bar:
        task = bar.add_task("weeks", total=len(wanted))
        for id in wanted:
            counted = bar.add_task(id, total=None)
            told = partial(_tell, bar, counted)
            try:
                built.append(await weekly(store, id, lessons, utc_now(), told))
            except NotFound:
                missing.append(id)
            bar.remove_task(counted)
            bar.advance(task)
    return built, missing


def _tell(bar: Progress, task: TaskID, done: int, total: int) -> None:
    bar.update(task, completed=done, total=total)


def show_week(week: str | None, *, as_json: bool) -> None:
    """Print a week, by default the running one, as Markdown."""

    async def run(store: Store, settings: Settings) -> tuple[Week, str]:
        return await weekly(store, week or week_id(utc_now()), load_lessons(), utc_now()), settings.base_url

    found, address = with_store(run, reads=True)
    if as_json:
        print_json(week_record(found))
        return
    sys.stdout.buffer.write(week_markdown(found, address))
    sys.stdout.buffer.flush()


def _outline(week: Week) -> dict[str, object]:
    told = {"id": week.id, "status": week.body["status"], "revision": week.revision}
    return told | {"generated_at": rfc3339(week.generated_at), "summary": week.body["summary"]}


def _row(week: Week) -> tuple[object, ...]:
    return week.id, week.body["summary"], week.body["status"], week.revision, rfc3339(week.generated_at)
