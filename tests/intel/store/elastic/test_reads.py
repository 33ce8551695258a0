"""Documents that are read together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from intel.store.elastic.store import ElasticStore
from tests.contract.store.test_accounts import make_account, make_key
from tests.intel.store.elastic.wire import Wire

pytestmark = pytest.mark.asyncio


async def test_a_key_and_its_account_are_one_request(
    store: ElasticStore, wired_store: ElasticStore, wire: Wire
) -> None:
    await store.accounts.create(make_account())
    await store.accounts.add_key(make_key())
    found = await wired_store.accounts.key_and_account("account-one", 0, "secret")
    assert found == (make_key(), replace(make_account(), role="administrator"))
    assert len(wire.heads) == 1
