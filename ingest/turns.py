"""Read large pages one at a time, because several at once could take more memory than the service may."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from ingest.body import PDF
from ingest.reading import Page
from intel.errors import IsolationFailed

LARGE_BYTES: Final = 1_000_000
_WAIT_SECONDS: Final = 25.0


class Turn:
    """Held by one at a time; who waits for too long fails, to come again later."""

    def __init__(self, wait_seconds: float = _WAIT_SECONDS) -> None:
        self._lock = asyncio.Lock()
        self._wait_seconds = wait_seconds

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        """Waits for the turn and holds it. Raises IsolationFailed (`busy`)."""
        try:
            async with asyncio.timeout(self._wait_seconds):
                await self._lock.acquire()
        except TimeoutError:
            detail = "Too many large pages are being read at this moment."
            raise IsolationFailed("busy", detail, retryable=True) from None
        try:
            yield
        finally:
            self._lock.release()


def is_large(page: Page) -> bool:
    """Tell whether reading a page may take much memory: PDFs unpack to any size."""
    return len(page.body) > LARGE_BYTES or page.content_type == PDF
