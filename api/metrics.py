"""Metrics for operators: the one file that knows prometheus-client."""

from __future__ import annotations

import asyncio
import os
from collections import Counter as Tally
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Metric,
    ProcessCollector,
    generate_latest,
    start_http_server,
)
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from api.server.shared_texts import SharedTexts
from api.sources import FeedHealth
from intel.candidate_records import CandidateRecord
from intel.records import Catalogue

_PUBLISH_SECONDS = 5.0
# Look-ups take less than a millisecond, an export or a cluster in trouble many seconds.
_ANSWER_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_STAGE_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 180.0)
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class WorkMetrics:
    """How long the store and taking articles in take; `registry` tells it.

    It is an `ingest.observing.Observer`.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._store_seconds = Histogram(
            "ioc_store_seconds",
            "Time that the store's engine takes, in seconds; reads of microseconds are left out.",
            ["operation"],
            registry=registry,
            buckets=_ANSWER_SECONDS,
        )
        self._store_timed = {name: self._store_seconds.labels(name) for name in ("read", "write")}
        self._stage_seconds = Histogram(
            "ioc_ingest_seconds",
            "Time that a stage of taking an article in takes, in seconds.",
            ["stage"],
            registry=registry,
            buckets=_STAGE_SECONDS,
        )
        self._weighed = Counter(
            "ioc_candidates",
            "Candidates in articles, by the rule that decided.",
            ["rule", "kept"],
            registry=registry,
        )

    def store_answered(self, operation: str, seconds: float) -> None:
        """Note how long the store's engine took for a read or a write."""
        self._store_timed[operation].observe(seconds)

    def stage_took(self, stage: str, seconds: float) -> None:
        """`ingest.observing.Observer.stage_took`."""
        self._stage_seconds.labels(stage).observe(seconds)

    def weighed(self, candidates: Sequence[CandidateRecord]) -> None:
        """`ingest.observing.Observer.weighed`."""
        for (rule, kept), number in Tally((one["rule"], one["kept"]) for one in candidates).items():
            self._weighed.labels(rule, "yes" if kept else "no").inc(number)


