"""`ioc import`: articles from files, folders, archives, MISP events and STIX bundles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from api.cli.filter_options import tlp_option
from api.cli.running import print_json, print_table, progress_bar, say, with_store
from api.web.text import counted
from ingest.assembly import open_ingest
from ingest.files import count_found, found_files, left_out
from ingest.importing import Importing, TakenFile
from ingest.isolated import Isolation
from ingest.warned import begin_marked
from intel.errors import IocError
from intel.records import IOC_TYPES, Article
from intel.settings import Settings
from intel.store import Store
from intel.tlp import Tlp

_LONGEST_TABLE = 40
_MOST_FAILURES = 1_000
_MOST_NAMED = 10
# The cluster works on one while the next is made.
_SAVES_AT_ONCE_SERVED = 2


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of a file, or of one article in it; `reason` says why there is none.

    `status`: done, known, failed, left out (JSON of a folder or archive that shares no indicators).
    """

    path: str
    status: str
    title: str | None = None
    article_id: str | None = None
    ioc_count: int | None = None
    ioc_counts: dict[str, int] = field(default_factory=dict)
    ioc_dropped: int = 0
    reason: str | None = None


class Results:
    """What became of every file: in numbers, and row by row if asked for `all_rows`, else for few files or failures.

    `named` are the paths that somebody gave: of those alone JSON of another kind is a failure.
    """

    def __init__(
        self, *, all_rows: bool, tlp: Tlp | None = None, source: str | None = None, named: Collection[str] = ()
    ) -> None:
        self._all_rows = all_rows
        self._tlp = tlp
        self._source = source
        self._named = frozenset(named)
        self.left_out = 0
        self.left_out_names: list[str] = []
        self._rows: list[Imported] = []
        self._files = Counter[str]()
        self._status = Counter[str]()
        self._iocs = Counter[str]()
        self._dropped = 0

    def add(self, taken: TakenFile) -> None:
        if taken.refusal and taken.refusal.reason == "unknown_json" and taken.path not in self._named:
            self.left_out += 1
            if self.left_out <= _MOST_NAMED:
                self.left_out_names.append(_name(taken.path))
            if self._all_rows:
                self._rows.append(Imported(taken.path, "left out", reason=taken.refusal.detail))
            return
        self._files["failed" if taken.refusal else "well"] += 1
        for row in _rows(taken):
            self._status[row.status] += 1
            if row.status == "done":
                self._iocs.update(row.ioc_counts)
                self._dropped += row.ioc_dropped
            if self._all_rows or self._status.total() <= _LONGEST_TABLE or self._is_shown_failure(row):
                self._rows.append(row)

    def _is_shown_failure(self, row: Imported) -> bool:
        return row.status == "failed" and self._status["failed"] <= _MOST_FAILURES

    @property
    def are_none(self) -> bool:
        return not self._files

    @property
    def failures(self) -> int:
        return self._status["failed"]

    def rows(self) -> list[Imported]:
        """Return every row that was kept; of many files those that failed."""
        is_long = not self._all_rows and self._status.total() > _LONGEST_TABLE
        return [row for row in self._rows if row.status == "failed"] if is_long else self._rows

    def summary(self) -> dict[str, object]:
        return {
            **{name: self._status[name] for name in ("done", "known", "failed")},
            "ioc_counts": {kind: self._iocs[kind] for kind in IOC_TYPES if self._iocs[kind]},
            "ioc_dropped": self._dropped,
        }

    def sentences(self) -> Iterator[str]:
        yield f"{self._files['well']} of {self._files.total()} files imported"
        if self._status["known"]:
            unmarked = f", and marks them TLP:{self._tlp.upper()}; now they keep the TLP they have" if self._tlp else ""
            unnamed = ", and gives them that source; now they keep the one they have" if self._source else ""
            known = f"{self._status['known']} of them were known already"
            yield f"{known}; --again reads such files again{unmarked}{unnamed}"
        if self.failures > _MOST_FAILURES:
            yield f"{self.failures - _MOST_FAILURES:,} more files failed than are shown"
        if self._iocs:
            yield "indicators: " + ", ".join(f"{kind} {self._iocs[kind]:,}" for kind in IOC_TYPES if self._iocs[kind])
        if self._dropped:
            yield f"{self._dropped:,} indicators were beyond the limit of an article and are not stored"


