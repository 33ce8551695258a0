"""Keep the hosts of a series of prose together: `they registered gale-post.com, tarnhill.net and mistblog.org`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ingest.indicators.late import late
from ingest.indicators.sightings import Sighting
from ingest.indicators.verdict import Verdict
from ingest.indicators.vocabulary import pieces

IN_A_SERIES: Final = "in a series with indicators"
_KEPT: Final = Verdict(True, IN_A_SERIES, 1)
_FEWEST: Final = 3
# Fewer of a series that are kept say nothing of the others.
_FEWEST_KEPT: Final = 2
_SHARE: Final = 3
_WIDEST_GAP: Final = 12
# No more may be against it than its looks: the last of a series stand far from the words that accuse all of them.
_NEARLY: Final = -4
_AGAINST: Final = -4
_ENDS: Final = pieces("malware", "series_ends")
_JOINT: Final = late(
    rf"[\"'`\u201d\u2019\u00bb]?(?:\s?[,\uff0c\u3001;](?: ?(?:{_ENDS}))?| (?:{_ENDS}))\s?[\"'`\u201c\u2018\u00ab]?",
    re.IGNORECASE,
)


def kept_with_their_series(text: str, seen: list[Sighting], verdicts: list[Verdict]) -> Iterator[tuple[int, Verdict]]:
    """Yield the places of the hosts that are to be kept as others of their series are, with the verdict on them."""
    for series in _series(text, seen):
        kept = sum(verdicts[index].kept for index in series)
        others = [index for index in series if not verdicts[index].kept]
        if kept < _FEWEST_KEPT or kept * _SHARE < len(series):
            continue
        if all(_has_little_against_it(verdicts[index]) for index in others):
            yield from ((index, _KEPT) for index in others)


def _has_little_against_it(verdict: Verdict) -> bool:
    return (
        bool(verdict.evidence) and verdict.score >= _NEARLY and all(points > _AGAINST for points, _ in verdict.evidence)
    )


def _series(text: str, seen: list[Sighting]) -> Iterator[list[int]]:
    """Yield the places of the hosts of each series that is long enough."""
    series: list[int] = []
    for index, (reading, start, _) in enumerate(seen):
        if reading.type != "domain" or reading.source or reading.defanged:
            continue
        end = seen[series[-1]][2] if series else 0
        if not series or not 0 < start - end <= _WIDEST_GAP or _JOINT.fullmatch(text, end, start) is None:
            if len(series) >= _FEWEST:
                yield series
            series = []
        series.append(index)
    if len(series) >= _FEWEST:
        yield series
