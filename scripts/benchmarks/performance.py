"""Every row of the tables of `docs/performance.md`: the service at its real size, beside others on the same rows.

Where something stands beside, each round measures both in turn, so that a busy machine is unfair to none.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from tests.engines.elasticsearch_server import elasticsearch as elasticsearch_engine
from tests.engines.engine import NotToBeHad, free_port, running, wait_until
from tests.engines.redis_server import redis_server

from . import datasette, folders, taking_in, worlds
from .folders import Shape
from .load import answers, load, request
from .served import OPEN_RATES, served

Tell = Callable[[str], None]
EMBEDDED, SERVED = "Embedded", "Served"
CONNECTIONS = 16
_COMMAND = Path(sys.executable).with_name("ioc")
_START_SECONDS = 120
_EMAIL, _PASSWORD = "bench@bench.example", "a long password for the bench"
_SPREAD = 4_000
# Articles a round, and how many of the indicators of the large one a list has: all but a tenth.
_ARTICLES, _LARGE = 60, 11_120


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured: `rounds` of `seconds` each way; `install` lets others be installed to compare with;
    `only` one of the tables.
    """

    shape: Shape
    rounds: int
    seconds: float
    install: bool = True
    articles: int = _ARTICLES
    large: int = _LARGE
    only: str | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One row: what each round gave for us and for who stands beside, in `unit`; `must` is what is promised.

    Of a row with something beside, the ratio is promised, else the value itself.
    """

    name: str
    unit: str
    ours: Sequence[float]
    must: str
    beside: Sequence[float] = ()
    beside_name: str = ""
    note: str = ""

    @property
    def ratios(self) -> list[float]:
        return [one / other for one, other in zip(self.ours, self.beside, strict=False) if other]


@dataclass(slots=True)
class Performance:
    """All rows by table, the data they were measured on, and in a line each what was left out."""

    data: str = ""
    tables: dict[str, list[Row]] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)

    @property
    def ratios(self) -> dict[str, float]:
        """The median ratio of every row that has something beside it."""
        return {
            f"{table}: {row.name} / {row.beside_name}": round(statistics.median(row.ratios), 3)
            for table, rows in self.tables.items()
            for row in rows
            if row.ratios
        }

    @property
    def of_times(self) -> frozenset[str]:
        """The names of the ratios of which less is better."""
        return frozenset(
            f"{table}: {row.name} / {row.beside_name}"
            for table, rows in self.tables.items()
            for row in rows
            if row.unit in ("ms", "s")
        )


def measure_performance(effort: Effort, tell: Tell) -> Performance:
    """Measure embedded, and served where Elasticsearch and Redis can be had."""
    found = Performance()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
        tell(f"writing {effort.shape.reports:,} reports of {effort.shape.indicators:,} indicators")
        written = list(folders.write_reports(folder / "reports", effort.shape))
        found.data = (
            f"{effort.shape.reports:,} Markdown reports of {effort.shape.indicators:,} indicators"
            f" ({effort.shape.total:,}), {len(written)} sources"
        )
        if effort.only != SERVED:
            found.tables[EMBEDDED] = _embedded(folder, written, effort, found, tell)
        if effort.only == EMBEDDED:
            return found
        try:
            engine = stack.enter_context(elasticsearch_engine(for_tests=False))
            redis = stack.enter_context(worlds.empty_database(stack.enter_context(redis_server()).address))
        except NotToBeHad as reason:
            found.left_out.append(f"served: Elasticsearch or Redis is not to be had: {reason}")
            return found
        with worlds.elasticsearch(engine.address, redis) as world:
            try:
                found.tables[SERVED] = _served(world, folder, written, effort, engine.address, tell)
            except NotToBeHad as reason:  # what was measured before stays
                found.left_out.append(f"served: {reason}")
    return found


@dataclass(frozen=True, slots=True)
class Service:
    """A running `ioc serve`."""

    address: str
    process: int
    headers: Mapping[str, str]

    def load(self, paths: Sequence[str], effort: Effort, connections: int = CONNECTIONS) -> dict[str, float]:
        """Ask for paths in turn. ValueError where an answer is no 2xx."""
        return self.load_requests([request(self.address, path, **self.headers) for path in paths], effort, connections)

    def load_requests(self, requests: list[str], effort: Effort, connections: int = 1) -> dict[str, float]:
        result = load(self.address, requests, connections, effort.seconds)
        if result["failed"]:
            raise ValueError(f"{result['failed']:.0f} answers were no 2xx, of requests as {requests[0][:200]!r}")
        return result

    @property
    def memory_megabytes(self) -> float:
        return memory_megabytes(self.process)

    @property
    def processor_seconds(self) -> float:
        """What its process has used of the processor since it began."""
        used = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()
        return (int(used[11]) + int(used[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def waited_seconds(self) -> float:
        """How long its first thread has waited for a core since it began; 0 where the system does not tell."""
        told = Path(f"/proc/{self.process}/schedstat")
        return int(told.read_text().split()[1]) / 1e9 if told.is_file() else 0.0

    def get(self, path: str) -> bytes:
        """Return the body of one answer."""
        asked = urllib.request.Request(f"http://{self.address}{path}", headers=dict(self.headers))
        with urllib.request.urlopen(asked, timeout=300) as answer:  # noqa: S310 - our own address
            return bytes(answer.read())

    def seconds_of(self, path: str) -> float:
        """Return how long one request takes."""
        begun = time.perf_counter()
        self.get(path)
        return time.perf_counter() - begun


def memory_megabytes(process: int) -> float:
    """Return the resident memory of a process."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


