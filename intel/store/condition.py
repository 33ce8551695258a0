"""How a cluster is doing, as an operator is told."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class IndexCondition:
    """One live index: its documents, bytes with all copies, shards, copies of each, and the shards it should have."""

    noun: str
    documents: int
    bytes: int
    shards: int
    replicas: int
    wanted_shards: int


@dataclass(frozen=True, slots=True)
class Condition:
    """`status` is green, yellow or red; `unassigned` counts shards without a node; `blocked` names indices that take no
    writes; `fullest_disk` is in per cent, None where no node tells it. `watermark` is the worst that a node's disk is
    past (low, high, flood_stage), empty for none. `clock_ahead` is by how many seconds the clock of some node is ahead
    of this machine's, negative where it is behind.
    """

    nodes: int
    status: str
    unassigned: int
    fullest_disk: int | None
    blocked: tuple[str, ...]
    indices: tuple[IndexCondition, ...]
    watermark: str = ""
    clock_ahead: float = 0.0
