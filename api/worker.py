"""What the workers of one `ioc serve` share."""

from __future__ import annotations

from dataclasses import dataclass

from api.limits.shared import SharedBuckets
from api.server.shared_texts import SharedTexts
from ingest.queue.hints import Hints


@dataclass(frozen=True, slots=True)
class Worker:
    """One of several processes that serve together; the first one alone reads submissions and does the chores."""

    number: int
    buckets: SharedBuckets
    hints: Hints
    metrics: SharedTexts

    @property
    def is_first(self) -> bool:
        return self.number == 0
