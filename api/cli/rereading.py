"""`ioc reread`: stored articles read again with today's rules."""

from __future__ import annotations

import hashlib
import json
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from api import VERSION
from api.cli.running import print_json, print_table, progress_bar, say, with_store
from api.parameters import read_since
from api.web.text import counted
from ingest.assembly import open_ingest
from ingest.rereading import Reread, Rereading
from ingest.revisions import Named
from intel.canonical import defang
from intel.errors import ConfigurationError, InvalidQuery
from intel.query import ArticleQuery, Position
from intel.settings import Settings
from intel.store import Store

_MOST_ROWS = 1_000
_SHOWN = 5


@dataclass(slots=True)
class _Result:
    """What the articles came to: in numbers, and the first that changed."""

    read: int = 0
    changed: int = 0
    added: int = 0
    vanished: int = 0
    revised: int = 0
    failed: int = 0
    rows: list[Reread] = field(default_factory=list)

    def add(self, one: Reread) -> None:
        self.read += 1
        self.changed += one.changed
        self.added += len(one.added)
        self.vanished += len(one.vanished)
        self.revised += len(one.revised)
        self.failed += one.failure is not None
        if (one.changed or one.failure) and len(self.rows) < _MOST_ROWS:
            self.rows.append(one)


def reread(
    since: str | None, source: str | None, *, dry_run: bool, rate: float, from_start: bool, as_json: bool
) -> int:
    """Exit status 1 where an article could not be read."""
    try:
        earliest = read_since(since)
    except InvalidQuery as error:
        raise ConfigurationError(f"--since {error}") from None

    async def run(store: Store, settings: Settings) -> _Result:
        ingest = open_ingest(settings, store)
        mark = _Mark(settings.data_dir, [VERSION, since, source], kept=not dry_run)
        begin = None if from_start else mark.read()
        if begin is not None:
            say("going on where the last run was stopped; --from-start begins anew")
        rereading = Rereading(
            store, ingest.pipeline, ingest.isolation, settings.ioc_most_indicators, source, earliest, dry_run
        )
        try:
            result = await _all(rereading, begin, mark, 1 / rate)
        finally:
            await ingest.close()
        mark.remove()
        return result

    result = with_store(run, reads=True)
    if as_json:
        print_json({"items": [_row(one) for one in result.rows], **_summary(result), "dry_run": dry_run})
    else:
        _print(result, dry_run=dry_run)
    return 1 if result.failed else 0


async def _all(rereading: Rereading, begin: Position | None, mark: _Mark, seconds_each: float) -> _Result:
    result = _Result()
    total = (await rereading.store.articles.find(ArticleQuery(source=rereading.source, limit=1))).total
    with progress_bar() as bar:
        task = bar.add_task("reading articles again", total=total)
        async with aclosing(rereading.all(begin, seconds_each)) as articles:
            async for one in articles:
                result.add(one)
                mark.write(one.after)
                bar.advance(task)
    return result


class _Mark:
    """A file that tells the next run of the same kind where this one is."""

    def __init__(self, folder: Path, kind: list[str | None], *, kept: bool) -> None:
        name = hashlib.sha256(json.dumps(kind).encode()).hexdigest()[:12]
        self._file = folder / f"reread-{name}.json"
        self._kept = kept
        self._written: Position | None = None

    def read(self) -> Position | None:
        try:
            return Position(tuple(json.loads(self._file.read_text("utf-8"))))
        except (OSError, ValueError, TypeError):
            return None

    def write(self, position: Position | None) -> None:
        if self._kept and position is not None and position != self._written:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            draft = self._file.with_suffix(".draft")
            draft.write_text(json.dumps(position.values), "utf-8")
            draft.replace(self._file)
            self._written = position

    def remove(self) -> None:
        if self._kept:
            self._file.unlink(missing_ok=True)


def _row(one: Reread) -> dict[str, Any]:
    members: dict[str, Any] = {
        "article_id": one.article.id,
        "title": one.article.title,
        "added": [{"type": type, "value": value} for type, value in one.added],
        "vanished": [{"type": type, "value": value} for type, value in one.vanished],
        "revised": [{"type": type, "value": value} for type, value in one.revised],
    }
    return members | ({"reason": one.failure.reason} if one.failure else {})


def _summary(result: _Result) -> dict[str, int]:
    return {name: getattr(result, name) for name in ("read", "changed", "added", "vanished", "revised", "failed")}


def _print(result: _Result, *, dry_run: bool) -> None:
    if result.rows:
        rows = [
            (
                one.article.id[:8],
                one.article.title,
                _some(one.added),
                _some(one.vanished),
                _some(one.revised),
                one.failure or "",
            )
            for one in result.rows
        ]
        print_table("Articles that change", ("Article", "Title", "Added", "Gone", "Context", "Failure"), rows)
    would = "would change" if dry_run else "changed"
    say(
        f"{counted(result.read, 'article')} read again, {result.changed} {would}:"
        f" {counted(result.added, 'indicator')} added, {result.vanished} gone, {result.revised} with another context;"
        f" {result.failed} could not be read"
    )


def _some(named: tuple[Named, ...]) -> str:
    shown = [f"{type} {defang(type, value)}" for type, value in named[:_SHOWN]]
    more = len(named) - len(shown)
    return ", ".join([*shown, f"and {more} more"] if more else shown)
