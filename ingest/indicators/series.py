"""Keep the hosts of a series of prose together, and those of which an article speaks again.

A series: `they registered gale-post.com, tarnhill.net and mistblog.org`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ingest.indicators.evidence import EVIDENCE
from ingest.indicators.late import late
from ingest.indicators.sightings import Sighting
from ingest.indicators.verdict import Verdict
from ingest.indicators.vocabulary import pieces

IN_A_SERIES: Final = "in a series with indicators"
_KEPT: Final = Verdict(True, IN_A_SERIES, 1)
SPOKEN_OF_AGAIN: Final = "spoken of again"
_KEPT_AGAIN: Final = Verdict(True, SPOKEN_OF_AGAIN, 1)
_SPOKEN: Final = EVIDENCE["spoken of as part of an attack"]
# What its looks and the words around it say against a host that nothing else speaks of.
_MILD: Final = frozenset(
    (
        "plain name", "plain name of a country", "reads like a mention", "reads like an indicator",
        "name like those set up for attacks", "the text defangs what is dangerous", _SPOKEN[1],
    )
)  # fmt: skip
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


def kept_as_spoken_of_again(seen: list[Sighting], verdicts: list[Verdict]) -> Iterator[tuple[int, Verdict]]:
    """Yield the places of the hosts that a text names again and nothing but their looks speaks against, if it speaks of
    one as part of an attack.
    """
    places: dict[str, list[int]] = {}
    for index, (reading, _, _) in enumerate(seen):
        if reading.type == "domain" and not reading.source:
            places.setdefault(reading.value, []).append(index)
    for named in places.values():
        said = [verdicts[index] for index in named]
        if len(named) > 1 and any(_SPOKEN in verdict.evidence for verdict in said) and all(map(_is_mild, said)):
            yield from ((index, _KEPT_AGAIN._replace(evidence=verdicts[index].evidence)) for index in named)


def _is_mild(verdict: Verdict) -> bool:
    return not verdict.kept and bool(verdict.evidence) and all(rule in _MILD for _, rule in verdict.evidence)


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
