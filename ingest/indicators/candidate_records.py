"""Write all candidates of a text as JSON objects: for storage with the article and for `ioc extract --explain`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from ingest.indicators.extracting import Candidate, Extraction
from ingest.indicators.reasons import reason

if TYPE_CHECKING:  # a tenth of the time in which `ioc extract` starts
    from intel.candidate_records import CandidateRecord

MOST_KEPT: Final = 20_000
MOST_DROPPED: Final = 5_000
MOST_WITH_EVIDENCE: Final = 5_000
LONGEST_SPELLING: Final = 2048


class CandidateRecords(NamedTuple):
    """JSON objects in order of appearance, and how many more there were than are held."""

    records: tuple[CandidateRecord, ...]
    left_out: int

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence where some were left out."""
        return (f"{self.left_out:,} more candidates were weighed than are listed.",) if self.left_out else ()


def candidate_records(
    extraction: Extraction, most_kept: int = MOST_KEPT, most_dropped: int = MOST_DROPPED
) -> CandidateRecords:
    """Return the candidates of a text, kept and dropped ones, up to a number of each.

    Members: `type`, `value`, `spelling` (as written, `start:end` of the document's text), `start`, `end`, `place`,
    `kept`, `score` (above 0 is kept), `rule` (its name) and `reason` (a sentence); the first 5,000 of which several
    rules were weighed also `evidence`.
    """
    room = {True: most_kept, False: most_dropped}
    records: list[CandidateRecord] = []
    with_evidence = left_out = 0
    for candidate in extraction.candidates():
        if room[candidate.kept]:
            room[candidate.kept] -= 1
            record = _with_evidence if with_evidence < MOST_WITH_EVIDENCE else _record
            records.append(record(extraction, candidate))
            with_evidence += bool(candidate.evidence)
        else:
            left_out += 1
    return CandidateRecords(tuple(records), left_out)


def all_candidate_records(extraction: Extraction) -> Iterator[CandidateRecord]:
    """Yield every candidate, however many there are, one by one, with the evidence that was weighed (`evidence`)."""
    return (_with_evidence(extraction, candidate) for candidate in extraction.candidates())


def _with_evidence(extraction: Extraction, candidate: Candidate) -> CandidateRecord:
    record = _record(extraction, candidate)
    if candidate.evidence:
        record["evidence"] = [{"points": points, "rule": rule} for points, rule in candidate.evidence]
    return record


def _record(extraction: Extraction, candidate: Candidate) -> CandidateRecord:
    document = extraction.document
    return {
        "type": candidate.type,
        "value": candidate.value,
        "spelling": document.text[candidate.start : candidate.end][:LONGEST_SPELLING],
        "start": candidate.start,
        "end": candidate.end,
        "place": document.place(candidate.start),
        "kept": candidate.kept,
        "score": candidate.score,
        "rule": candidate.rule,
        "reason": reason(candidate.rule, kept=candidate.kept),
    }
