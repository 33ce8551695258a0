"""Rates and latencies of several ways to do the same thing, in rounds, so that a busy machine is unfair to none."""

from __future__ import annotations

import asyncio
import itertools
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

CONNECTIONS = 8


@dataclass(frozen=True, slots=True)
class Way:
    """One way to answer: `ask(i)` asks the i-th question, `found` counts the records of an answer.

    `tasks` ask at the same time.
    """

    ask: Callable[[int], Awaitable[Any]]
    found: Callable[[Any], int]
    tasks: int = CONNECTIONS


@dataclass(frozen=True, slots=True)
class Pace:
    """How long is measured: `rounds` of `seconds` for each way."""

    rounds: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Sample:
    """One way in one round; latencies in seconds."""

    per_second: float
    latencies: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Speed:
    """The median rate of all rounds, and latencies over all their answers."""

    per_second: float
    p50_ms: float
    p95_ms: float


Ways = Mapping[str, Way]
Speeds = dict[str, dict[str, Speed]]


async def compare(operations: Mapping[str, Ways], pace: Pace, tell: Callable[[str], None]) -> Speeds:
    """Return the speed of every way of every operation: each round measures them all, one after the other."""
    samples: dict[str, dict[str, list[Sample]]] = {name: {way: [] for way in ways} for name, ways in operations.items()}
    questions = itertools.count()
    await _warm_up(operations)
    for number in range(pace.rounds):
        tell(f"  round {number + 1} of {pace.rounds}")
        for operation, ways in operations.items():
            for name in _rotated(list(ways), number):
                samples[operation][name].append(await _sample(ways[name], pace.seconds, questions))
    return {name: {way: speed_of(taken) for way, taken in ways.items()} for name, ways in samples.items()}


def speed_of(samples: Sequence[Sample]) -> Speed:
    """Return what several rounds come to."""
    latencies = sorted(latency * 1000 for sample in samples for latency in sample.latencies)
    rate = statistics.median(sample.per_second for sample in samples)
    return Speed(rate, percentile(latencies, 50), percentile(latencies, 95))


def percentile(ordered: Sequence[float], percent: int) -> float:
    """Return the value that so many percent of the ordered values do not exceed."""
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


async def _warm_up(operations: Mapping[str, Ways]) -> None:
    for ways in operations.values():
        for way in ways.values():
            await asyncio.gather(*(way.ask(question) for question in range(way.tasks)))


async def _sample(way: Way, seconds: float, questions: Iterator[int]) -> Sample:
    latencies: list[float] = []
    start = time.perf_counter()
    deadline = start + seconds

    async def ask_until_deadline() -> None:
        begin = start
        while begin < deadline:
            begin = time.perf_counter()
            await way.ask(next(questions))
            latencies.append(time.perf_counter() - begin)

    await asyncio.gather(*(ask_until_deadline() for _ in range(way.tasks)))
    return Sample(len(latencies) / (time.perf_counter() - start), tuple(latencies))


def _rotated(names: list[str], by: int) -> list[str]:
    start = by % len(names)
    return names[start:] + names[:start]
