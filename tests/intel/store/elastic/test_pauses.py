"""Retry: an attempt that another process was quicker than."""

from __future__ import annotations

import pytest

from intel.errors import NotFound, StoreUnavailable
from intel.store.elastic.pauses import TryAgain, retried


async def test_an_attempt_is_repeated_until_it_passes_and_its_result_is_returned() -> None:
    outcomes = iter([False, False, True])

    @retried()
    async def attempt(answer: str) -> str:
        if not next(outcomes):
            raise TryAgain
        return answer

    assert await attempt("done") == "done"


async def test_the_store_is_unavailable_when_the_time_is_up() -> None:
    @retried(0)
    async def attempt() -> None:
        raise TryAgain

    with pytest.raises(StoreUnavailable, match="too busy"):
        await attempt()


async def test_any_other_error_ends_it_at_once() -> None:
    tried = []

    @retried()
    async def attempt() -> None:
        tried.append(1)
        raise NotFound("gone")

    with pytest.raises(NotFound):
        await attempt()
    assert len(tried) == 1
