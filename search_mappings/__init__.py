"""What the engines are told about our records: data only, the same nouns and field names in both."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any


def elasticsearch_indices() -> dict[str, dict[str, Any]]:
    """Return settings and mappings by index name, one file each."""
    folder = files(__name__) / "elasticsearch"
    found = sorted((file for file in folder.iterdir() if file.name.endswith(".json")), key=lambda file: file.name)
    return {file.name.removesuffix(".json"): json.loads(file.read_text("utf-8")) for file in found}


def sqlite_migrations() -> tuple[tuple[int, str], ...]:
    """Return (version, SQL) of every migration, in order."""
    folder = files(__name__) / "sqlite"
    found = sorted((file for file in folder.iterdir() if file.name.endswith(".sql")), key=lambda file: file.name)
    return tuple((int(file.name[:4]), file.read_text("utf-8")) for file in found)
