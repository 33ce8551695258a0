"""What a document and a query cost on one node of Elasticsearch and on three, and what that comes to at other sizes.

Costs are processor time and bytes, which no other load on the machine changes.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import uvloop

from api.cli.running import progress_bar
from intel.query import IocQuery
from intel.settings import ElasticsearchSettings
from intel.store import Store, condition_of
from intel.store.elastic.store import ElasticStore
from tests.engines.elasticsearch_cluster import ElasticsearchCluster, elasticsearch_cluster
from tests.engines.elasticsearch_server import JAVA_OPTIONS
from tests.engines.engine import tree_of

from .filling import fill, surely_done
from .folders import Shape, write_reports
from .questions import Question, operations
from .reports import Size, reports

Tell = Callable[[str], None]
LAYOUTS = (1, 3)
IN_AN_ARTICLE = 50
ASKED = ("newest 50", "exact value", "a word", "a frequent word", "newest 50 articles")
_PARTS = (5, 2, 1)
_AT_ONCE = 8
# Of the articles up to a size so many are saved one by one, and measured.
_MEASURED = 200
_POINTS = "points.json"
_SETTLED_SECONDS = 600.0
_TICKS = os.sysconf("SC_CLK_TCK")
_COMMAND = Path(sys.executable).with_name("ioc")


@dataclass(frozen=True, slots=True)
class Point:
    """What was measured at one size: milliseconds of processor time, and bytes of one copy.

    `save_ms` and `save_engine_ms` are for an indicator of the last articles up to that size, which are saved one by
    one, eight at once, in our process and in the nodes; `ask_ms` is for a query, in both together. `documents` are
    those of the largest index.
    """

    nodes: int
    copies: int
    indicators: int
    articles: int
    bytes: int
    documents: int
    save_ms: float
    save_engine_ms: float
    ask_ms: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Scaling:
    """Every point, and the processor time to read and save a report of `IN_AN_ARTICLE` indicators from a file."""

    points: Sequence[Point]
    read_ms: float
    measured_on: str

    def with_point(self, new: Point) -> Scaling:
        """Return it with one more point, in the place of one of the same size and nodes."""
        others = [point for point in self.points if (point.nodes, point.indicators) != (new.nodes, new.indicators)]
        return replace(self, points=sorted([*others, new], key=lambda point: (point.nodes, point.indicators)))


@dataclass(frozen=True, slots=True)
class Effort:
    """What is measured: which sizes in indicators, on how many nodes each, with so many queries of each kind.

    The data stay in the folder `keep`, if there is one, and with them the points, so that a run that was cut short is
    taken up where it was. `java` are options of each node.
    """

    sizes: Sequence[int]
    layouts: Sequence[int] = LAYOUTS
    asked: int = 300
    keep: Path | None = None
    java: str = JAVA_OPTIONS


def parts_of(indicators: int) -> tuple[int, ...]:
    """Return a fifth, half and all of so many."""
    return tuple(indicators // part for part in _PARTS)


def measure_points(effort: Effort, tell: Tell) -> Iterator[Point]:
    """Yield each point as soon as it is measured; NotToBeHad where there is no Elasticsearch."""
    for nodes in effort.layouts:
        folder = effort.keep / f"{nodes}-nodes" if effort.keep else None
        known = _known(folder)
        yield from known
        missing = sorted(set(effort.sizes) - {point.indicators for point in known})
        if not missing:
            continue
        with elasticsearch_cluster(nodes, options=effort.java, keep=folder) as cluster:
            for indicators in missing:
                point = _point(cluster, Size(indicators, indicators // IN_AN_ARTICLE), effort.asked, tell)
                known = [*known, point]
                if folder:
                    (folder / _POINTS).write_text(json.dumps([asdict(each) for each in known]), "utf-8")
                yield point


def _known(folder: Path | None) -> list[Point]:
    file = folder / _POINTS if folder else None
    return [Point(**each) for each in json.loads(file.read_text("utf-8"))] if file and file.exists() else []


def _point(cluster: ElasticsearchCluster, size: Size, asked: int, tell: Tell) -> Point:
    nodes = len(cluster.names)
    settings = ElasticsearchSettings(nodes=tuple(cluster.urls), shards=nodes, replicas=min(1, nodes - 1))
    # To copy the files of what was filled takes a fraction of the time of indexing it twice.
    one_copy = settings.model_copy(update={"replicas": 0})
    there = asyncio.run(_there(one_copy))
    measured = min(_MEASURED, size.articles // 10)
    tell(f"{nodes} nodes: {size.indicators:,} indicators, of which {there * IN_AN_ARTICLE:,} are there")
    _fill(one_copy, Size(size.indicators - measured * IN_AN_ARTICLE, size.articles - measured), there, tell)
    asyncio.run(_there(settings))
    cluster.wait_until_whole(nodes, _SETTLED_SECONDS)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        last = range(size.articles - measured, size.articles)
        return runner.run(_measure(cluster, settings, size, last, asked, tell))


async def _there(settings: ElasticsearchSettings) -> int:
    """Make the indices, where they are missing, and return how many articles they hold for sure."""
    store = ElasticStore(settings)
    try:
        await store.setup()
        return (await store.totals()).articles
    finally:
        await store.close()


def _fill(settings: ElasticsearchSettings, size: Size, there: int, tell: Tell) -> None:
    """Save the articles that are missing, with a progress bar, or a line for each tenth where there is no terminal."""
    with progress_bar() as bar:
        task = bar.add_task("saving articles", total=size.articles, completed=there)
        told = there * 10 // size.articles

        def show(done: int) -> None:
            nonlocal told
            bar.update(task, completed=done)
            if bar.disable and done * 10 // size.articles > told:
                told = done * 10 // size.articles
                tell(f"  {datetime.now(UTC):%H:%M:%S} {done * IN_AN_ARTICLE:,} indicators are there")

        fill(settings, size, surely_done(there), show)


async def _measure(
    cluster: ElasticsearchCluster,
    settings: ElasticsearchSettings,
    size: Size,
    last: range,
    asked: int,
    tell: Tell,
) -> Point:
    store = ElasticStore(settings)
    try:
        # Where a run was cut short here, they are there already, and to save them again would cost less.
        for report in reports(size, last):
            await store.articles.remove(report.article.id)
        await asyncio.to_thread(_settle, cluster)
        before = _used(cluster)
        await _save(store, size, last)
        took = _since(before, cluster, len(last) * IN_AN_ARTICLE)
        await asyncio.to_thread(_settle, cluster)
        totals = await store.totals()
        if (totals.articles, totals.iocs) != (size.articles, size.indicators):
            raise AssertionError(f"{totals.articles} articles and {totals.iocs} indicators, not {size}")
        tell("  asking")
        # Java compiles what runs often: else the first point, of an engine that is cold, costs more than larger ones.
        for name in ASKED:
            await _ask(store, operations(size)[name], asked, cluster)
        asking = {name: await _ask(store, operations(size)[name], asked, cluster) for name in ASKED}
    finally:
        await store.close()
    indices = (await condition_of(settings)).indices
    copies = 1 + settings.replicas if settings.replicas else 1
    held = sum(index.bytes for index in indices) // copies
    most = max(index.documents for index in indices)
    return Point(len(cluster.names), copies, size.indicators, size.articles, held, most, *took, asking)


async def _save(store: Store, size: Size, numbers: range) -> None:
    queue = reports(size, numbers)

    async def save() -> None:
        for report in queue:
            await store.articles.save(report.article, report.sightings, [report.article.url or ""])

    await asyncio.gather(*(save() for _ in range(_AT_ONCE)))


def _settle(cluster: ElasticsearchCluster) -> None:
    """Wait until the nodes merge nothing any more, which would count as a cost of what comes next."""
    end, quiet = time.monotonic() + _SETTLED_SECONDS, 0
    for what in ("_refresh", "_flush"):
        cluster.post(f"/{what}")
    while quiet < 3 and time.monotonic() < end:
        time.sleep(1)
        merging = cluster.get("/_stats/merge").json()["_all"]["total"]["merges"]["current"]
        quiet = 0 if merging else quiet + 1


async def _ask(store: Store, questions: Sequence[Question], count: int, cluster: ElasticsearchCluster) -> float:
    queue = iter(range(count))

    async def ask() -> None:
        for number in queue:
            query = questions[number % len(questions)].query
            await (store.iocs.find(query) if isinstance(query, IocQuery) else store.articles.find(query))

    # Java compiles what it runs often: the first answers cost several times as much as all later ones.
    await asyncio.gather(*(ask() for _ in range(_AT_ONCE)))
    queue = iter(range(count))
    before = _used(cluster)
    await asyncio.gather(*(ask() for _ in range(_AT_ONCE)))
    return sum(_since(before, cluster, count))


def _used(cluster: ElasticsearchCluster) -> tuple[float, float]:
    """Return the seconds of processor time that we and the nodes used so far."""
    nodes = 0
    # What is started only starts the server, which is another process.
    for pid in (each for process in cluster.processes for each in tree_of(process.pid)):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
        nodes += int(fields[11]) + int(fields[12])
    return time.process_time(), nodes / _TICKS


def _since(before: tuple[float, float], cluster: ElasticsearchCluster, count: int) -> tuple[float, float]:
    """Return the milliseconds for each of so many, of our own and of the nodes."""
    ours, nodes = (now - then for now, then in zip(_used(cluster), before, strict=True))
    return ours * 1000 / count, nodes * 1000 / count


def read_ms(articles: int) -> float:
    """Import so many reports into a store of their own, and return the processor time of each."""
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        environment = {"PATH": os.environ.get("PATH", os.defpath), "IOC_DATA_DIR": str(folder / "data")}
        used = []
        for seed, count in enumerate((1, 1, articles)):
            list(write_reports(folder / str(seed), Shape(count, IN_AN_ARTICLE, sources=1, seed=seed)))
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            command = [str(_COMMAND), "import", str(folder / str(seed)), "--source", "Bench"]
            subprocess.run(command, env=environment, check=True, capture_output=True, timeout=3600)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            used.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        # The first one makes the store; what the command costs by itself is in both others.
        return max(0.0, used[2] - used[1]) * 1000 / (articles - 1)
