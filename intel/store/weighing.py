"""Reads what was weighed in an article out of its JSON, candidate by candidate. Pure.

Parsed in one go, twenty thousand candidates would keep every other thread waiting, and take room for all of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from intel.query import CandidatePage, CandidateQuery

Candidate = dict[str, Any]
_DECODER = json.JSONDecoder()


def candidates_in(text: str, start: int = 0) -> Iterator[Candidate] | None:
    """Return the members of the compact JSON array that begins there, one by one; None where there is a null."""
    return _members(text, start + 1) if text[start] == "[" else None


def after_value(text: str, start: int) -> int:
    """Return where the next member of a compact JSON array begins, after the one that begins at `start`."""
    _, end = _DECODER.raw_decode(text, start)
    return end + 1


def page_of(candidates: Iterator[Candidate], query: CandidateQuery) -> CandidatePage:
    """Return the page that is asked for, counting all candidates."""
    items: list[tuple[int, Candidate]] = []
    count = kept = total = beyond = 0
    for place, each in enumerate(candidates):
        count += 1
        kept += bool(each["kept"])
        if not _is_asked_for(each, query):
            continue
        total += 1
        if place <= query.after or total <= query.skip:
            continue
        if len(items) < query.limit:
            items.append((place, each))
        else:
            beyond += 1
    return CandidatePage(tuple(items), total, beyond > 0, kept, count)


def _is_asked_for(candidate: Candidate, query: CandidateQuery) -> bool:
    return (
        query.kept in (None, candidate["kept"])
        and query.type in (None, candidate["type"])
        and query.rule in (None, candidate.get("rule"))
    )


def _members(text: str, place: int) -> Iterator[Candidate]:
    while text[place] != "]":
        candidate, end = _DECODER.raw_decode(text, place)
        yield candidate
        place = end + (text[end] == ",")
