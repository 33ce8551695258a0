"""What a larger store costs: the same questions to two embedded services, one of which holds several times as much."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from . import folders
from .folders import Shape
from .performance import Effort, Performance, Row, Service, Tell, imported, serving, values_of
from .served import OPEN_RATES

_DEEP_PAGE, _LIMIT = 1_000, 50
_LONGEST_SETTLING, _WATCHED_SECONDS, _IDLE = 3_600, 4, 0.1
# The rates of the larger store beside the smaller one's: 1.5 times the time, and for a deep page 1.2 times.
_SLOWER, _DEEPER = "0.67 ×", "0.83 ×"


@dataclass(frozen=True, slots=True)
class _Store:
    """A filled store: its settings, its file, how fast each source was imported (none where it was there before)."""

    shape: Shape
    environment: Mapping[str, str]
    file: Path
    rates: list[float]

    @property
    def name(self) -> str:
        return f"{self.shape.total:,}"


def measure_growth(sizes: tuple[int, int], effort: Effort, keep: Path | None, tell: Tell) -> Performance:
    """Measure the larger size beside the smaller one; what `keep` holds of a former run is not imported again."""
    with ExitStack() as stack:
        folder = keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
        stores = [_filled(folder / str(size), size, effort, tell) for size in sizes]
        rows, services = [], []
        for store in stores:
            begun = time.perf_counter()
            services.append(stack.enter_context(serving(store.environment)))
            taken = time.perf_counter() - begun
            rows.append(Row(f"start of {store.name}, with an account and a key made", "s", [taken], "< 3"))
        for store, service in zip(stores, services, strict=True):
            first = service.seconds_of("/") * 1000
            rows.append(Row(f"first `/` of {store.name} after a start", "ms", [first], "< 100"))
        tell("growth: waiting until the weeks are computed")
        for store, service in zip(stores, services, strict=True):
            rows.append(Row(f"until the weeks of {store.name} are computed", "s", [_settling_seconds(service)], ""))
        small, large = services
        for name, paths_of in _questions():
            tell(f"growth: {name}")
            fewer, more = ([*paths_of(store.shape)] for store in stores)
            pairs = [(large.load(more, effort, 1), small.load(fewer, effort, 1)) for _ in range(effort.rounds)]
            rows.append(_compared(name, pairs, _SLOWER, f"of {stores[0].name}"))
        rows.append(_deep_page(large, effort))
        facets = [f"/api/v1/iocs?limit={_LIMIT}&facets=true"]
        for store, service in zip(stores, services, strict=True):
            times = [service.load(facets, effort, 1)["p50_ms"] for _ in range(effort.rounds)]
            rows.append(Row(f"whole list of {store.name} with facets", "ms", times, "< 50"))
        for store, service in zip(stores, services, strict=True):
            rows.append(Row(f"memory of `ioc serve` with {store.name}", "MB", [service.memory_megabytes], "< 180"))
            size = store.file.stat().st_size / 1000 / store.shape.total
            rows.append(Row(f"file of {store.name}", "kB an IOC", [size], "< 0.9"))
            if store.rates:
                beside = store.rates[:1]
                rows.append(Row(f"import of {store.name}, last part", "IOCs/s", store.rates[-1:], "", beside, "first"))
        return Performance(f"{stores[0].name} and {stores[1].name} indicators", {"Growth": rows})


def _filled(folder: Path, size: int, effort: Effort, tell: Tell) -> _Store:
    shape = replace(effort.shape, reports=max(1, size // effort.shape.indicators))
    environment = {**OPEN_RATES, "IOC_SECRET_KEY": "b" * 32, "IOC_DATA_DIR": str(folder / "data")}
    rates: list[float] = []
    if not (folder / "data").is_dir():
        tell(f"writing and importing {shape.reports:,} reports of {shape.indicators:,} indicators")
        for source in [*folders.write_reports(folder / "reports", shape)]:
            seconds, sightings = imported(environment, [source], tell)
            rates.append(sightings / seconds)
    return _Store(shape, environment, folder / "data" / "ioc.sqlite3", rates)


def _settling_seconds(service: Service) -> float:
    """Wait until a service has next to nothing to do by itself, and return how long that took; at most an hour."""
    begun, used = time.perf_counter(), service.processor_seconds
    while time.perf_counter() - begun < _LONGEST_SETTLING:
        time.sleep(_WATCHED_SECONDS)
        before, used = used, service.processor_seconds
        if used - before < _IDLE * _WATCHED_SECONDS:
            break
    return time.perf_counter() - begun


def _questions() -> Iterator[tuple[str, Callable[[Shape], Iterator[str]]]]:
    yield "look-up", _lookups
    yield f"newest {_LIMIT}", lambda shape: iter([f"/api/v1/iocs?limit={_LIMIT}"])
    yield "search for a domain that 25 stand on", _domain_searches


def _lookups(shape: Shape) -> Iterator[str]:
    for value in values_of(shape):
        yield f"/api/v1/iocs?value={quote(value, safe='')}"


def _domain_searches(shape: Shape) -> Iterator[str]:
    """Yield searches that find equally much in a store of any size."""
    for number in folders.sample(shape, 400):
        yield f"/api/v1/iocs?limit={_LIMIT}&q={folders.parent_domain(shape.seed, number)}"


def _compared(name: str, pairs: list[tuple[dict[str, float], dict[str, float]]], must: str, beside: str) -> Row:
    own, other = ([run["per_second"] for run in runs] for runs in zip(*pairs, strict=True))
    return Row(f"{name}, one connection", "a second", own, must, other, beside)


def _deep_page(service: Service, effort: Effort) -> Row:
    """Walk to page 1,000, or the last one, by cursors, and measure it beside page 1."""
    first = path = f"/api/v1/iocs?limit={_LIMIT}"
    for _ in range(_DEEP_PAGE - 1):
        cursor = json.loads(service.get(path))["next_cursor"]
        if cursor is None:
            break
        path = f"{first}&cursor={quote(cursor, safe='')}"
    pairs = [(service.load([path], effort, 1), service.load([first], effort, 1)) for _ in range(effort.rounds)]
    return _compared(f"page {_DEEP_PAGE:,}", pairs, _DEEPER, "page 1")
