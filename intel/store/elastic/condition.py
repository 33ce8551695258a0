"""How the cluster is doing, and how the service's indices are laid out in it, for an operator."""

from __future__ import annotations

from typing import Any

from intel.settings import ElasticsearchSettings
from intel.store.condition import Condition, IndexCondition
from intel.store.elastic.client import Cluster
from intel.store.elastic.indices import Indices
from intel.store.elastic.layout import Layout

_COLUMNS = "index,docs.count,store.size,pri,rep"
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
        disks = await cluster.ask("GET", "/_cat/allocation", format="json", h="disk.percent")
        blocks = await cluster.ask("GET", f"/{names}/_settings/index.blocks.*", flat_settings="true")
    finally:
        await cluster.close()
    return Condition(
        nodes=health["number_of_data_nodes"],
        status=health["status"],
        unassigned=health["unassigned_shards"],
        fullest_disk=max((int(row["disk.percent"]) for row in disks if row["disk.percent"]), default=None),
        blocked=tuple(sorted(nouns[name] for name, held in blocks.items() if _is_blocked(held["settings"]))),
        indices=tuple(_index(nouns[row["index"]], row, layout) for row in rows),
    )


def _is_blocked(settings: dict[str, str]) -> bool:
    return any(settings.get(f"index.blocks.{block}") == "true" for block in _BLOCKS)


def _index(noun: str, row: dict[str, Any], layout: Layout) -> IndexCondition:
    documents = int(row["docs.count"] or 0)
    wanted = layout.shards_for(noun, documents)
    return IndexCondition(
        noun, documents, int(row["store.size"] or 0), int(row["pri"]), int(row["rep"]), wanted_shards=wanted
    )