@contextmanager
def serving(environment: Mapping[str, str], *arguments: str) -> Iterator[Service]:
    """Give a running service with an account and a key."""
    whole = {**os.environ, **environment}
    subprocess.run(
        [_COMMAND, "account", "create", _EMAIL], env=whole, input=f"{_PASSWORD}\n".encode(), capture_output=True
    )
    made = subprocess.run([_COMMAND, "key", "create", _EMAIL], env=whole, capture_output=True, text=True, check=True)
    port = free_port()
    process = subprocess.Popen(
        [_COMMAND, "serve", "--port", str(port), *arguments],
        env=whole,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    with running(process):
        wait_until(process, lambda: answers(port, "/readyz"), _START_SECONDS)
        yield Service(f"127.0.0.1:{port}", process.pid, {"Authorization": f"Bearer {made.stdout.strip()}"})


@contextmanager
def working(environment: Mapping[str, str]) -> Iterator[int]:
    """Give the process of a running `ioc worker`."""
    silent = subprocess.DEVNULL
    process = subprocess.Popen(
        [_COMMAND, "worker"],
        env={**os.environ, **environment},
        stdin=silent,
        stdout=silent,
        stderr=silent,
        start_new_session=True,
    )
    with running(process):
        yield process.pid


def imported(environment: Mapping[str, str], written: Sequence[tuple[str, Path, int]], tell: Tell) -> tuple[float, int]:
    """Import every folder as a source of its own; return the seconds it took and how many sightings there were."""
    begun, sightings = time.perf_counter(), 0
    for source, folder, _ in written:
        tell(f"  importing {source}")
        command: list[str | Path] = [_COMMAND, "import", "--json", "--source", source, folder]
        done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=True)
        sightings += sum(json.loads(done.stdout)["summary"]["ioc_counts"].values())
    return time.perf_counter() - begun, sightings


def _embedded(
    folder: Path, written: Sequence[tuple[str, Path, int]], effort: Effort, found: Performance, tell: Tell
) -> list[Row]:
    environment = {**OPEN_RATES, "IOC_SECRET_KEY": "b" * 32, "IOC_DATA_DIR": str(folder / "data")}
    store = folder / "data" / "ioc.sqlite3"
    tell("embedded: importing")
    seconds, sightings = imported(environment, written, tell)
    rows = [Row("import of these reports", "IOCs/s", [sightings / seconds], "8,000")]
    with ExitStack() as stack:
        service = stack.enter_context(serving(environment))
        tell("embedded: the first pages")
        for path in ("/", "/focus"):
            first = service.seconds_of(path) * 1000
            rows.append(Row(f"first `{path}` after a start", "ms", [first], "< 100"))
        rows += _beside_datasette(stack, service, store, folder, effort, found, tell)
        rows += _alone(service, effort, tell)
        rows.append(Row("memory of `ioc serve` after all of it", "MB", [service.memory_megabytes], "< 180"))
        total = json.loads(service.get("/api/v1/iocs?limit=1"))["total"]
    rows.append(Row("file", "kB an IOC", [store.stat().st_size / 1000 / total], "< 0.9"))
    rows.append(_workers(environment, effort, tell))
    with (
        taking_in.Pages().served() as pages,
        serving({**environment, **pages.environment}, "--workers", "2") as service,
    ):
        rows += _taking_in("embedded", service, pages, effort, tell)
    return rows


