"""What `ioc doctor` says of the Elasticsearch cluster: its nodes, disks, blocks, and how the indices are laid out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from api.cli.finding import Finding, of_clock
from intel.settings import ElasticsearchSettings
from intel.store import Condition, IndexCondition, condition_of, missing_privileges

_SHOWN: Final = ("articles", "iocs", "sightings")
_UNBLOCK: Final = (
    "Make room on the disks of Elasticsearch (it lifts the block by itself), or lift it: "
    'PUT /{names}/_settings {{"index.blocks.read_only_allow_delete": null}}'
)
_MAKE_ROOM: Final = (
    "Make room, or add a node: past the low watermark a node gets no new shards, past the high one they move away, past"
    " the flood stage writes stop. IOC_RETENTION_DAYS bounds what is kept."
)
_GRANT: Final = (
    "Give its user or API key the role in search_mappings/elasticsearch_role.yml, with ELASTICSEARCH_INDEX_PREFIX"
    " before each name of an index."
)


async def look_at_cluster(settings: ElasticsearchSettings) -> list[Finding]:
    """Return what there is to say, worst first. Raises what `Store` raises."""
    condition = await condition_of(settings)
    clock = of_clock("that of Elasticsearch", condition.clock_ahead)
    return [*_unwell(condition), _nodes(condition), _layout(condition, settings), clock]


async def look_at_privileges(settings: ElasticsearchSettings) -> list[Finding]:
    """Return what the service may not do in the cluster, if anything. Raises what `Store` raises."""
    missing = await missing_privileges(settings)
    if not missing:
        return []
    found = f"Elasticsearch does not allow this service: {'; '.join(missing)}"
    return [Finding("privileges", False, found, _GRANT)]


def _unwell(condition: Condition) -> Iterator[Finding]:
    if condition.blocked:
        names = ",".join(condition.blocked)
        yield Finding("writes", False, f"Elasticsearch takes none for {names}", _UNBLOCK.format(names=names))
    if condition.watermark:
        mark = condition.watermark.replace("_", " ")
        found = f"a node of Elasticsearch is past the {mark} watermark (the fullest disk: {condition.fullest_disk} %)"
        yield Finding("disks", False, found, _MAKE_ROOM)


def _nodes(condition: Condition) -> Finding:
    count = "1 node" if condition.nodes == 1 else f"{condition.nodes} nodes"
    found = f"{count} with data, {condition.status}"
    if condition.unassigned:
        found += f", {condition.unassigned} shards without a node"
    advice = ""
    if condition.status == "red":
        advice = (
            "Start the missing nodes: part of the data is out of reach. GET /_cluster/allocation/explain tells why."
        )
    elif condition.status == "yellow":
        advice = "Start the missing nodes, or lower ELASTICSEARCH_REPLICAS: copies of some shards have no place."
    elif condition.nodes == 1:
        advice = "There is no second copy of anything: add nodes, or make backups (ioc backup)."
    return Finding("Elasticsearch", condition.status != "red", found, advice)


def _layout(condition: Condition, settings: ElasticsearchSettings) -> Finding:
    told = [_laid_out(each) for each in condition.indices if each.noun in _SHOWN]
    refresh = f"refresh every {settings.refresh_seconds or 30} s"
    few = [each.noun for each in condition.indices if each.shards < each.wanted_shards]
    advice = f"Run `ioc reindex`: {', '.join(few)} should have more shards." if few else ""
    return Finding("layout", True, "; ".join([*told, refresh]), advice)


def _laid_out(index: IndexCondition) -> str:
    size = f"{index.documents:,} documents, {index.bytes / 1e9:.1f} GB"
    return f"{index.noun}: {size}, shards {index.shards} × {index.replicas + 1}"
