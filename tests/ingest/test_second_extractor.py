"""What the worker's second reader adds to a page, and what its failure costs: nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ingest.indicators import iocextract_step
from ingest.indicators.iocextract_step import SecondRead
from ingest.indicators.missed_defanging import MissedPiece
from ingest.isolated import Isolation, IsolationLimits
from ingest.reading import Page, ReadPage, read_page
from ingest.second_extractor import read_again, reading_twice, with_second

pytestmark = pytest.mark.slow

NOTE = (
    "The loader asked hxxp://gale-post[.]com/a first.\n"
    "Then it went on to hxxps://mist-post .com /b.php and slept.\n"
    "At last it called 185.220.101[.]47 for orders.\n"
)
TINY = IsolationLimits(cpu_seconds=1, wall_seconds=0.05, memory_bytes=512 << 20)


def page(text: str) -> Page:
    return Page(text.encode(), "text/plain", None, None, "a crew", datetime(2026, 11, 20, tzinfo=UTC))


@pytest.fixture
async def isolation() -> AsyncIterator[Isolation]:
    opened = Isolation()
    yield opened
    await opened.close()


async def test_what_only_the_second_reader_knows_stands_at_its_place(isolation: Isolation) -> None:
    async def read(wanted: Page) -> ReadPage:
        return await isolation.run(read_page, wanted)

    found = await reading_twice(read, isolation)(page(NOTE))
    assert [(each.position, each.type, each.value) for each in found.sightings] == [
        (0, "url", "http://gale-post.com/a"),
        (1, "domain", "gale-post.com"),
        (2, "url", "https://mist-post.com/b.php"),
        (3, "domain", "mist-post.com"),
        (4, "ip", "185.220.101.47"),
    ]
    assert found.article.ioc_counts == {"url": 2, "domain": 2, "ip": 1}
    assert found.article.notes == ()


async def test_a_second_reading_that_is_cut_off_costs_a_note_and_nothing_else(isolation: Isolation) -> None:
    hostile = tuple(MissedPiece(f"{'.0x' * 80} " * 6 + f"[.] {number}", "", 0, 0) for number in range(64))
    first = replace(read_page(page(NOTE)), unread=hostile)
    found = await read_again(first, isolation, TINY)
    assert found.article.notes == ("Some defanged lines were not read a second time.",)
    assert replace(found, article=first.article) == first


def test_the_service_never_loads_iocextract() -> None:
    program = "import sys, api.app, ingest.indicators.iocextract_step; print('iocextract' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout == b"False\n"


async def test_without_iocextract_pages_are_read_once_and_nothing_is_said(
    isolation: Isolation, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def read(wanted: Page) -> ReadPage:
        return first

    first = read_page(page(NOTE))
    assert first.unread
    monkeypatch.setattr(iocextract_step, "find_spec", lambda name: None)
    assert await reading_twice(read, isolation)(page(NOTE)) is first


def test_the_program_around_iocextract_says_that_it_is_not_there() -> None:
    program = Path(iocextract_step.__file__).with_name("iocextract_program.py")
    path = [entry for entry in sys.path if entry and "site-packages" not in entry]
    ran = subprocess.run([sys.executable, "-I", "-S", str(program), "0", json.dumps(path)], check=False)
    assert ran.returncode == 3


def test_the_second_readers_finds_are_explained() -> None:
    first = read_page(page(NOTE))
    found = with_second(first, [SecondRead(0, "url", "https://mist-post.com/b.php", "hxxps://mist-post .com /b.php")])
    (added,) = [each for each in found.candidates if each not in first.candidates]
    assert added["kept"] is True
    assert added["rule"] == "read by iocextract"
    assert NOTE[added["start"] : added["end"]] == added["spelling"] == "hxxps://mist-post .com /b.php"
    assert [each["start"] for each in found.candidates] == sorted(each["start"] for each in found.candidates)


def test_what_is_known_already_is_not_added_again() -> None:
    first = read_page(page(NOTE))
    again = [SecondRead(0, each.type, each.value, each.value) for each in first.sightings]
    assert with_second(first, again) is first


def test_an_indicator_before_all_others_comes_first() -> None:
    first = replace(read_page(page(NOTE)), unread=(MissedPiece("hzzp://a", "hzzp://a", 0, 0),))
    found = with_second(first, [SecondRead(0, "domain", "fog-post.com", "fog-post [.] com")])
    assert found.sightings[0].value == "fog-post.com"
    assert [each.position for each in found.sightings] == list(range(len(found.sightings)))
