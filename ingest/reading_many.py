"""Reading many pages of one owner: several in one confined process, so that a short page does not cost a process.

What one of them does to the process costs the others nothing: the page at which it ended is read again alone, those
after it in a process of their own. Pages that may take much memory are read alone from the start.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from itertools import takewhile

import structlog

from ingest.isolated import Isolation
from ingest.reading import Page, ReadPage, checked, is_large, limited, read_pages
from ingest.second_extractor import second_look
from intel.errors import IngestFailed, IsolationFailed
from intel.ids import OPERATOR

log = structlog.get_logger()

Read = Callable[[Page], Awaitable[ReadPage]]


@dataclass(frozen=True, slots=True)
class ReadMany:
    """Reads pages that one owner hands in: all but large ones share a process.

    `read_alone` reads any page in a process of its own.
    """

    isolation: Isolation
    read_alone: Read
    most_indicators: int

    async def __call__(self, pages: Sequence[Page]) -> list[ReadPage | IngestFailed]:
        """Return what stands on each page, or why it cannot be read, in their order."""
        results: list[ReadPage | IngestFailed] = []
        while left := pages[len(results) :]:
            small = list(takewhile(lambda page: not is_large(page), left))
            results += await (self._together(small) if len(small) > 1 else self._alone(left[0]))
        return results

    async def _together(self, pages: list[Page]) -> list[ReadPage | IngestFailed]:
        """Read the first of these pages, up to one that is refused or that its process does not survive."""
        results: list[ReadPage | IngestFailed] = []
        limits = self.isolation.limits
        reading = self.isolation.stream(limits, read_pages, pages, self.most_indicators, account_id=OPERATOR)
        try:
            async with aclosing(reading) as found:
                async for each in found:
                    twice = await second_look(checked(each), self.isolation)
                    results.append(limited(twice, self.most_indicators))
        except IsolationFailed as failure:
            # The page that it did not survive is read alone, and refused there if it has to be.
            log.info("reading several pages broke off", read=len(results), of=len(pages), reason=str(failure))
        except IngestFailed as refusal:
            return [*results, refusal]
        # A process that says more than it was asked has its say about no page.
        return results[: len(pages)] or await self._alone(pages[0])

    async def _alone(self, page: Page) -> list[ReadPage | IngestFailed]:
        try:
            return [await self.read_alone(page)]
        except IngestFailed as refusal:
            return [refusal]
