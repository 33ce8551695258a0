"""Counting a week's sightings one by one gives way to whoever asks the same engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from itertools import count as numbers
from types import SimpleNamespace

import pytest

from intel.records import SeenIoc
from intel.store import tally
from intel.store.tally import untold

pytestmark = pytest.mark.asyncio

MONDAY = datetime(2026, 11, 23, tzinfo=UTC)
TOOK_SECONDS = 7.0


async def sightings(count: int) -> AsyncIterator[SeenIoc]:
    for number in range(count):
        yield SeenIoc(f"{number:04}", "domain", f"v{number}.example", "a", "s", MONDAY, MONDAY + timedelta(hours=1))


async def test_counting_rests_as_long_as_it_worked(monkeypatch: pytest.MonkeyPatch) -> None:
    rests: list[float] = []

    async def rest(seconds: float) -> None:
        rests.append(seconds)

    ticks = numbers(0.0, TOOK_SECONDS)
    monkeypatch.setattr(tally, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
    monkeypatch.setattr(tally, "asyncio", SimpleNamespace(sleep=rest))
    await tally.count(MONDAY, (), {}, sightings(600), (), untold, rest_seconds=0.003)
    assert rests == [TOOK_SECONDS, TOOK_SECONDS]
