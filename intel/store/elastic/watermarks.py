"""The watermarks of Elasticsearch: how full it lets a disk become before it moves shards away and stops writes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

_STAGES: Final = ("flood_stage", "high", "low")
_UNITS: Final = {"b": 1, "kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30, "tb": 1 << 40, "pb": 1 << 50}


def passed(settings: Mapping[str, Any], disks: Iterable[tuple[int, int]]) -> str:
    """Return the worst watermark that a disk, of so many bytes in all and free, is past; empty for none.

    `settings` are those of the cluster with defaults, as it tells them: transient ones hold first.
    """
    layers = [_disk_settings(settings.get(layer, {})) for layer in ("defaults", "persistent", "transient")]
    held = {name: value for layer in layers for name, value in layer.items()}
    if held.get("threshold_enabled") == "false":
        return ""
    disks = list(disks)
    for stage in _STAGES:
        mark, headroom = held.get(f"watermark.{stage}"), held.get(f"watermark.{stage}.max_headroom", "")
        if mark and any(free < _needed(total, mark, headroom) for total, free in disks):
            return stage
    return ""


def _disk_settings(layer: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings below `cluster.routing.allocation.disk` with flat names."""
    found: Any = layer
    for part in ("cluster", "routing", "allocation", "disk"):
        found = found.get(part, {})
    return dict(_flat("", found))


def _flat(prefix: str, members: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    for name, value in members.items():
        if isinstance(value, Mapping):
            yield from _flat(f"{prefix}{name}.", value)
        else:
            yield f"{prefix}{name}", str(value)


def _needed(total: int, mark: str, headroom: str) -> float:
    """Return the bytes that must be free: a share of the disk, but no more than the headroom, or so many bytes."""
    size = _bytes(mark)
    if size is not None:
        return size
    share = float(mark.removesuffix("%")) / (100 if mark.endswith("%") else 1)
    most = _bytes(headroom)
    return min(total * (1 - share), math.inf if most is None else most)


def _bytes(text: str) -> float | None:
    match = re.fullmatch(r"([0-9.]+)([kmgtp]?b)", text.lower())
    return float(match[1]) * _UNITS[match[2]] if match else None
