"""Notes: plain text that accounts write on indicators and articles.

A note says what an analyst found out beside what articles say. It is shown as text, never as markup, to accounts alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from intel.errors import InvalidQuery
from intel.tags import TaggedKind
from intel.unseen import UNSEEN

MOST_NOTES: Final = 50
LONGEST_NOTE: Final = 2_000


@dataclass(frozen=True, slots=True)
class Note:
    """What an account wrote on an indicator or article; `account_id` is empty for the command line."""

    id: str
    kind: TaggedKind
    record_id: str
    account_id: str
    text: str
    written_at: datetime


def read_text(raw: str, field: str = "text") -> str:
    r"""Return a note's text as it is stored: lines end in \n, nothing blank around it. Raises InvalidQuery."""
    text = raw.replace("\r\n", "\n").replace("\r", "\n").strip()
    if not text or len(text) > LONGEST_NOTE:
        raise InvalidQuery(field, f"must have 1 to {LONGEST_NOTE:,} characters")
    if UNSEEN.search(text):
        raise InvalidQuery(field, "must not hold control or unseen characters")
    return text


def check_room(count: int) -> None:
    """Raise InvalidQuery where a record has so many notes that none may be added."""
    if count >= MOST_NOTES:
        raise InvalidQuery("text", f"is one too many: a record has at most {MOST_NOTES} notes")