def _taking_in(table: str, service: Service, pages: taking_in.Pages, effort: Effort, tell: Tell) -> list[Row]:
    """Measure articles from the moment that their addresses are handed in until searches find them."""
    reader = taking_in.Reader(service.address, service.headers)
    own, beside, large = [], [], []
    for number in range(effort.rounds + 1):
        tell(f"{table}: articles, {f'round {number}' if number else 'to warm up'}")
        made = [taking_in.page(100 + number, each)[0] for each in range(effort.articles)]
        urls = [pages.put(f"{number}/{place}", page) for place, page in enumerate(made)]
        seconds = reader.read(urls)
        page, last = taking_in.page(200 + number, 0, effort.large)
        took = reader.read_one(pages.put(f"{number}/large", page), last)
        if number:
            own.append(len(urls) / seconds)
            beside.append(taking_in.alone(made))
            large.append(took)
    return [
        Row("articles, two processes", "a second", own, "0.7 ×", beside, "trafilatura alone, one process"),
        Row(f"an article of {effort.large * 9 // 10:,} indicators, from submit to searchable", "s", large, "< 3"),
    ]


def values_of(shape: Shape, count: int = _SPREAD) -> list[str]:
    return [folders.indicator(shape.seed, number)[1] for number in folders.sample(shape, count)]


def _words(shape: Shape, count: int = 400) -> list[str]:
    """Return words that 48 values have each, so that stores of every size and both sides show as much."""
    return [folders.kit(shape.seed, number) for number in folders.sample(shape, count)]


def _beside_datasette(
    stack: ExitStack, service: Service, store: Path, folder: Path, effort: Effort, found: Performance, tell: Tell
) -> list[Row]:
    values, words = values_of(effort.shape), _words(effort.shape)
    file = folder / "rows.db"
    asked = {
        "exact look-up, 16 connections": (
            [f"/api/v1/iocs?value={quote(value, safe='')}" for value in values],
            [datasette.lookup_path(file, value) for value in values],
        ),
        "newest 50, 16 connections": (["/api/v1/iocs?limit=50"], [datasette.list_path(file)]),
        "search for a selective word, 50 shown": (
            [f"/api/v1/iocs?limit=50&q={word}" for word in words],
            [datasette.search_path(file, word) for word in words],
        ),
    }
    other = None
    try:
        if not effort.install:
            raise NotToBeHad("a short run installs nothing")
        tell("embedded: Datasette on the same rows")
        datasette.copy_rows(store, file)
        other = stack.enter_context(datasette.datasette(file))
    except NotToBeHad as reason:
        found.left_out.append(f"Datasette is not to be had: {reason}")
    rows = []
    for name, (ours, theirs) in asked.items():
        tell(f"embedded: {name}")
        own, beside = [], []
        for _ in range(effort.rounds):
            own.append(service.load(ours, effort)["per_second"])
            if other is not None:
                requests = [request(other, path) for path in theirs]
                beside.append(load(other, requests, CONNECTIONS, effort.seconds)["per_second"])
        note = datasette.ALIKE if beside else ""
        rows.append(Row(name, "a second", own, "4 ×", beside, "Datasette" if beside else "", note))
    return rows


def _alone(service: Service, effort: Effort, tell: Tell) -> list[Row]:
    """Measure what stands beside nothing: one connection, in milliseconds at the median."""
    values = values_of(effort.shape, 20_000)
    broad = "signin"
    lookups = [f"/api/v1/iocs?value={quote(value, safe='')}" for value in values]
    timed = {
        "whole list with facets": (["/api/v1/iocs?limit=50&facets=true"], "< 50"),
        f"word in {effort.shape.total // 5:,} values, ranked": ([f"/api/v1/iocs?limit=50&q={broad}"], "< 40"),
        "the same with facets": ([f"/api/v1/iocs?limit=50&facets=true&q={broad}"], "< 100"),
        "word in all titles, with facets": (["/api/v1/iocs?limit=50&facets=true&q=campaign"], "< 100"),
    }
    tell("embedded: one connection")
    runs, bulk = list[dict[str, float]](), list[float]()
    some = _bulk_requests(service, values, 50)
    waited = list[float]()
    for _ in range(effort.rounds):
        before = service.waited_seconds
        runs.append(service.load(lookups, effort, 1))
        waited.append(service.waited_seconds - before)
        bulk += [service.load_requests(some, effort)["p50_ms"]] if some else []
    one = [run["p50_ms"] for run in runs]
    rows = [
        Row("look-up, one connection, median", "ms", one, ""),
        Row("look-up, one connection, p99", "ms", [run["p99_ms"] for run in runs], "< 3", note=_waited(waited, effort)),
        Row("look-up of 50 values in one call", "ms", bulk, "3 × one look-up", one, "one look-up"),
    ]
    for name, (paths, must) in timed.items():
        taken = [service.load(paths, effort, 1)["p50_ms"] for _ in range(effort.rounds)]
        rows.append(Row(name, "ms", taken, must))
    many = _bulk_requests(service, values, 1_000)
    taken = [service.load_requests(many, effort)["p50_ms"] for _ in range(effort.rounds)] if many else []
    rows.append(Row("look-up of 1,000 values in one call", "ms", taken, "< 150 ms"))
    return rows


