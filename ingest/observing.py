"""Who is told how long taking an article in took, and what was weighed in it: the metrics, or nobody."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Sequence
from typing import Protocol, TypeVar

from intel.candidate_records import CandidateRecord
from intel.tracing import span

T = TypeVar("T")


class Observer(Protocol):
    """Told what happens; costs microseconds."""

    def stage_took(self, stage: str, seconds: float) -> None:
        """Note how long one stage (`fetch`, `read` or `save`) of one article took, also where it failed."""

    def weighed(self, candidates: Sequence[CandidateRecord]) -> None:
        """Note the rules that decided on what stood in one article."""


class Unobserved:
    """Nobody is told."""

    def stage_took(self, stage: str, seconds: float) -> None:
        """`Observer.stage_took`."""

    def weighed(self, candidates: Sequence[CandidateRecord]) -> None:
        """`Observer.weighed`."""


async def timed(observer: Observer, stage: str, work: Awaitable[T]) -> T:
    """Do some work and tell how long it took, and the trace of it."""
    begun = time.perf_counter()
    try:
        with span(stage):
            return await work
    finally:
        observer.stage_took(stage, time.perf_counter() - begun)
