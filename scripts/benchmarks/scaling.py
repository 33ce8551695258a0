"""What a document and a query cost on one node of Elasticsearch and on three, and what that comes to at other sizes.

Costs are processor time and bytes, which no other load on the machine changes.
"""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import uvloop

from intel.query import IocQuery
from intel.settings import ElasticsearchSettings
from intel.store import Store, condition_of
from intel.store.elastic.store import ElasticStore
from tests.engines.elasticsearch_cluster import ElasticsearchCluster, elasticsearch_cluster
from tests.engines.engine import tree_of

from .folders import Shape, write_reports
from .questions import Question, operations
from .reports import Report, Size, reports

Tell = Callable[[str], None]
LAYOUTS = (1, 3)
IN_AN_ARTICLE = 50
ASKED = ("newest 50", "exact value", "a word", "a frequent word", "newest 50 articles")
_PARTS = (5, 2, 1)
_AT_ONCE = 8
_HEAP = "-Xms1g -Xmx1g"
_TICKS = os.sysconf("SC_CLK_TCK")
_COMMAND = Path(sys.executable).with_name("ioc")


@dataclass(frozen=True, slots=True)
class Point:
    """What was measured at one size: milliseconds of processor time, and bytes of one copy.

    `save_ms` and `save_engine_ms` are for an indicator saved since the point before, in our process and in the nodes;
    `ask_ms` is for a query, in both together. `documents` are those of the largest index.
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


def measure_scaling(indicators: int, asked: int, tell: Tell) -> Scaling:
    """Measure at a fifth, half and all of so many indicators; NotToBeHad where there is no Elasticsearch."""
    points = list[Point]()
    for nodes in LAYOUTS:
        with (
            elasticsearch_cluster(nodes, options=_HEAP) as cluster,
            asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
        ):
            points += runner.run(_measure(cluster, indicators, asked, tell))
    tell("reading reports")
    read_ms = _read_ms(max(20, indicators // IN_AN_ARTICLE // 20))
    return Scaling(points, read_ms, f"on {datetime.now(UTC):%Y-%m-%d} on {os.cpu_count()} shared cores")


async def _measure(cluster: ElasticsearchCluster, indicators: int, asked: int, tell: Tell) -> list[Point]:
    nodes = len(cluster.names)
    settings = ElasticsearchSettings(nodes=tuple(cluster.urls), shards=nodes, replicas=min(1, nodes - 1))
    size = Size(indicators, indicators // IN_AN_ARTICLE)
    waiting, points, store = reports(size), list[Point](), ElasticStore(settings)
    try:
        await store.setup()
        saved = 0
        for part in _PARTS:
            articles = size.articles // part
            tell(f"{nodes} nodes: {articles * IN_AN_ARTICLE:,} indicators")
            before = _used(cluster)
            batch = [next(waiting) for _ in range(articles - saved)]
            await _save(store, batch)
            took = _since(before, cluster, len(batch) * IN_AN_ARTICLE)
            saved = articles
            reached = Size(articles * IN_AN_ARTICLE, articles)
            asking = {name: await _ask(store, operations(reached)[name], asked, cluster) for name in ASKED}
            cluster.post("/_flush")
            indices = (await condition_of(settings)).indices
            copies = 1 + settings.replicas if settings.replicas else 1
            held = sum(index.bytes for index in indices) // copies
            most = max(index.documents for index in indices)
            points.append(Point(nodes, copies, reached.indicators, articles, held, most, *took, asking))
    finally:
        await store.close()
    return points


async def _save(store: Store, batch: Sequence[Report]) -> None:
    queue = iter(batch)

    async def save() -> None:
        for report in queue:
            await store.articles.save(report.article, report.sightings, [report.article.url or ""])

    await asyncio.gather(*(save() for _ in range(_AT_ONCE)))


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


def _read_ms(articles: int) -> float:
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