def _waited(seconds: Sequence[float], effort: Effort) -> str:
    """Say how busy the machine was with others: what a service waits for a core shows in its slowest answers."""
    return f"the service waited {statistics.median(seconds) / effort.seconds:.0%} of the time for a core"


def _bulk_requests(service: Service, values: Sequence[str], count: int) -> list[str]:
    """Return look-ups of so many values each; none where there are too few."""
    portions = [values[start : start + count] for start in range(0, len(values) - count + 1, count)][:100]
    return [request(service.address, "/api/v1/iocs/lookup", {"values": each}, **service.headers) for each in portions]


def _workers(environment: Mapping[str, str], effort: Effort, tell: Tell) -> Row:
    """Measure two processes beside one; client and service share the machine, so that the ratio is a lower bound."""
    tell("embedded: two workers beside one")
    paths = [f"/api/v1/iocs?value={quote(value, safe='')}" for value in values_of(effort.shape)]
    two, one = [], []
    with serving(environment) as single, serving(environment, "--workers", "2") as double:
        for _ in range(effort.rounds):
            one.append(single.load(paths, effort)["per_second"])
            two.append(double.load(paths, effort)["per_second"])
    note = "the client runs on the same cores"
    return Row("look-up with `--workers 2`", "a second", two, "1.5 ×", one, "one process", note=note)


def _served(
    world: worlds.World, folder: Path, written: Sequence[tuple[str, Path, int]], effort: Effort, engine: str, tell: Tell
) -> list[Row]:
    from . import direct  # with FastAPI, which nothing else here needs

    environment = {**world.environment, "IOC_DATA_DIR": str(folder / "served")}
    tell("served: importing")
    seconds, sightings = imported(environment, written, tell)
    rows = [Row("import of these reports", "IOCs/s", [sightings / seconds], "5,000")]
    index = f"{environment['ELASTICSEARCH_INDEX_PREFIX']}iocs"
    values = values_of(effort.shape)
    plain = {"Content_Type": "application/json"}
    raw_lookups = [
        request(engine.removeprefix("http://"), f"/{index}/_search", {"query": {"term": {"value": value}}}, **plain)
        for value in values
    ]
    raw_list = {"size": 50, "sort": [{"last_seen": "desc"}, {"id": "asc"}], "track_total_hits": True}
    asked = {
        "exact look-up": ([f"/api/v1/iocs?value={quote(value, safe='')}" for value in values], raw_lookups, "0.20 ×",
                          [f"/iocs?value={quote(value, safe='')}" for value in values]),
        "newest 50": (["/api/v1/iocs?limit=50"],
                      [request(engine.removeprefix("http://"), f"/{index}/_search", raw_list)], "0.40 ×", ["/iocs"]),
    }  # fmt: skip
    given = {direct.ADDRESS: engine, direct.INDEX: index}
    with serving(environment) as service, served(given, f"{direct.__name__}:create_app", ready="/docs") as route:
        for name, (ours, raw, must, obvious) in asked.items():
            tell(f"served: {name}")
            own, beside, plainly = [], [], []
            for _ in range(effort.rounds):
                own.append(service.load(ours, effort)["per_second"])
                beside.append(load(engine.removeprefix("http://"), raw, CONNECTIONS, effort.seconds)["per_second"])
                requests = [request(route.removeprefix("http://"), path) for path in obvious]
                plainly.append(load(route.removeprefix("http://"), requests, CONNECTIONS, effort.seconds)["per_second"])
            rows.append(Row(name, "a second", own, must, beside, "Elasticsearch itself"))
            rows.append(Row(name, "a second", own, "2 ×", plainly, "FastAPI + elasticsearch-py"))
        rows.append(Row("memory of the API", "MB", [service.memory_megabytes], "< 150"))
    with taking_in.Pages().served() as pages, ExitStack() as stack:
        reading = {**environment, **pages.environment}
        service = stack.enter_context(serving(reading))
        workers = [stack.enter_context(working(reading)) for _ in range(2)]
        rows += _taking_in("served", service, pages, effort, tell)
        rows.append(Row("memory of a worker", "MB", [max(map(memory_megabytes, workers))], "< 250"))
    return rows
