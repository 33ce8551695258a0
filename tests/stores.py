"""A new SQLite store for a test: making the file takes longer than most tests do, so one is made and copied."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from intel.store.sqlite.migrations import prepare


def lay_store(path: Path) -> Path:
    """Put the file of an empty store at that path, where there is none yet."""
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_bytes(_made())
        path.chmod(0o600)
    return path


@cache
def _made() -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        prepare(path)
        return path.read_bytes()
