"""A second look at the defanged lines of a page that our own reader left unread; it may fail and cost nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Final

from ingest.indicators.iocextract_step import SecondRead, SecondReading, is_installed, second_reading
from ingest.indicators.missed_defanging import MissedPiece
from ingest.indicators.reasons import reason
from ingest.isolated import Isolation, IsolationLimits
from ingest.reading import Page, ReadPage, counts_by_type
from intel.candidate_records import CandidateRecord
from intel.errors import IsolationFailed
from intel.ids import OPERATOR
from intel.records import IOC_TYPES, Sighting

RULE: Final = "read by iocextract"
SCORE: Final = 1
LIMITS: Final = IsolationLimits(cpu_seconds=4, wall_seconds=8.0, memory_bytes=512 << 20, result_bytes=1 << 20)
CUT_SHORT: Final = "Some defanged lines were not read a second time."

Read = Callable[[Page], Awaitable[ReadPage]]


def reading_twice(read: Read, isolation: Isolation, account_id: str = OPERATOR) -> Read:
    """Follow `read` by a second reading, in a process of its own, of the lines that it left unread.

    Without iocextract there is none.
    """

    async def read_both(page: Page) -> ReadPage:
        return await second_look(await read(page), isolation, account_id)

    return read_both


async def second_look(found: ReadPage, isolation: Isolation, account_id: str = OPERATOR) -> ReadPage:
    """Return a page after its second reading; as it is where it has no unread lines or iocextract is missing."""
    # Of what is cut already the second reader could not tell what is new.
    worth_it = found.unread and not found.article.ioc_dropped and is_installed()
    return await read_again(found, isolation, account_id=account_id) if worth_it else found


async def read_again(
    found: ReadPage, isolation: Isolation, limits: IsolationLimits = LIMITS, account_id: str = OPERATOR
) -> ReadPage:
    """Return the page with what the second reader adds; as it is, with a note, where that reader fails."""
    second = await read_pieces(found.unread, isolation, limits, account_id)
    read = with_second(found, second.found)
    return read if second.complete else _noted(read)


async def read_pieces(
    pieces: Sequence[MissedPiece],
    isolation: Isolation,
    limits: IsolationLimits = LIMITS,
    account_id: str = OPERATOR,
) -> SecondReading:
    """Return what the second reader finds in some pieces: nothing, and not complete, where it fails."""
    texts = [piece.text for piece in pieces]
    try:
        second = await isolation.run_within(limits, second_reading, texts, account_id=account_id)
    except IsolationFailed:
        return SecondReading((), False)
    named = tuple(each for each in second.found if 0 <= each.piece < len(pieces) and each.type in IOC_TYPES)
    return SecondReading(named, second.complete)


def with_second(found: ReadPage, second: Sequence[SecondRead]) -> ReadPage:
    """Return the page with the indicators of a second reading that the first one has not, each at its place."""
    known = {(sighting.type, sighting.value) for sighting in found.sightings}
    new = [each for each in second if (each.type, each.value) not in known]
    if not new:
        return found
    placed = [(number, 1, sighting) for number, sighting in enumerate(found.sightings)]
    placed += [(found.unread[each.piece].before, 0, _sighting(each, found.unread[each.piece])) for each in new]
    ordered = [sighting for _, _, sighting in sorted(placed, key=lambda entry: entry[:2])]
    sightings = tuple(replace(sighting, position=position) for position, sighting in enumerate(ordered))
    candidates = sorted(
        [*found.candidates, *(second_record(each, found.unread) for each in new)],
        key=lambda candidate: candidate["start"],
    )
    return replace(
        found,
        article=replace(found.article, ioc_counts=counts_by_type(sightings)),
        sightings=sightings,
        candidates=tuple(candidates),
    )


def _sighting(read: SecondRead, piece: MissedPiece) -> Sighting:
    return Sighting(read.type, read.value, piece.sentence)


def second_record(read: SecondRead, pieces: Sequence[MissedPiece]) -> CandidateRecord:
    """Return a find of the second reader as `candidate_records` shows candidates."""
    piece = pieces[read.piece]
    start = piece.start + max(0, piece.text.find(read.spelling))
    return {
        "type": read.type,
        "value": read.value,
        "spelling": read.spelling,
        "start": start,
        "end": start + len(read.spelling),
        "place": "main",
        "kept": True,
        "score": SCORE,
        "rule": RULE,
        "reason": reason(RULE, kept=True),
    }


def _noted(found: ReadPage) -> ReadPage:
    return replace(found, article=replace(found.article, notes=(*found.article.notes, CUT_SHORT)))
