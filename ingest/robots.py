"""Ask what sites allow robots to fetch (RFC 9309): the one file that knows protego.

It counts for feeds and for pages reached through them; a page that a person submits is fetched whatever robots.txt
says.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum
from typing import Final
from urllib.parse import urlsplit

from protego import Protego

from ingest.fetch import FetchedPage
from ingest.isolated import Isolation
from intel.errors import IngestFailed, IsolationFailed, RefusedUrl

Fetch = Callable[[str], Awaitable[FetchedPage]]

ROBOT: Final = "ioc-intelligence"
# RFC 9309 has 500 KiB read at least.
LARGEST_ROBOTS_BYTES: Final = 512 * 1024
ROBOTS_TYPES: Final = frozenset({"text/plain", "text/html", "application/octet-stream"})
_KEPT: Final = timedelta(hours=24)
_ASKED_AGAIN: Final = timedelta(minutes=15)
_MOST_SITES: Final = 64
_LONGEST_DELAY_SECONDS: Final = 60.0


class Verdict(Enum):
    """Whether an address may be fetched: yes, no, or not until the site can be asked."""

    ALLOWED = "allowed"
    DISALLOWED = "disallowed"
    WAIT = "wait"


@dataclass(frozen=True, slots=True)
class Asked:
    """A site's verdicts on addresses, in their order, and the seconds it wants between two requests."""

    verdicts: tuple[Verdict, ...]
    delay_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class _Rules:
    """A site's robots.txt until `good_until`: its text, or one verdict for every address."""

    good_until: datetime
    body: bytes = b""
    verdict: Verdict | None = None


class Robots:
    """Asks sites for their robots.txt and keeps the newest answers for a day."""

    def __init__(self, fetch: Fetch, isolation: Isolation, clock: Callable[[], datetime]) -> None:
        """`fetch` gets robots.txt files: within LARGEST_ROBOTS_BYTES, of ROBOTS_TYPES."""
        self._fetch = fetch
        self._isolation = isolation
        self._clock = clock
        self._sites: OrderedDict[str, _Rules] = OrderedDict()

    async def ask(self, urls: Sequence[str]) -> Asked:
        """Return the verdicts on addresses that all begin with the same scheme, host and port."""
        rules = await self._rules(site_of(urls[0]))
        if rules.verdict is not None:
            return Asked((rules.verdict,) * len(urls))
        try:
            asked = await self._isolation.run(judge, rules.body, tuple(urls))
        except IsolationFailed:
            return Asked((Verdict.WAIT,) * len(urls))
        if len(asked.verdicts) != len(urls):
            return Asked((Verdict.WAIT,) * len(urls))
        return replace(asked, delay_seconds=_bounded(asked.delay_seconds))

    async def _rules(self, site: str) -> _Rules:
        known = self._sites.get(site)
        if known is None or known.good_until <= self._clock():
            known = self._sites[site] = await self._fetched(site)
        self._sites.move_to_end(site)
        while len(self._sites) > _MOST_SITES:
            self._sites.popitem(last=False)
        return known

    async def _fetched(self, site: str) -> _Rules:
        verdict, body = None, b""
        try:
            body = (await self._fetch(f"{site}/robots.txt")).body
        except IngestFailed as failure:
            verdict = _verdict_on(failure)
        return _Rules(self._clock() + (_ASKED_AGAIN if verdict is Verdict.WAIT else _KEPT), body, verdict)


def site_of(url: str) -> str:
    """Return `https://blog.example:8443` for an address there."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def judge(body: bytes, urls: tuple[str, ...]) -> Asked:
    """Return the verdicts of a robots.txt. Its author may make it slow to read, so run it in isolation."""
    rules = Protego.parse(body.decode("utf-8", "replace").removeprefix("\ufeff"))
    verdicts = tuple(Verdict.ALLOWED if rules.can_fetch(url, ROBOT) else Verdict.DISALLOWED for url in urls)
    return Asked(verdicts, _bounded(rules.crawl_delay(ROBOT) or 0.0))


def _bounded(seconds: float) -> float:
    return seconds if 0 <= seconds <= _LONGEST_DELAY_SECONDS else _LONGEST_DELAY_SECONDS


def _verdict_on(failure: IngestFailed) -> Verdict:
    """Apply RFC 9309: a missing file (4xx) allows everything, a site out of reach allows nothing until it answers."""
    if isinstance(failure, RefusedUrl):
        return Verdict.DISALLOWED
    out_of_reach = failure.retryable or failure.reason in ("timeout", "tls_failed", "body_too_large")
    return Verdict.WAIT if out_of_reach else Verdict.ALLOWED
