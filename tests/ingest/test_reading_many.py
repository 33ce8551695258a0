"""Several pages in one confined process come to what each comes to alone."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from ingest.isolated import Isolation, IsolationLimits
from ingest.reading import Page, ReadPage, checked, read_page
from ingest.reading_many import ReadMany
from intel.errors import IngestFailed
from tests.api.running import NOON
from tests.ingest.writing import table

pytestmark = pytest.mark.slow

# A page of more than some hundred indicators is more than this lets a process say.
LIMITS = IsolationLimits(result_bytes=100_000)
MOST = 20_000


def page(text: str) -> Page:
    return Page(text.encode(), "text/plain", None, None, "Notes", NOON)


def told(results: list[ReadPage | IngestFailed]) -> list[str]:
    """How many indicators each page holds, or why it cannot be read."""
    return [each.reason if isinstance(each, IngestFailed) else str(len(each.sightings)) for each in results]


@pytest_asyncio.fixture
async def isolation() -> AsyncIterator[Isolation]:
    isolation = Isolation(LIMITS, preload=("ingest.reading",))
    yield isolation
    await isolation.close()


@pytest.fixture
def read_many(isolation: Isolation) -> ReadMany:
    async def read_alone(page: Page) -> ReadPage:
        return checked(await isolation.run(read_page, page, MOST))

    return ReadMany(isolation, read_alone, MOST)


async def test_pages_come_in_their_order_with_what_each_says(read_many: ReadMany) -> None:
    pages = [page(f"Report {n}\n\n{table(10 * n, n)}") for n in range(1, 6)]
    found = await read_many(pages)
    assert found == [read_page(each, MOST) for each in pages]


async def test_a_page_that_is_refused_leaves_the_others_alone(read_many: ReadMany) -> None:
    pages = [page("")] + [page(table(n, 2)) for n in range(2)] + [page("")] + [page(table(9, 1)), page("")]
    assert told(await read_many(pages)) == ["no_text", "4", "4", "no_text", "2", "no_text"]


async def test_a_page_that_its_process_does_not_survive_leaves_the_others_alone(read_many: ReadMany) -> None:
    pages = [page(table(0, 3)), page(table(0, 900)), page(table(5, 2)), page(table(0, 900))]
    assert told(await read_many(pages)) == ["6", "parse_too_large", "4", "parse_too_large"]


async def test_pages_that_are_too_much_for_one_process_together_are_all_read(read_many: ReadMany) -> None:
    pages = [page(table(n, 60)) for n in range(12)]
    assert await read_many(pages) == [read_page(each, MOST) for each in pages]


async def test_no_pages_are_no_results(read_many: ReadMany) -> None:
    assert await read_many([]) == []
