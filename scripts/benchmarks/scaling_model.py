"""A model of a cluster of any size, from what was measured at small ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, linear_regression

from .scaling import ASKED, IN_AN_ARTICLE, Point, Scaling

ARTICLES_A_MINUTE = 1_000
QUERIES_A_SECOND = 1_000
# Elastic's advice for shards: up to 200 million documents and 10 to 50 GB each; the service makes one for every 25
# million documents.
DOCUMENTS_A_SHARD, BYTES_A_SHARD = 25_000_000, 50 * 10**9
SHARDS_A_NODE = 1_000
_COPIES = 2
# One node: half of its memory is heap, the rest caches what is read again and again, a thirtieth of its disk.
NODE_CORES, NODE_MEMORY, NODE_DISK = 16, 64 * 10**9, 2 * 10**12
_FULL = 0.7
_BUSY = 0.5
_FEWEST_NODES = 3
_FEWEST_SIZES = 3


@dataclass(frozen=True, slots=True)
class Prices:
    """Euros a month. The defaults are round numbers between a rented server and a large cloud; give your own."""

    core: float = 10.0
    memory_gb: float = 2.0
    disk_tb: float = 80.0

    @property
    def node(self) -> float:
        return NODE_CORES * self.core + NODE_MEMORY / 1e9 * self.memory_gb + NODE_DISK / 1e12 * self.disk_tb


@dataclass(frozen=True, slots=True)
class Cluster:
    """What so many indicators take; `cores` by what they do, `nodes` by what asks for them.

    `rebuild_hours` are those of `ioc reindex`, one process, where copying an indicator costs it what saving one does.
    """

    indicators: int
    bytes: int
    documents: int
    shards: int
    save_cores: float
    read_cores: float
    query_cores: float
    rebuild_hours: float
    nodes_by: dict[str, int]

    @property
    def nodes(self) -> int:
        return max(self.nodes_by.values())

    @property
    def first(self) -> str:
        """What asks for the most nodes."""
        return max(self.nodes_by, key=lambda what: self.nodes_by[what])

    def money(self, prices: Prices) -> float:
        """Return the euros a month for the nodes and for the cores of workers."""
        return self.nodes * prices.node + self.read_cores / _BUSY * prices.core


def is_enough(measured: Scaling) -> bool:
    """Tell whether a model can be made: from three sizes of one node, and one of three."""
    return len(_of(measured, 1)) >= _FEWEST_SIZES and bool(_of(measured, 3))


def cluster_of(indicators: int, measured: Scaling) -> Cluster:
    """Return what so many indicators take while `ARTICLES_A_MINUTE` come in and `QUERIES_A_SECOND` are asked."""
    one = _of(measured, 1)
    largest, per_second = one[-1], ARTICLES_A_MINUTE / 60
    held = predicted(one, "bytes", indicators) * _COPIES
    documents = predicted(one, "documents", indicators)
    new = per_second * IN_AN_ARTICLE
    save_cores = new * largest.save_engine_ms * _cost_of_copies(measured) / 1000
    read_cores = per_second * (measured.read_ms + IN_AN_ARTICLE * largest.save_ms) / 1000
    asking = sum(ask_ms(one, name, indicators) for name in ASKED) / len(ASKED)
    query_cores = QUERIES_A_SECOND * asking * _cost_of_nodes(measured) / 1000
    rebuild_hours = indicators * _of(measured, 3)[-1].save_ms / 1000 / 3600
    shards = max(math.ceil(documents / DOCUMENTS_A_SHARD), math.ceil(held / _COPIES / BYTES_A_SHARD))
    nodes = {
        "copies": _FEWEST_NODES,
        "disk": math.ceil(held / (NODE_DISK * _FULL)),
        "writing": math.ceil(save_cores / (NODE_CORES * _BUSY)),
        "queries": math.ceil(query_cores / (NODE_CORES * _BUSY)),
        "shards": math.ceil(shards * _COPIES / SHARDS_A_NODE),
    }
    return Cluster(indicators, held, documents, shards, save_cores, read_cores, query_cores, rebuild_hours, nodes)


def ask_ms(points: Sequence[Point], name: str, indicators: int) -> float:
    """Return what a query costs at that size: a power of the size, between the root of none and all of it, that comes
    nearest to all points.
    """
    sizes = [math.log(point.indicators) for point in points]
    costs = [math.log(point.ask_ms[name]) for point in points]
    grown = min(1.0, max(0.0, linear_regression(sizes, costs).slope))
    return math.exp(fmean(costs) + grown * (math.log(indicators) - fmean(sizes)))


def predicted(points: Sequence[Point], what: str, indicators: int) -> int:
    """Return a figure at that size, on the line that comes nearest to all points, in parts of each."""
    each = [getattr(point, what) / point.indicators for point in points]
    line = linear_regression([1 / point.indicators for point in points], each)
    return round(line.intercept * indicators + line.slope)


def checks(measured: Scaling) -> list[tuple[str, float, float]]:
    """Return what the model says (what, predicted, measured) of points that it was not made from: of each of one node
    what follows from all others, and of the last one of three.
    """
    one, last = _of(measured, 1), _of(measured, 3)[-1]
    found = []
    for what in ("bytes", "documents"):
        for point, others in [*_each_beside(one), (last, one)]:
            said = float(predicted(others, what, point.indicators))
            found.append((f"{what}, {_told(point)}", said, float(getattr(point, what))))
    for name in ASKED:
        for point, others in _each_beside(one):
            said = ask_ms(others, name, point.indicators)
            found.append((f"ms a query, {name}, {_told(point)}", said, point.ask_ms[name]))
    return found


def _each_beside(points: Sequence[Point]) -> list[tuple[Point, list[Point]]]:
    return [(point, [other for other in points if other is not point]) for point in points]


def _told(point: Point) -> str:
    return f"{point.nodes} × {point.copies}, {point.indicators:,}"


def _cost_of_copies(measured: Scaling) -> float:
    """Return by how much saving costs more on three nodes with copies."""
    return _of(measured, 3)[-1].save_engine_ms / _of(measured, 1)[-1].save_engine_ms


def _cost_of_nodes(measured: Scaling) -> float:
    """Return by how much a query costs more on three nodes, which each do a part of it; never less than on one."""
    one, three = _of(measured, 1)[-1], _of(measured, 3)[-1]
    return max(1.0, sum(three.ask_ms.values()) / sum(one.ask_ms.values()))


def _of(measured: Scaling, nodes: int) -> list[Point]:
    return [point for point in measured.points if point.nodes == nodes]
