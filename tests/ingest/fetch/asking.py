"""What the tests of fetching share: a name server of their own, and ways to fetch and to fail."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ingest.fetch import FetchAllow, FetchedPage, Fetcher, FetchLimits
from intel.errors import IngestFailed

LOOPBACK = FetchAllow.parse("127.0.0.0/8")


class Names:
    """A name server: each look-up of a name takes the next of its answers, the last one again and again."""

    def __init__(self, **answers: list[list[str]]) -> None:
        self.answers = {name.replace("_", "."): given for name, given in answers.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        given = self.answers[host]
        return given.pop(0) if len(given) > 1 else given[0]


async def fetch(url: str, limits: FetchLimits | None = None, names: Names | None = None) -> FetchedPage:
    return await Fetcher(LOOPBACK, limits, resolver=names).fetch(url)


async def failure(url: str, limits: FetchLimits | None = None, names: Names | None = None) -> IngestFailed:
    with pytest.raises(IngestFailed) as failed:
        await fetch(url, limits, names)
    assert "127.0.0" not in failed.value.detail
    assert failed.value.detail.endswith(".")
    return failed.value
