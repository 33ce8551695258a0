"""Votes as answers and pages show them: how many, why, and which is the reader's own; never whose they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intel.records import Vote
from intel.times import rfc3339
from intel.unseen import holds_controls

LONGEST_NOTE = 500
_NOTES_SHOWN = 50


def own_vote(votes: Sequence[Vote], account_id: str | None) -> Vote | None:
    """Return the vote of that account."""
    return next((vote for vote in votes if vote.account_id == account_id), None)


def noted_votes(votes: Sequence[Vote]) -> list[Vote]:
    """Return the newest votes that say why, newest first."""
    return [vote for vote in reversed(votes) if vote.note][:_NOTES_SHOWN]


def votes_shown(votes: Sequence[Vote], account_id: str | None) -> dict[str, Any]:
    """Return the votes on one indicator, for a reader with that account or without one."""
    own = own_vote(votes, account_id)
    return {
        "false_positive": len(votes),
        "own": _shown(own) if own else None,
        "notes": [_shown(vote) for vote in noted_votes(votes)],
    }


def read_note(note: str | None) -> str:
    """Return a note as it is kept. ValueError, with what is wrong, where it is too long or holds control characters."""
    text = note or ""
    if len(text) > LONGEST_NOTE:
        raise ValueError(f"must have at most {LONGEST_NOTE} characters")
    if holds_controls(text):
        raise ValueError("must not hold control characters")
    return text.strip()


def _shown(vote: Vote) -> dict[str, Any]:
    return {"note": vote.note, "voted_at": rfc3339(vote.voted_at)}
