"""A reader that some pages keep busy, for tests that put it into the place of the real one."""

from __future__ import annotations

import time
from typing import Final

from ingest.reading import Page, ReadPage, read_page

HEAVY: Final = b"<!-- heavy -->"
_CPU_SECONDS: Final = 1.5


def read_burning(page: Page, most_indicators: int) -> ReadPage:
    """Read a page, a heavy one only after burning CPU for a while."""
    end = time.process_time() + _CPU_SECONDS * (HEAVY in page.body)
    while time.process_time() < end:
        pass
    return read_page(page, most_indicators)
