"""Turn the service's page of records into what a tool returns: text and structure side by side. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mcp_server.results import VALUE_CHARACTERS, Answer, Ioc, Iocs, Lookup, Record, compact, corpus, suggestions
from mcp_server.safe_text import cleaned
from mcp_server.words import line, listing, looked_up, nothing_found

MOST_ITEMS = 50
MOST_ITEM_BYTES = 60_000


@dataclass(frozen=True, slots=True)
class Found:
    """A tool's result: what a model reads, and the same as data."""

    text: str
    data: Iocs | Lookup


def found(answer: Answer, limit_asked: int) -> Found:
    """Return the result of a search or a list; it says so if the service lowered the limit."""
    items, lines = _fitting(answer.items[: min(limit_asked, MOST_ITEMS)])
    omitted = min(len(answer.items), limit_asked, MOST_ITEMS) - len(items)
    applied = answer.limit if answer.limit is not None and answer.limit < limit_asked else 0
    meant = [] if items else suggestions(answer)
    data = Iocs(
        items=items,
        total=answer.total or 0,
        limit_applied=applied,
        omitted=omitted,
        # What was left out for length would be skipped.
        next_cursor=answer.next_cursor or "" if not omitted else "",
        searched=corpus(answer.searched),
        suggestions=meant,
    )
    text = listing(lines, answer.total, applied, omitted) if lines else nothing_found(answer.searched, meant)
    return Found(text, data)


def looked_up_in(answer: Answer, value_asked: str) -> Found:
    """Return the result of a look-up; nothing known is a result too."""
    items, lines = _fitting(answer.items[:MOST_ITEMS])
    value = cleaned(value_asked, VALUE_CHARACTERS)
    return Found(
        looked_up(value, lines, answer.searched),
        Lookup(value=value, found=bool(items), items=items, searched=corpus(answer.searched)),
    )


def _fitting(records: Sequence[Record]) -> tuple[list[Ioc], list[str]]:
    """Return the first records whose items and lines fit into MOST_ITEM_BYTES of UTF-8."""
    items: list[Ioc] = []
    lines: list[str] = []
    room = MOST_ITEM_BYTES
    for record in records:
        item = compact(record)
        text = line(item, cleaned(record.defanged, VALUE_CHARACTERS))
        room -= len(item.model_dump_json(exclude_defaults=True).encode()) + len(text.encode())
        if room < 0:
            break
        items.append(item)
        lines.append(text)
    return items, lines
