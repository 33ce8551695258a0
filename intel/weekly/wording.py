"""Write the sentences of a week from its numbers alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def number(count: int, noun: str, nouns: str = "") -> str:
    """Return `1 article` or `3 articles`."""
    return f"{count} {noun}" if count == 1 else f"{count:,} {nouns or noun + 's'}"


def summary(
    counts: Mapping[str, Any], previous: Mapping[str, Any] | None, week_before: str, kev_added: Sequence[str]
) -> str:
    """Return two or three sentences about a week and how it compares with the week before."""
    articles, sources = number(counts["articles"], "article"), number(counts["sources"], "independent source")
    indicators, new = number(counts["iocs_total"], "indicator"), counts["new_iocs_total"]
    told = [f"{articles} from {sources} named {indicators}, {new:,} of them new{_against(new, previous, week_before)}."]
    if kev_added:
        told.append(f"{number(len(kev_added), 'vulnerability', 'vulnerabilities')} came into the KEV catalogue.")
    if in_focus := sum(counts["focus"].values()):
        worst = next(f"{count} {severity}" for severity, count in counts["focus"].items() if count)
        told.append(f"{number(in_focus, 'subject')} in focus, {worst}.")
    return " ".join(told)


def _against(new: int, previous: Mapping[str, Any] | None, week_before: str) -> str:
    if previous is None:
        return ""
    before = previous["new_iocs_total"]
    if not before:
        return f" ({new - before:+,d} on {week_before})" if new else ""
    return f" ({round(100 * (new - before) / before):+,d} % on {week_before})"
