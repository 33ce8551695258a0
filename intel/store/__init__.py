"""The store: a port and its adapters, chosen here and nowhere else."""

from __future__ import annotations

from intel.settings import Settings
from intel.store.port import Store

__all__ = ["Store", "open_store"]


def open_store(settings: Settings) -> Store:
    """The store that the settings name; nothing is connected or made before `Store.setup`."""
    if settings.elasticsearch is None:
        from intel.store.sqlite.store import SqliteStore

        return SqliteStore(settings.data_dir / "ioc.sqlite3")
    from intel.store.elastic.store import ElasticStore

    return ElasticStore(settings.elasticsearch)
