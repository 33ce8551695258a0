"""Tell what a short note as a whole says of all that it names: one loop over the rows of `notes.toml`."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

from ingest.indicators.evidence import Evidence
from ingest.indicators.spoken import Spoken, SpokenSearch

_HOST: Final = re.compile(r"(?<![\w.-])(?:https?://)?[a-z][\w-]{0,62}(?:\.[a-z][\w-]{0,62})+(?!\()(?:/[^\s\"'<>]*)?")
THREAT: Final = "the note speaks of a threat"


@dataclass(frozen=True, slots=True)
class NoteRow:
    """A row of the table: what a note says, and how much that counts for or against what it names."""

    id: str
    points: int
    reason: str
    example: str
    value: str
    counterexample: str
    says: Spoken


@cache
def note_rows() -> tuple[NoteRow, ...]:
    """Return the rows of the table, read once."""
    text = (files("ingest.indicators") / "data" / "notes.toml").read_text(encoding="utf-8")
    return tuple(_row(row) for row in tomllib.loads(text)["note"])


def said_of_all(text: str, *, names_malware: bool) -> tuple[Evidence, ...]:
    """Return what a note says against all that it names, with what speaks for it; nothing where that weighs as much.

    `names_malware`: the note names malware, which is a threat without any other word for it.
    """
    said = text.lower().replace("'", "\u2019")
    # A host is no word: `abuse.ch` speaks of no abuse.
    in_words = _HOST.sub(" ", said)
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


def _row(row: dict[str, Any]) -> NoteRow:
    return NoteRow(
        row["id"],
        row["points"],
        row["reason"],
        row["example"],
        row["value"],
        row["counterexample"],
        Spoken(row["says"], ""),
    )
