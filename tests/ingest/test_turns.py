"""Large pages wait for one another, and not for ever."""

from __future__ import annotations

import asyncio

import pytest

from ingest.reading import Page
from ingest.turns import Turn, is_large
from intel.errors import IsolationFailed
from tests.api.running import NOON


async def test_one_holds_the_turn_at_a_time_and_gives_it_back() -> None:
    turn, now, most = Turn(), 0, 0

    async def read(fails: bool) -> None:
        nonlocal now, most
        async with turn.taken():
            now, most = now + 1, max(most, now + 1)
            await asyncio.sleep(0)
            now -= 1
            if fails:
                raise IsolationFailed("parse_memory", "Too much.")

    await asyncio.gather(*(read(n % 2 == 0) for n in range(10)), return_exceptions=True)
    assert (now, most) == (0, 1)


async def test_who_waits_too_long_comes_again_later() -> None:
    turn = Turn(wait_seconds=0.05)
    async with turn.taken():
        with pytest.raises(IsolationFailed) as failed:
            async with turn.taken():
                raise AssertionError("unreachable")
    assert (failed.value.reason, failed.value.retryable) == ("busy", True)
    async with turn.taken():
        pass


@pytest.mark.parametrize(
    ("body", "kind", "large"),
    [(b"x", "text/html", False), (b"x" * 1_000_001, "text/html", True), (b"%PDF-1.4", "application/pdf", True)],
)
def test_large_is_what_may_take_much_memory(body: bytes, kind: str, large: bool) -> None:
    assert is_large(Page(body, kind, None, None, None, NOON)) is large
