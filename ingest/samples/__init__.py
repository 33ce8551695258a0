"""Articles written for this project, to have something to search from the first minute."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable


def sample_paths() -> tuple[Traversable, ...]:
    """List the sample articles (HTML), sorted by name."""
    found = (entry for entry in files("ingest.samples").iterdir() if entry.name.endswith(".html"))
    return tuple(sorted(found, key=lambda entry: entry.name))