class Metrics:
    """The metrics of one process, and of what the store holds.

    Where several serve together, `shared` holds what each tells; `worker` is the number of this one.
    """

    def __init__(self, worker: int = 0, shared: SharedTexts | None = None) -> None:
        self._worker = worker
        self._shared = shared
        self._registry = CollectorRegistry()
        self._of_store = CollectorRegistry()
        Gauge("ioc_process", "Id of the process.", registry=self._registry).set(os.getpid())
        ProcessCollector(registry=self._registry)
        self._answers: dict[tuple[str, str, str, int], tuple[Counter, Histogram]] = {}
        self._requests = Counter(
            "ioc_http_requests",
            "Answers by route, tier (key, list, search, wrong-key, account or none) and status.",
            ["method", "route", "tier", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "ioc_http_request_seconds",
            "Time to answer, in seconds.",
            ["route"],
            registry=self._registry,
            buckets=_ANSWER_SECONDS,
        )
        self.work = WorkMetrics(self._registry)
        self._fallbacks = Counter("ioc_limits_without_redis", "Requests limited per process.", registry=self._registry)
        self._connections = Gauge("ioc_connections", "Connections that are open.", registry=self._registry)
        self._refused = Counter(
            "ioc_connections_refused", "Connections refused or ended, by reason.", ["reason"], registry=self._registry
        )
        self._submissions = Gauge("ioc_submissions", "Submissions by status.", ["status"], registry=self._of_store)
        self._oldest = Gauge(
            "ioc_queue_oldest_seconds", "Age of the oldest submission that is due.", registry=self._of_store
        )
        self._catalogue_as_of = Gauge(
            "ioc_catalogue_as_of_timestamp_seconds",
            "Day that a catalogue speaks of.",
            ["catalogue"],
            registry=self._of_store,
        )
        self._records = Gauge("ioc_records", "Stored records by kind.", ["kind"], registry=self._of_store)
        self._feed_success = Gauge(
            "ioc_feed_last_success_timestamp_seconds", "Last success by feed.", ["feed"], registry=self._of_store
        )
        self._feed_failures = Gauge(
            "ioc_feed_failures", "Failures since the last success by feed.", ["feed"], registry=self._of_store
        )
        self._feed_records = Gauge(
            "ioc_feed_records", "What came of each feed, by kind.", ["feed", "kind"], registry=self._of_store
        )

    def answered(self, method: str, route: str, tier: str, status: int, seconds: float) -> None:
        """Count one answer; `route` is the template of the path, never the path itself."""
        counted, timed = self._answers.get((method, route, tier, status)) or self._answer(method, route, tier, status)
        counted.inc()
        timed.observe(seconds)

    def _answer(self, method: str, route: str, tier: str, status: int) -> tuple[Counter, Histogram]:
        """Return the metrics of such an answer, and keep them: finding them by labels costs most."""
        found = self._requests.labels(method, route, tier, str(status)), self._seconds.labels(route)
        self._answers[method, route, tier, status] = found
        return found

    def limited_without_redis(self) -> None:
        """Count one request that was limited in this process because Redis is out of reach."""
        self._fallbacks.inc()

    def connected(self, number: int) -> None:
        """Record how many connections are open."""
        self._connections.set(number)

    def refused_connection(self, reason: str) -> None:
        """Count one connection that was refused or ended because its client exceeded a limit."""
        self._refused.labels(reason).inc()

    def stored(self, records: dict[str, int], submissions: dict[str, int]) -> None:
        """Record what the store holds."""
        for kind, number in records.items():
            self._records.labels(kind).set(number)
        for status, number in submissions.items():
            self._submissions.labels(status).set(number)

    def waiting(self, oldest_due_at: datetime | None, now: datetime) -> None:
        """Record how long the oldest submission has been due."""
        self._oldest.set(max(0.0, (now - oldest_due_at).total_seconds()) if oldest_due_at else 0.0)

    def imported(self, catalogues: Iterable[Catalogue]) -> None:
        """Record of which day each catalogue speaks."""
        for catalogue in catalogues:
            self._catalogue_as_of.labels(catalogue.name).set(catalogue.as_of.timestamp())

    def followed(self, feeds: Iterable[FeedHealth]) -> None:
        """Record how each feed is doing, and drop feeds that no longer exist."""
        for gauge in (self._feed_success, self._feed_failures, self._feed_records):
            gauge.clear()
        for health in feeds:
            feed = health.feed
            self._feed_failures.labels(feed.name).set(feed.failures)
            self._feed_records.labels(feed.name, "articles").set(health.articles)
            self._feed_records.labels(feed.name, "iocs").set(health.iocs)
            if feed.last_success_at is not None:
                self._feed_success.labels(feed.name).set(feed.last_success_at.timestamp())

    async def keep_published(self) -> None:
        """Tell the other workers what this one counted, again and again until cancelled."""
        while True:
            self._publish()
            await asyncio.sleep(_PUBLISH_SECONDS)

    def _publish(self) -> None:
        if self._shared is not None:
            self._shared.put(self._worker, generate_latest(self._registry))

    def render(self) -> bytes:
        """Return all metrics in Prometheus's text format: of several workers those of each, by their number."""
        self._publish()
        here = generate_latest(self._registry) if self._shared is None else _by_worker(self._shared.all())
        return here + generate_latest(self._of_store)


def tell_work(port: int, address: str) -> WorkMetrics:
    """Answer `/metrics` on a port of its own, in a thread; return what is told there."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    start_http_server(port, address, registry)
    return WorkMetrics(registry)


class _Told(Collector):
    """Metrics that were collected elsewhere."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[Metric]:
        return self._metrics


def _by_worker(texts: Mapping[int, bytes]) -> bytes:
    """Return the metrics in all of these texts as one, each with its worker's number."""
    merged: dict[str, Metric] = {}
    for number, text in sorted(texts.items()):
        for told in text_string_to_metric_families(text.decode()):
            metric = merged.setdefault(told.name, Metric(told.name, told.documentation, told.type))
            metric.samples += [
                sample._replace(labels={**sample.labels, "worker": str(number)}) for sample in told.samples
            ]
    registry = CollectorRegistry()
    registry.register(_Told(merged.values()))
    return generate_latest(registry)
