"""Two reads that are asked for together."""

from __future__ import annotations

import pytest

from intel.store.port import Store
from tests.contract.store.test_accounts import make_account


async def test_two_reads_are_answered_together(store: Store) -> None:
    account = await store.accounts.create(make_account())
    both = store.together(store.accounts.get(account.id), store.catalogues.imported_at("warninglist"))
    assert await both == (account, None)


async def test_what_one_of_them_meets_is_raised(store: Store) -> None:
    async def fails() -> None:
        raise LookupError("first")

    with pytest.raises(LookupError, match="first"):
        await store.together(fails(), store.catalogues.imported_at("warninglist"))
    with pytest.raises(LookupError, match="first"):
        await store.together(store.catalogues.imported_at("warninglist"), fails())
