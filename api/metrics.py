"""Metrics for operators: the one file that knows prometheus-client."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from api.sources import FeedHealth

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """The metrics of one application."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "ioc_http_requests", "Answers by route and status.", ["method", "route", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "ioc_http_request_seconds", "Time to answer, in seconds.", ["route"], registry=self._registry
        )
        self._fallbacks = Counter("ioc_limits_without_redis", "Requests limited per process.", registry=self._registry)
        self._connections = Gauge("ioc_connections", "Connections that are open.", registry=self._registry)
        self._refused = Counter(
            "ioc_connections_refused", "Connections refused or ended, by reason.", ["reason"], registry=self._registry
        )
        self._submissions = Gauge("ioc_submissions", "Submissions by status.", ["status"], registry=self._registry)
        self._records = Gauge("ioc_records", "Stored records by kind.", ["kind"], registry=self._registry)
        self._feed_success = Gauge(
            "ioc_feed_last_success_timestamp_seconds", "Last success by feed.", ["feed"], registry=self._registry
        )
        self._feed_failures = Gauge(
            "ioc_feed_failures", "Failures since the last success by feed.", ["feed"], registry=self._registry
        )
        self._feed_records = Gauge(
            "ioc_feed_records", "What came of each feed, by kind.", ["feed", "kind"], registry=self._registry
        )

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one answer; `route` is the template of the path, never the path itself."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

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

    def render(self) -> bytes:
        """Return all metrics in Prometheus's text format."""
        return generate_latest(self._registry)
