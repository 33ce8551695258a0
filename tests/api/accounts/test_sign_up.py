"""Making accounts."""

from __future__ import annotations

import pytest

from api.accounts.sign_up import create_account
from intel.errors import AccountExists, InvalidQuery
from tests.api.running import PASSWORD, Running
from tests.cases import each


async def test_an_account_is_stored_under_its_address(api: Running) -> None:
    service = api.service
    made = await create_account(service.store, service.passwords, api.clock, " Analyst@Example.org ", PASSWORD)
    assert (made.email, made.created_at) == ("Analyst@Example.org", api.clock.now)
    assert await api.store.accounts.get(made.id) == made


async def test_an_address_has_one_account_however_it_is_written(api: Running) -> None:
    service = api.service
    await create_account(service.store, service.passwords, api.clock, "analyst@example.org", PASSWORD)
    with pytest.raises(AccountExists):
        await create_account(service.store, service.passwords, api.clock, "ANALYST@example.ORG", PASSWORD)


@each(
    "email",
    ["", "@", "a@", "@b", "a b@c", "a@b@c", "a\n@b", "a@b\u202e", "a" * 65 + "@b", "a@" + "b" * 191, "a@\ud800"],
)
async def test_what_is_no_address_is_refused(api: Running, email: str) -> None:
    service = api.service
    with pytest.raises(InvalidQuery):
        await create_account(service.store, service.passwords, api.clock, email, PASSWORD)
