"""Tell whether a text speaks of a host, URL or mailbox as reports speak of indicators, by weights learned from them.

The rows of the other tables are written by hand, each with its reason. What no row foresees stands here: how often, in
labelled texts, each word beside an undefanged value, and each piece of the value, went with an indicator or with
something merely mentioned. `scripts/learn` makes the table anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, cached_property
from importlib.resources import files
from itertools import pairwise
from math import ceil, floor
from typing import Final

from ingest.indicators.evidence import EVIDENCE, Evidence
from ingest.indicators.late import late
from ingest.indicators.sightings import Sighting
from ingest.indicators.token_candidate import TokenCandidate
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
_WORDS_BEFORE: Final = 12
_WORDS_BEHIND: Final = 8
_HOLDS_A_DOZEN: Final = 80  # characters, of words of usual length
_MOST_PIECES_OF_A_PATH: Final = 6
_FURTHEST_SCORE: Final = 4
# What a point of the other tables counts among the weights, which are thousandths of a logarithm of odds.
_POINT: Final = 800
_CONSTANT: Final = "="
# What is seen of a value: of what kind, and the words; of what is no word the kind is empty.
_Said = tuple[str, list[str]]
_PLAIN: Final = ""


def is_said_outright(evidence: list[Evidence]) -> bool:
    """Tell whether a row of the evidence settles what a value is, so that nothing learned is asked."""
    return any(abs(points) >= _SAID_OUTRIGHT for points, _ in evidence)


class TextWords:
    """The words of one text: with which it begins, as they say what it is about, and which stand beside a value."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.head = frozenset(f"h:{word}" for word in _words(text[:_HEAD]))  # once for all values of a text

    @cached_property
    def weight_of_head(self) -> int:
        """What the words with which the text begins count for each of its values."""
        weights = _weights()
        return sum(weights[name] for name in self.head if name in weights)

    def beside(self, start: int, end: int) -> Iterator[_Said]:
        """Yield what stands on the line before and behind `start:end`, by kind."""
        before = self._text[max(0, start - _REACH_BEFORE) : start].rpartition("\n")[2]
        behind = self._text[end : end + _REACH_BEHIND].partition("\n")[0]
        left, right = _last_words(before), _first_words(behind)
        last, first = left[-6:], right[:6]
        yield "l", left
        yield "l0", left[-1:]
        yield "l1", left[-2:-1]
        yield "l2", left[-3:-2]
        yield "ll", [f"{one} {other}" for one, other in pairwise(last)]
        yield "r", right
        yield "r0", right[:1]
        yield "r1", right[1:2]
        yield "rr", [f"{one} {other}" for one, other in pairwise(first)]
        if not before.strip():
            yield _PLAIN, ["begins" if behind.strip() else "alone"]


def of_what_was_learned(words: TextWords, sighting: Sighting, evidence: list[Evidence]) -> list[Evidence]:
    """Return what learned weights add to the `evidence` for or against a value, where that can change the verdict."""
    score = sum_of(evidence)
    can_change = THRESHOLD - MOST_FOR <= score < THRESHOLD + MOST_AGAINST
    if not can_change or is_said_outright(evidence):
        return []
    weights, by_kind = _weights(), _weights_by_kind()
    log_odds: float = weights[_CONSTANT] + words.weight_of_head
    for kind, said in _said_of(words, sighting):
        if known := by_kind.get(kind):
            for word in known.keys() & said:
                log_odds += known[word]
    for name, amount in _amounts_of(sighting[0], evidence):
        log_odds += weights.get(name, 0) * amount
    total = floor(log_odds / _POINT) + THRESHOLD if log_odds > 0 else ceil(log_odds / _POINT)
    points = max(-MOST_AGAINST, min(MOST_FOR, total - score))
    return [(points, (_LIKE if points > 0 else _UNLIKE)[1])] if points else []


def features(words: TextWords, sighting: Sighting, evidence: list[Evidence]) -> Iterator[tuple[str, float]]:
    """Yield what is seen of a value, by name, and how much of it: the table of weights has the same names."""
    names = {f"{kind}:{word}" if kind else word for kind, said in _said_of(words, sighting) for word in said}
    yield from ((name, 1) for name in words.head | names)
    yield from _amounts_of(sighting[0], evidence)


def _said_of(words: TextWords, sighting: Sighting) -> Iterator[_Said]:
    (type, value, _, _, _, host, _, _), start, end = sighting
    yield "t", [type]
    yield from words.beside(start, end)
    yield from _in_value(type, value, host or value)


def _amounts_of(reading: TokenCandidate, evidence: list[Evidence]) -> Iterator[tuple[str, float]]:
    host = reading.host or reading.value
    yield "score", max(-_FURTHEST_SCORE, min(_FURTHEST_SCORE, sum_of(evidence))) / 2
    for _, rule in evidence:
        yield f"e:{rule}", 1
    yield "length", len(host) / 20
    yield "dots", host.count(".") / 2
    if reading.type == "url":
        yield "depth", reading.value.count("/") / 4


def _in_value(type: str, value: str, host: str) -> Iterator[_Said]:
    name, _, ending = host.rpartition(".")
    yield "ending", [ending]
    yield "p", _PIECE.split(name)
    if _DIGIT.search(host) is not None:
        yield _PLAIN, ["digit"]
    if "-" in host:
        yield _PLAIN, ["hyphen"]
    if type == "email":
        yield "mailbox", [_DIGIT.sub("0", value.rpartition("@")[0])]
    if type == "url":
        yield "path", _PIECE_OF_A_PATH.findall(value.partition(host)[2].lower())[:_MOST_PIECES_OF_A_PATH]


def _last_words(text: str) -> list[str]:
    """Return the last 12 words of a text."""
    text = text.lower()
    # Of the end of it the first word may be half of one.
    few = _words_of(text[-_HOLDS_A_DOZEN:])[1:] if len(text) > _HOLDS_A_DOZEN else []
    return (few if len(few) > _WORDS_BEFORE else _words_of(text))[-_WORDS_BEFORE:]


def _first_words(text: str) -> list[str]:
    """Return the first 8 words of a text."""
    text = text.lower()
    few = _words_of(text[:_HOLDS_A_DOZEN])[:-1] if len(text) > _HOLDS_A_DOZEN else []
    return (few if len(few) > _WORDS_BEHIND else _words_of(text))[:_WORDS_BEHIND]


def _words(text: str) -> list[str]:
    """Return words and signs of a text, digits as 0; what is written without spaces in pairs of signs."""
    return _words_of(text.lower())


def _words_of(text: str) -> list[str]:
    said: list[str] = _WORD.findall(_DIGIT.sub("0", text))
    if text.isascii():
        return said
    found: list[str] = []
    for word in said:
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


@cache
def _weights_by_kind() -> dict[str, dict[str, int]]:
    """Return the weights of words by what they are beside a value or in it."""
    found: dict[str, dict[str, int]] = {}
    for name, weight in _weights().items():
        kind, colon, word = name.partition(":")
        found.setdefault(kind if colon else _PLAIN, {})[word if colon else name] = weight
    return found
