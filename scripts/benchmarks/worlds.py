"""The engines that the service is measured on: what the service has to be told, and how to ask the engine itself."""

from __future__ import annotations

import json
import secrets
import tempfile
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

import redis

from intel.settings import Settings

from .measuring import Way
from .questions import Query
from .raw_elastic import RawElastic
from .raw_sqlite import RawSqlite
from .served import OPEN_RATES


class Raw(Protocol):
    """The engine itself, asked by the shortest way there is."""

    async def __aenter__(self) -> Self: ...
    async def __aexit__(self, *error: object) -> None: ...
    def way(self, queries: Sequence[Query]) -> Way: ...


@dataclass(frozen=True, slots=True)
class World:
    """One engine: `environment` makes the service use it, `raw` opens it once it is filled.

    `whole` says that the service itself can run on it.
    """

    name: str
    environment: Mapping[str, str]
    raw: Callable[[], Raw]
    whole: bool = True

    @property
    def settings(self) -> Settings:
        return Settings.model_validate({name.lower(): value for name, value in self.environment.items()})


@contextmanager
def embedded() -> Iterator[World]:
    """Give an empty file of its own."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        environment = {**_common(), "IOC_DATA_DIR": folder}
        yield World("SQLite", environment, lambda: RawSqlite(Path(folder) / "ioc.sqlite3"))


@contextmanager
def elasticsearch(address: str, redis_address: str | None) -> Iterator[World]:
    """Empty indices of its own on that server; without a Redis the service cannot run on it."""
    prefix = f"bench-{secrets.token_hex(6)}-"
    environment = {**_common(), "ELASTICSEARCH_URL": address, "ELASTICSEARCH_INDEX_PREFIX": prefix}
    if redis_address is not None:
        environment["REDIS_URL"] = redis_address
    try:
        yield World("Elasticsearch", environment, lambda: RawElastic(address, prefix), redis_address is not None)
    finally:
        _delete_indices(address, prefix)


@contextmanager
def empty_database(redis_address: str) -> Iterator[str]:
    """Give the address of a database of that Redis that was empty; emptied again at the end."""
    with redis.Redis.from_url(redis_address) as client:
        count = int(client.config_get("databases")["databases"])
    for number in reversed(range(count)):
        with redis.Redis.from_url(redis_address, db=number) as client:
            if client.dbsize() == 0:
                try:
                    yield f"{redis_address.rstrip('/')}/{number}"
                finally:
                    client.flushdb()
                return
    raise LookupError(f"no empty database at {redis_address}")


def _common() -> dict[str, str]:
    return {**OPEN_RATES, "IOC_SECRET_KEY": secrets.token_hex(16)}


def _delete_indices(address: str, prefix: str) -> None:
    listing = f"{address}/_cat/indices/{prefix}*?h=index&format=json"
    with urllib.request.urlopen(listing, timeout=30) as answer:  # noqa: S310 - the server that was measured
        names = [row["index"] for row in json.load(answer)]
    if names:
        request = urllib.request.Request(f"{address}/{','.join(names)}", method="DELETE")  # noqa: S310
        urllib.request.urlopen(request, timeout=30).close()  # noqa: S310
