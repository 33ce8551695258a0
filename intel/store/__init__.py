"""The store: a port and its adapters, chosen here and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from intel.settings import ElasticsearchSettings, Settings
from intel.store.condition import Condition, IndexCondition
from intel.store.observing import Observe, unobserved
from intel.store.port import Store
from intel.times import utc_now

__all__ = ["SQLITE_FILE", "Condition", "IndexCondition", "Store", "condition_of", "missing_privileges", "open_store"]

SQLITE_FILE = "ioc.sqlite3"


def open_store(
    settings: Settings,
    clock: Callable[[], datetime] = utc_now,
    observe: Observe = unobserved,
    *,
    writes_much: bool = False,
) -> Store:
    """Return the store that the settings name; nothing is connected or made before `Store.setup`.

    `clock` tells when indicators are added and changed, `observe` is told how long reads and writes take.
    A process that `writes_much` may hold more of an embedded store in memory.
    """
    if settings.elasticsearch is None:
        from intel.store.sqlite.store import SqliteStore

        return SqliteStore(settings.data_dir / SQLITE_FILE, clock, observe, writes_much=writes_much)
    from intel.store.elastic.store import ElasticStore

    return ElasticStore(settings.elasticsearch, clock=clock, observe=observe)


async def condition_of(settings: ElasticsearchSettings) -> Condition:
    """Ask the cluster how it is doing; raises what `Store` raises where it cannot be asked."""
    from intel.store.elastic.condition import condition_of

    return await condition_of(settings)


async def missing_privileges(settings: ElasticsearchSettings) -> tuple[str, ...]:
    """Return what the service's user or API key is not allowed in the cluster; raises what `Store` raises."""
    from intel.store.elastic.privileges import missing_privileges

    return await missing_privileges(settings)
