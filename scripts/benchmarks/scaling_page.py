"""What `scaling` measured and what follows from it, as `docs/scaling.md`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from intel.store.elastic.layout import MOST_BY_ITSELF as MOST_SHARDS_BY_ITSELF

from .scaling import ASKED, IN_AN_ARTICLE, Point, Scaling
from .scaling_model import (
    ARTICLES_A_MINUTE,
    DOCUMENTS_A_SHARD,
    NODE_CORES,
    NODE_DISK,
    NODE_MEMORY,
    QUERIES_A_SECOND,
    Cluster,
    Prices,
    checks,
    cluster_of,
    is_enough,
)

PAGE = Path(__file__).parents[2] / "docs" / "scaling.md"
POINTS = PAGE.with_suffix(".json")
SIZES = (1_000_000, 100_000_000, 10_000_000_000)


def page(measured: Scaling, prices: Prices) -> str:
    """Return the whole page; what was measured alone, where that is too little for a model."""
    parts = [*_measured(measured)]
    if is_enough(measured):
        parts += [*_model(measured, prices), *_checked(measured), *_next(measured)]
    return "\n".join([*parts, ""])


def write(measured: Scaling, prices: Prices) -> None:
    """Write the page, and beside it the points that it was made from."""
    PAGE.write_text(page(measured, prices), "utf-8")
    POINTS.write_text(json.dumps(asdict(measured), indent=1) + "\n", "utf-8")


def measured_before(file: Path) -> Scaling:
    """Return what an earlier run measured."""
    held = json.loads(file.read_text("utf-8"))
    return Scaling([Point(**point) for point in held["points"]], held["read_ms"], held["measured_on"])


def _measured(measured: Scaling) -> Iterator[str]:
    yield "# Past one machine"
    yield ""
    yield "Written by `scripts/bench scaling --write`: nothing on this page was typed in."
    yield f"Measured {measured.measured_on} as processor time and bytes, which other load changes little; articles of"
    yield f"{IN_AN_ARTICLE} indicators. The points are in [scaling.json](scaling.json)."
    yield ""
    yield "## What was measured"
    yield ""
    yield from _table(
        (
            "nodes × copies",
            "indicators",
            "bytes of a copy",
            "documents of the largest index",
            "ms to save one: service",
            "nodes",
            *(f"ms: {name}" for name in ASKED),
        ),
        [
            (
                f"{point.nodes} × {point.copies}",
                f"{point.indicators:,}",
                f"{point.bytes:,}",
                f"{point.documents:,}",
                f"{point.save_ms:.2f}",
                f"{point.save_engine_ms:.2f}",
                *(f"{point.ask_ms[name]:.2f}" for name in ASKED),
            )
            for point in measured.points
        ],
    )
    yield f"To read a report from a file and to save it embedded takes {measured.read_ms:.0f} ms of one core."


def _model(measured: Scaling, prices: Prices) -> Iterator[str]:
    yield ""
    yield f"## With {ARTICLES_A_MINUTE:,} articles a minute and {QUERIES_A_SECOND:,} queries a second"
    yield ""
    yield f"A node has {NODE_CORES} cores, {NODE_MEMORY / 1e9:.0f} GB of memory (half of it heap) and"
    yield f"{NODE_DISK / 1e12:.0f} TB of disk. Prices are an input, in euros a month: {prices.core:g} a core,"
    yield f"{prices.memory_gb:g} a GB of memory, {prices.disk_tb:g} a TB of disk, so {prices.node:,.0f} a node."
    yield "With your own:"
    yield ""
    yield "    scripts/bench scaling --from docs/scaling.json --core-price 14 --memory-price 3 --disk-price 60"
    yield ""
    yield "Disks are filled to 70 %, processors to 50 %; everything has two copies. Queries are the five above in"
    yield "equal shares. Bytes and documents grow along the line nearest to all measured points, a query costs more as"
    yield "the power of the size that comes nearest to them; saving and asking cost as much more as on three nodes."
    yield ""
    clusters = [cluster_of(size, measured) for size in SIZES]
    yield from _table(("indicators", *(f"{each.indicators:,}" for each in clusters)), list(_rows(clusters, prices)))


def _rows(clusters: Sequence[Cluster], prices: Prices) -> Iterator[tuple[str, ...]]:
    yield "disk, both copies (GB)", *(f"{each.bytes / 1e9:,.0f}" for each in clusters)
    yield "documents of the largest index", *(f"{each.documents:,}" for each in clusters)
    yield "its shards (`ELASTICSEARCH_SHARDS`)", *(f"{each.shards:,}" for each in clusters)
    yield "cores of workers", *(f"{each.read_cores:.1f}" for each in clusters)
    yield "cores of nodes for writing", *(f"{each.save_cores:.1f}" for each in clusters)
    yield "cores for queries, service and nodes", *(f"{each.query_cores:.1f}" for each in clusters)
    for what in clusters[0].nodes_by:
        yield f"nodes because of {what}", *(f"{each.nodes_by[what]:,}" for each in clusters)
    yield "**nodes**", *(f"**{each.nodes:,}**" for each in clusters)
    yield "memory of them (GB)", *(f"{each.nodes * NODE_MEMORY / 1e9:,.0f}" for each in clusters)
    yield "€ a month, nodes and workers", *(f"{each.money(prices):,.0f}" for each in clusters)
    yield "hours of `ioc reindex`, at most", *(f"{each.rebuild_hours:,.1f}" for each in clusters)
    yield "what asks for the most nodes", *(each.first for each in clusters)


def _checked(measured: Scaling) -> Iterator[str]:
    yield ""
    yield "## How far the model is off"
    yield ""
    yield "Of each point of one node what follows from all others, and the last point of three nodes."
    yield ""
    rows = [
        (what, f"{said:,.2f}", f"{was:,.2f}", f"{round(said / was - 1, 2) + 0.0:+.0%}")
        for what, said, was in checks(measured)
        if was
    ]
    yield from _table(("", "model", "measured", "off by"), rows)
    smallest, largest = measured.points[0].indicators, max(point.indicators for point in measured.points)
    yield f"Beyond {largest:,} indicators it is a forecast, made from {smallest:,} on. Measure again on your own nodes"
    yield "(`scripts/bench scaling --sizes N,N --nodes 1 --keep FOLDER --write`) before you buy a hundred of them."


def _next(measured: Scaling) -> Iterator[str]:
    yield ""
    yield "## What breaks first, and what to change then"
    yield ""
    for size in SIZES:
        found = cluster_of(size, measured)
        ordered = sorted(found.nodes_by.items(), key=lambda each: -each[1])
        told = ", then ".join(f"{what} ({count:,})" for what, count in ordered[:3])
        yield f"- At {size:,} indicators nodes are needed for {told}."
    own = MOST_SHARDS_BY_ITSELF
    yield f"- **Shards**: the service makes {own} of an index by itself. Beyond {own * DOCUMENTS_A_SHARD:,} documents"
    yield "  set `ELASTICSEARCH_SHARDS` to the number above and run `ioc reindex` beside the running service."
    yield "- **Rebuilding** is one process. It takes the hours above if copying a record costs it what saving one does:"
    yield "  set the shards before a store is that large, and bound it by retention."
    yield "- **Disk**: `IOC_RETENTION_DAYS` bounds it; what goes is archived."
    yield "- **Queries**: more copies (`ELASTICSEARCH_REPLICAS`) spread them; more API servers answer more of them."
    yield "- **Writing**: more shards, a longer `ELASTICSEARCH_REFRESH_SECONDS`; workers are added one by one."


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|---" + "|---:" * (len(head) - 1) + "|"
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""
