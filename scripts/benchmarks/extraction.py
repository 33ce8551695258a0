"""The extractor beside its peers: how right on labelled texts, how fast on the same reports and on hostile texts."""

from __future__ import annotations

import asyncio
import contextlib
import json
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.engines.engine import NotToBeHad

from .accuracy import Accuracy, Item, corpus_items, judged, own_items
from .peers import PEERS, peer_python
from .texts import HOSTILE, hostile_text, report_texts

OURS = "ours"
OURS_WITH_IOCEXTRACT = "ours with iocextract"
_CONTENDER = Path(__file__).with_name("contender.py")
_LOADING_SECONDS = 120
_LONGEST_ANSWER = 1 << 26
_HOSTILE_TIMES = 2
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured: characters of reports and of each hostile text (for us, and for peers, which are given
    `peer_seconds` for each), rounds, the cap for each contender, and how many labelled texts (None: all).
    """

    report_characters: int
    hostile_characters: int
    rounds: int
    cap_seconds: float
    install_peers: bool
    peer_characters: int = 20_000
    peer_seconds: float = 3.0
    items: int | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """One text read: CPU seconds, and how many indicators were found."""

    seconds: float
    found: int


@dataclass(frozen=True, slots=True)
class ExtractorSpeed:
    """One extractor on the texts that it finished within the cap.

    `ours_is_faster` is its time divided by ours on those very texts.
    """

    version: str
    megabytes_per_second: float
    megabytes: float
    found: int
    refused_texts: int
    ours_is_faster: float


@dataclass(frozen=True, slots=True)
class HostileSpeed:
    """CPU seconds on a hostile text, and how many times those on half of it; None where the cap came first."""

    seconds: float | None
    doubling_ratio: float | None


@dataclass(frozen=True, slots=True)
class PeerWorst:
    """A peer on short hostile texts: the one that took it longest, and how many took longer than it was given."""

    text: str
    seconds: float
    over_the_cap: int


@dataclass(slots=True)
class ExtractionReport:
    """Everything that was measured, and in a line each what was not or where more can be learned."""

    report_megabytes: float
    hostile_characters: int
    peer_characters: int
    labelled: dict[str, dict[str, Accuracy]] = field(default_factory=dict)
    peers_worst: dict[str, PeerWorst] = field(default_factory=dict)
    extractors: dict[str, ExtractorSpeed] = field(default_factory=dict)
    hostile: dict[str, HostileSpeed] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)


# What a contender made of each text, in order, as far as it came; None for one that it refused.
_Run = list[Measured | None]


class Contender:
    """A running extractor that reads one text at a time."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def read(self, text: str, seconds: float) -> Measured | None:
        """None for a text that it refuses. TimeoutError where it takes longer."""
        assert self._process.stdin is not None  # noqa: S101 - started with pipes
        self._process.stdin.write(json.dumps(text).encode() + b"\n")
        answer = await self.answer(seconds)
        return None if "error" in answer else Measured(answer["seconds"], int(answer["found"]))

    async def values(self, text: str, page: bool, seconds: float) -> list[tuple[str, str]]:
        """Return what it finds in a text: nothing in one that it refuses. TimeoutError where it takes longer."""
        assert self._process.stdin is not None  # noqa: S101 - started with pipes
        self._process.stdin.write(json.dumps({"text": text, "page": page}).encode() + b"\n")
        answer = await self.answer(seconds)
        return [(type, value) for type, value in answer.get("values", ())]

    async def answer(self, seconds: float) -> dict[str, Any]:
        assert self._process.stdout is not None  # noqa: S101 - started with pipes
        line = await asyncio.wait_for(self._process.stdout.readline(), seconds)
        if not line:
            raise NotToBeHad(f"it ended with status {await self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextlib.asynccontextmanager
async def started(name: str, python: Path) -> AsyncIterator[Contender]:
    """Give the contender once it is loaded. NotToBeHad where it cannot be."""
    process = await asyncio.create_subprocess_exec(
        *(python, "-I", _CONTENDER, name),
        limit=_LONGEST_ANSWER,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        contender = Contender(process)
        await contender.answer(_LOADING_SECONDS)
        yield contender
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def measure_extraction(effort: Effort, tell: Tell) -> ExtractionReport:
    """Measure ours, iocextract, and the peers that can be had."""
    texts = report_texts(effort.report_characters)
    report = ExtractionReport(sum(map(_size, texts)) / 1e6, effort.hostile_characters, effort.peer_characters)
    pythons = _contenders(effort, report.lines, tell)
    runs = asyncio.run(_run_all(pythons, texts, effort, report.lines, tell))
    report.extractors = {name: _speed(name, done, runs[OURS], texts) for name, done in runs.items()}
    report.labelled = asyncio.run(_judge_all(pythons, effort, tell))
    tell("Hostile texts: measuring")
    report.hostile = asyncio.run(_run_hostile(effort))
    if effort.install_peers:
        report.peers_worst = asyncio.run(_run_peers_hostile(pythons, effort, tell))
    return report


def _contenders(effort: Effort, lines: list[str], tell: Tell) -> dict[str, Path]:
    pythons = dict.fromkeys((OURS, OURS_WITH_IOCEXTRACT, "iocextract"), Path(sys.executable))
    for name in PEERS:
        tell(f"{name}: looking for it")
        try:
            pythons[name] = peer_python(name, install=effort.install_peers)
        except NotToBeHad as reason:
            lines.append(f"{name} is left out: {reason}")
    return pythons


async def _run_all(
    pythons: Mapping[str, Path], texts: Sequence[str], effort: Effort, lines: list[str], tell: Tell
) -> dict[str, list[_Run]]:
    runs: dict[str, list[_Run]] = {name: [] for name in pythons}
    for number in range(effort.rounds):
        for name in [name for name in pythons if name in runs]:
            tell(f"round {number + 1} of {effort.rounds}: {name}")
            try:
                runs[name].append(await _run(name, pythons[name], texts, effort.cap_seconds))
            except NotToBeHad as reason:
                lines.append(f"{name} is left out: {reason}")
                del runs[name]
    return runs


async def _run(name: str, python: Path, texts: Sequence[str], cap_seconds: float) -> _Run:
    done: _Run = []
    async with started(name, python) as contender:
        end = time.monotonic() + cap_seconds
        with contextlib.suppress(TimeoutError):
            for text in texts:
                done.append(await contender.read(text, end - time.monotonic()))
    return done


def _speed(name: str, runs: Sequence[_Run], ours: Sequence[_Run], texts: Sequence[str]) -> ExtractorSpeed:
    """From the texts that both finished in every round."""
    count = min(map(len, (*runs, *ours)))
    read = [place for place in range(count) if all(run[place] for run in (*runs, *ours))]
    seconds, our_seconds = _seconds(runs, read), _seconds(ours, read)
    megabytes = sum(_size(texts[place]) for place in read) / 1e6
    return ExtractorSpeed(
        version="this" if name in (OURS, OURS_WITH_IOCEXTRACT) else PEERS.get(name) or version(name),
        megabytes_per_second=megabytes / seconds if seconds else 0.0,
        megabytes=megabytes,
        found=sum(each.found for place in read if (each := runs[0][place])),
        refused_texts=sum(each is None for each in runs[0][:count]),
        ours_is_faster=seconds / our_seconds if our_seconds else 0.0,
    )


def _seconds(runs: Sequence[_Run], read: Sequence[int]) -> float:
    """Return the median of the rounds."""
    return statistics.median(sum(each.seconds for place in read if (each := run[place])) for run in runs)


async def _judge_all(pythons: Mapping[str, Path], effort: Effort, tell: Tell) -> dict[str, dict[str, Accuracy]]:
    """Return how right each is on our own labelled texts and on those of the folder beside the project, if it is
    there.
    """
    sets = {"own labelled texts": own_items(), "labelled texts beside the project": corpus_items()}
    found: dict[str, dict[str, Accuracy]] = {}
    for title, items in sets.items():
        if items:
            found[title] = {}
            for name, python in pythons.items():
                tell(f"{title}: {name}")
                found[title][name] = await _judge(name, python, items[: effort.items], effort)
    return found


async def _judge(name: str, python: Path, items: Sequence[Item], effort: Effort) -> Accuracy:
    """Return what an extractor finds; one that takes too long on a text has found nothing in it."""
    read: list[tuple[Item, list[tuple[str, str]]]] = []
    while len(read) < len(items):
        async with started(name, python) as contender:
            for item in items[len(read) :]:
                page = item.page and name.startswith(OURS)
                try:
                    values = await contender.values(item.text if page else item.plain, page, effort.cap_seconds)
                except TimeoutError:
                    read.append((item, []))
                    break
                read.append((item, values))
    return judged(read)


async def _run_peers_hostile(pythons: Mapping[str, Path], effort: Effort, tell: Tell) -> dict[str, PeerWorst]:
    found: dict[str, PeerWorst] = {}
    for name, python in pythons.items():
        if name not in (OURS, OURS_WITH_IOCEXTRACT):
            tell(f"hostile texts of {effort.peer_characters:,} characters: {name}")
            found[name] = await _peer_worst(name, python, effort)
    return found


async def _peer_worst(name: str, python: Path, effort: Effort) -> PeerWorst:
    worst, over = ("", 0.0), 0
    waiting = list(HOSTILE)
    while waiting:
        async with started(name, python) as contender:
            while waiting:
                text = waiting.pop(0)
                try:
                    took = await contender.read(hostile_text(text, effort.peer_characters), effort.peer_seconds)
                except TimeoutError:
                    worst, over = max(worst, (text, effort.peer_seconds), key=lambda each: each[1]), over + 1
                    break
                worst = max(worst, (text, took.seconds if took else 0.0), key=lambda each: each[1])
    return PeerWorst(*worst, over)


async def _run_hostile(effort: Effort) -> dict[str, HostileSpeed]:
    found: dict[str, HostileSpeed] = {}
    while waiting := [name for name in HOSTILE if name not in found]:
        # After a text that took too long the contender is started anew.
        async with started(OURS, Path(sys.executable)) as contender:
            for name in waiting:
                found[name] = await _hostile_speed(contender, name, effort)
                if found[name].seconds is None:
                    break
    return found


async def _hostile_speed(contender: Contender, name: str, effort: Effort) -> HostileSpeed:
    half, whole = (
        hostile_text(name, characters) for characters in (effort.hostile_characters // 2, effort.hostile_characters)
    )
    try:
        short = [await contender.read(half, effort.cap_seconds) for _ in range(_HOSTILE_TIMES)]
        long = [await contender.read(whole, effort.cap_seconds) for _ in range(_HOSTILE_TIMES)]
    except TimeoutError:
        return HostileSpeed(None, None)
    seconds = min(each.seconds for each in long if each)
    return HostileSpeed(seconds, seconds / min(each.seconds for each in short if each))


def _size(text: str) -> int:
    return len(text.encode(errors="replace"))
