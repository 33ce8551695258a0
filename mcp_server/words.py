"""Write what a tool says in text: one line for each IOC, values defanged. Pure functions of cleaned shapes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mcp_server.results import Article, Ioc, Searched
from mcp_server.safe_text import cut, defanged, defanged_prose

_LINE_CHARACTERS = 300
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def line(ioc: Ioc, defanged_value: str) -> str:
    """Return one line about one IOC; it never holds the raw value of an address, host, URL or e-mail address.

    `defanged_value` is the service's own spelling, or empty.
    """
    parts = [
        f"{ioc.type} {cut(defanged(ioc.type, defanged_value or ioc.value), _LINE_CHARACTERS)}",
        *(f"warning: {defanged_prose(warning.reason or warning.list)}" for warning in ioc.warnings),
        f"seen with {', '.join(map(defanged_prose, ioc.malware))}" if ioc.malware else "",
        _seen(ioc),
        f"{_counted(ioc.sightings, 'sighting')}, {_counted(ioc.sources, 'source')}",
        _source(ioc.article),
    ]
    text = " | ".join(part for part in parts if part)
    own = defanged(ioc.type, ioc.value)
    return text if own == ioc.value else text.replace(ioc.value, own)


def listing(lines: Sequence[str], total: int | None, limit_applied: int, omitted: int) -> str:
    """Return the text of a search or a list: the lines, and one in brackets if there is more to know."""
    notes = [
        f"{len(lines)} of {total} shown" if total is not None and total > len(lines) else "",
        f"limit lowered to {limit_applied}, the most the service gives" if limit_applied else "",
        f"{_counted(omitted, 'indicator')} left out to keep the answer short" if omitted else "",
    ]
    note = "; ".join(note for note in notes if note)
    return "\n".join([*lines, *([f"({note}.)"] if note else [])])


def nothing_found(searched: Searched | None, suggestions: Sequence[str]) -> str:
    """Return the text of a search or a list without indicators: what was searched, and what may have been meant."""
    meant = [f"({', or '.join(map(defanged_prose, suggestions))} may have been meant.)"] if suggestions else []
    return "\n".join([f"No indicators found{_within(searched)}.", *meant])


def looked_up(value: str, lines: Sequence[str], searched: Searched | None = None) -> str:
    """Return the text of a look-up: the lines, or that what was searched holds no `value`."""
    return "\n".join(lines) or f"{cut(defanged(None, value), _LINE_CHARACTERS)}: not found{_within(searched)}."


def _seen(ioc: Ioc) -> str:
    days = list(dict.fromkeys(moment[:10] for moment in (ioc.first_seen, ioc.last_seen) if moment))
    told = f"{'last seen' if len(days) == 1 else 'seen'} {' to '.join(days)}" if days else ""
    return f"{told} ({ioc.status})" if told and ioc.status else told


def _within(searched: Searched | None) -> str:
    """Say what was searched, so that nobody takes "not found" for "harmless"."""
    if searched is None:
        return ""
    day = _DAY.match(searched.newest_article or "")
    newest = f", newest of {day[0]}" if day else ""
    read = f"{_counted(searched.articles, 'article')} from {_counted(searched.sources, 'source')}"
    return f" in {read}{newest}; not found does not mean harmless"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _source(article: Article) -> str:
    # A double quote would let the title leave its quotes and pass for our words.
    title = '"' + defanged_prose(article.title).replace('"', "'") + '"' if article.title else ""
    address = cut(defanged_prose(defanged("url", article.url)), _LINE_CHARACTERS)
    return " ".join(part for part in (title, address) if part)
