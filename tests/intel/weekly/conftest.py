"""Every engine in turn, as the contract suite of the store opens them."""

from __future__ import annotations

from tests.contract.store.conftest import elastic_store, open_elastic, open_store, sqlite_store, store

__all__ = ["elastic_store", "open_elastic", "open_store", "sqlite_store", "store"]