def import_paths(
    paths: Sequence[Path],
    source: str | None,
    published: datetime | None,
    isolation: Isolation | None = None,
    *,
    tlp: str | None = None,
    again: bool,
    as_json: bool,
) -> int:
    """Exit status 1 where a file could not be read; the others are taken in all the same.

    What was imported before is left alone unless `again`: so the same command goes on where it was stopped.
    """
    level = tlp_option(tlp)
    results = Results(all_rows=as_json, tlp=level, source=source, named=[*map(str, paths)])
    published_at = published.replace(tzinfo=UTC) if published else None

    async def run(store: Store, settings: Settings) -> None:
        ingest = open_ingest(settings, store, isolation=isolation)
        try:
            at_once = _SAVES_AT_ONCE_SERVED if settings.served else 1
            most = settings.ioc_most_indicators
            importing = Importing(store, ingest, source, most, again, published_at, at_once, level)
            await begin_marked(store)
            with progress_bar() as progress:
                task = progress.add_task("importing", total=await count_found(ingest.isolation, paths))
                async with (
                    aclosing(found_files(ingest.isolation, paths)) as files,
                    aclosing(importing.all(files)) as all,
                ):
                    async for taken in all:
                        results.add(taken)
                        progress.advance(task)
        finally:
            await ingest.close()

    try:
        with_store(run, writes_much=True)
    except KeyboardInterrupt:
        _report(results, as_json=as_json)
        say("stopped; the same command goes on from here")
        return 1
    if results.are_none:
        kinds = "HTML, text, Markdown, PDF, Word, EML, MISP or STIX file, nor an archive of them"
        _say_left_out(paths, results)
        raise IocError(f"there is nothing to import: no {kinds} in " + ", ".join(map(str, paths)))
    _report(results, as_json=as_json)
    _say_left_out(paths, results)
    return 1 if results.failures else 0


def _say_left_out(paths: Sequence[Path], results: Results) -> None:
    """Count and name the files in folders that are no reports, so that none goes missing in silence."""
    count, names = left_out(paths, _MOST_NAMED)
    _say_of(count, names, "no text is in such files")
    _say_of(results.left_out, results.left_out_names, "such JSON is neither a MISP event nor a STIX 2.1 bundle")


def _say_of(count: int, names: Sequence[str], why: str) -> None:
    if count:
        more = f" and {count - len(names):,} more" if count > len(names) else ""
        say(f"{counted(count, 'file')} left out, for {why}: {', '.join(names)}{more}")


def _rows(taken: TakenFile) -> Iterator[Imported]:
    if taken.refusal is not None:
        yield Imported(taken.path, "failed", reason=taken.refusal.detail)
    for article in taken.articles:
        yield _row(taken.path, "known" if taken.was_known else "done", article)


def _row(path: str, status: str, article: Article) -> Imported:
    counts = {kind: article.ioc_counts[kind] for kind in IOC_TYPES if article.ioc_counts.get(kind)}
    return Imported(path, status, article.title, article.id, article.ioc_count, counts, article.ioc_dropped)


def _report(results: Results, *, as_json: bool) -> None:
    if as_json:
        print_json({"items": [asdict(row) for row in results.rows()], "summary": results.summary()})
    elif rows := [(_name(r.path), r.status, r.ioc_count or 0, r.reason or r.title or "") for r in results.rows()]:
        print_table("Imported", ("file", "status", "indicators", "article"), rows)
    for line in results.sentences():
        say(line)


def _name(path: str) -> str:
    """Return the file's own name, and its place in an archive."""
    outer, bang, inner = path.partition("!")
    return Path(outer).name + bang + inner
