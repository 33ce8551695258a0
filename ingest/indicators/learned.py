"""Tell whether a text speaks of a host, URL or mailbox as reports speak of indicators, by weights learned from them.

The rows of the other tables are written by hand, each with its reason. What no row foresees stands here: how often, in
labelled texts, each word beside an undefanged value, and each piece of the value, went with an indicator or with
something merely mentioned. `scripts/learn` makes the table anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from itertools import pairwise
from math import ceil, floor
from typing import Final

from ingest.indicators.evidence import EVIDENCE, Evidence
from ingest.indicators.late import late
from ingest.indicators.sightings import Sighting
from ingest.indicators.verdict import THRESHOLD, sum_of

TABLE: Final = "learned.txt"
_LIKE: Final = EVIDENCE["reads like an indicator"]
_UNLIKE: Final = EVIDENCE["reads like a mention"]
# The most that it can say for a value, and against it.
MOST_FOR: Final = _LIKE[0]
MOST_AGAINST: Final = -_UNLIKE[0]
# What counts more than that is said outright, and no weight of single words speaks against it.
_SAID_OUTRIGHT: Final = 4

_WORD: Final = late(r"[^\W\d_]+|0+|[^\w\s]|_")
_DIGIT: Final = late(r"\d")
_SPELLED_WITHOUT_SPACES: Final = late(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_PIECE: Final = late(r"[.\-_]")
_PIECE_OF_A_PATH: Final = late(r"\.[a-z0-9]{2,4}\Z|[a-z]{3,}")
_REACH_BEFORE: Final = 200
_REACH_BEHIND: Final = 160
_HEAD: Final = 160
_MOST_PIECES_OF_A_PATH: Final = 6
_FURTHEST_SCORE: Final = 4
# What a point of the other tables counts among the weights, which are thousandths of a logarithm of odds.
_POINT: Final = 800
_CONSTANT: Final = "="


def is_said_outright(evidence: list[Evidence]) -> bool:
    """Tell whether a row of the evidence settles what a value is, so that nothing learned is asked."""
    return any(abs(points) >= _SAID_OUTRIGHT for points, _ in evidence)


class TextWords:
    """The words of one text: with which it begins, as they say what it is about, and which stand beside a value."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.head = frozenset(f"h:{word}" for word in _words(text[:_HEAD]))  # once for all values of a text

    def beside(self, start: int, end: int) -> Iterator[str]:
        """Yield what stands on the line before and behind `start:end`, by name."""
        before = self._text[max(0, start - _REACH_BEFORE) : start].rpartition("\n")[2]
        behind = self._text[end : end + _REACH_BEHIND].partition("\n")[0]
        left, right = _words(before), _words(behind)
        for word in left[-12:]:
            yield f"l:{word}"
        for place, word in enumerate(left[:-4:-1]):
            yield f"l{place}:{word}"
        for first, second in pairwise(left[-6:]):
            yield f"ll:{first} {second}"
        for word in right[:8]:
            yield f"r:{word}"
        for place, word in enumerate(right[:2]):
            yield f"r{place}:{word}"
        for first, second in pairwise(right[:6]):
            yield f"rr:{first} {second}"
        if not before.strip():
            yield "begins" if behind.strip() else "alone"


def of_what_was_learned(words: TextWords, sighting: Sighting, evidence: list[Evidence]) -> list[Evidence]:
    """Return what learned weights add to the `evidence` for or against a value, where that can change the verdict."""
    score = sum_of(evidence)
    can_change = THRESHOLD - MOST_FOR <= score < THRESHOLD + MOST_AGAINST
    if not can_change or is_said_outright(evidence):
        return []
    weights = _weights()
    log_odds: float = weights[_CONSTANT]
    for name, amount in features(words, sighting, evidence):
        if (weight := weights.get(name)) is not None:
            log_odds += weight * amount
    total = floor(log_odds / _POINT) + THRESHOLD if log_odds > 0 else ceil(log_odds / _POINT)
    points = max(-MOST_AGAINST, min(MOST_FOR, total - score))
    return [(points, (_LIKE if points > 0 else _UNLIKE)[1])] if points else []


def features(words: TextWords, sighting: Sighting, evidence: list[Evidence]) -> Iterator[tuple[str, float]]:
    """Yield what is seen of a value, by name, and how much of it: the table of weights has the same names."""
    reading, start, end = sighting
    host = reading.host or reading.value
    yield f"t:{reading.type}", 1
    yield "score", max(-_FURTHEST_SCORE, min(_FURTHEST_SCORE, sum_of(evidence))) / 2
    for _, rule in evidence:
        yield f"e:{rule}", 1
    for name in {*words.beside(start, end), *_in_value(reading.type, reading.value, host), *words.head}:
        yield name, 1
    yield "length", len(host) / 20
    yield "dots", host.count(".") / 2
    if reading.type == "url":
        yield "depth", reading.value.count("/") / 4


def _in_value(type: str, value: str, host: str) -> Iterator[str]:
    name, _, ending = host.rpartition(".")
    yield f"ending:{ending}"
    for piece in _PIECE.split(name):
        yield f"p:{piece}"
    if _DIGIT.search(host) is not None:
        yield "digit"
    if "-" in host:
        yield "hyphen"
    if type == "email":
        yield f"mailbox:{_DIGIT.sub('0', value.rpartition('@')[0])}"
    if type == "url":
        for piece in _PIECE_OF_A_PATH.findall(value.partition(host)[2].lower())[:_MOST_PIECES_OF_A_PATH]:
            yield f"path:{piece}"


def _words(text: str) -> list[str]:
    """Return words and signs of a text, digits as 0; what is written without spaces in pairs of signs."""
    found: list[str] = []
    for word in _WORD.findall(_DIGIT.sub("0", text.lower())):
        if len(word) > 1 and _SPELLED_WITHOUT_SPACES.search(word) is not None:
            found += [word[place : place + 2] for place in range(len(word) - 1)]
        else:
            found.append(word)
    return found


@cache
def _weights() -> dict[str, int]:
    """Return the table, read once: a line each has a weight in thousandths of a logarithm of odds and its name."""
    lines = (files("ingest.indicators") / "data" / TABLE).read_text(encoding="utf-8").splitlines()
    return {name: int(weight) for weight, _, name in (line.partition(" ") for line in lines)}
