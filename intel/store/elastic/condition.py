"""How the cluster is doing, and how the service's indices are laid out in it, for an operator."""

from __future__ import annotations

import time
from typing import Any

from intel.clocks import seconds_ahead
from intel.settings import ElasticsearchSettings
from intel.store.condition import Condition, IndexCondition
from intel.store.elastic.client import Cluster
from intel.store.elastic.indices import Indices
from intel.store.elastic.layout import Layout
from intel.store.elastic.watermarks import passed

_COLUMNS = "index,docs.count,store.size,pri,rep"
_DISK_COLUMNS = "disk.percent,disk.total,disk.avail"
_THRESHOLDS = "*.cluster.routing.allocation.disk"
_BLOCKS = ("read_only_allow_delete", "read_only", "write")


async def condition_of(settings: ElasticsearchSettings) -> Condition:
    """Ask the cluster; raises what `Store` raises where it cannot be asked."""
    cluster = Cluster(settings)
    indices, layout = Indices(cluster, settings.index_prefix, Layout.of(settings)), Layout.of(settings)
    try:
        health = await cluster.ask("GET", "/_cluster/health", timeout="2s")
        nouns = {(await indices.live(noun)).name: noun for noun in indices.nouns}
        names = ",".join(nouns)
        rows = await cluster.ask("GET", f"/_cat/indices/{names}", format="json", bytes="b", h=_COLUMNS)
        disks = await cluster.ask("GET", "/_cat/allocation", format="json", bytes="b", h=_DISK_COLUMNS)
        thresholds = await cluster.ask("GET", "/_cluster/settings", include_defaults="true", filter_path=_THRESHOLDS)
        blocks = await cluster.ask("GET", f"/{names}/_settings/index.blocks.*", flat_settings="true")
        clock_ahead = await _clock_ahead(cluster)
    finally:
        await cluster.close()
    return Condition(
        nodes=health["number_of_data_nodes"],
        status=health["status"],
        unassigned=health["unassigned_shards"],
        fullest_disk=max((int(row["disk.percent"]) for row in disks if row["disk.percent"]), default=None),
        blocked=tuple(sorted(nouns[name] for name, held in blocks.items() if _is_blocked(held["settings"]))),
        indices=tuple(_index(nouns[row["index"]], row, layout) for row in rows),
        watermark=passed(
            thresholds, [(int(row["disk.total"]), int(row["disk.avail"])) for row in disks if row["disk.total"]]
        ),
        clock_ahead=clock_ahead,
    )


async def _clock_ahead(cluster: Cluster) -> float:
    """Return by how much the clock of the node is ahead whose clock is farthest from this machine's."""
    asked_at = time.time()
    answer = await cluster.ask("GET", "/_nodes/stats/os", filter_path="nodes.*.timestamp")
    answered_at = time.time()
    told = [seconds_ahead(node["timestamp"] / 1000, asked_at, answered_at) for node in answer["nodes"].values()]
    return max(told, key=abs)


def _is_blocked(settings: dict[str, str]) -> bool:
    return any(settings.get(f"index.blocks.{block}") == "true" for block in _BLOCKS)


def _index(noun: str, row: dict[str, Any], layout: Layout) -> IndexCondition:
    documents = int(row["docs.count"] or 0)
    wanted = layout.shards_for(noun, documents)
    return IndexCondition(
        noun, documents, int(row["store.size"] or 0), int(row["pri"]), int(row["rep"]), wanted_shards=wanted
    )
