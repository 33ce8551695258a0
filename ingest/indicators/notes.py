"""Tell what a short note as a whole says of all that it names: one loop over the rows of `notes.toml`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from ingest.indicators.evidence import Evidence
from ingest.indicators.harm import without_hosts, words_of_a_threat
from ingest.indicators.rows import Row, data, told
from ingest.indicators.spoken import Spoken, SpokenSearch

THREAT: Final = "the note speaks of a threat"


@dataclass(frozen=True, slots=True)
class NoteRow(Row):
    """A row of the table: what a note says, and how much that counts for or against what it names."""

    says: Spoken


@cache
def note_rows() -> tuple[NoteRow, ...]:
    """Return the rows of the table, read once."""
    return tuple(
        NoteRow(*told(row), Spoken(row["says"], "") if "says" in row else words_of_a_threat())
        for row in data("notes.toml")["note"]
    )


def said_of_all(text: str, *, names_malware: bool) -> tuple[Evidence, ...]:
    """Return what a note says against all that it names, with what speaks for it; nothing where that weighs as much.

    `names_malware`: the note names malware, which is a threat without any other word for it.
    """
    said = text.lower().replace("'", "\u2019")
    in_words = without_hosts(said)
    standing = _search().that_may_stand_in(said)
    spoken = [
        (row.points, row.id)
        for row in note_rows()
        if (row.id == THREAT and names_malware)
        or (row.says in standing and row.says.search(in_words if row.points > 0 else said))
    ]
    against = min((entry for entry in spoken if entry[0] < 0), default=None)
    if against is None:
        return ()
    found = (against, *(entry for entry in spoken if entry[0] > 0))
    return found if sum(points for points, _ in found) < 0 else ()


@cache
def _search() -> SpokenSearch:
    return SpokenSearch(row.says for row in note_rows())
