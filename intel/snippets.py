"""Show where a search matched in an article: pieces of its texts with the places of the words, never markup.

A place is a pair of offsets, in characters of the piece. The words of a text are those of `intel.words`, so that what
finds an article is what is marked in it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import Final

from intel.query import Clause, SearchText
from intel.words import encode_word, words

LONGEST_SNIPPET: Final = 280
_LEAD: Final = 70
_LONGEST_TEXT: Final = 200_000
_MOST_PLACES: Final = 2_000
# Of an article of 50,000 characters the beginning tells in a tenth of the time where a search matches, mostly.
_HEAD: Final = 4_000
# No character of these ever becomes part of a word, nor joins with one: what stands between them is read alone.
_CHUNK: Final = re.compile(r"[^\s\x00-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]+")
_BLANK: Final = re.compile(r"\s")
_CJK: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_RUN: Final = re.compile(rf"[{_CJK}]|[^\W_{_CJK}](?>(?:[^\W_{_CJK}]|[\u0300-\u036f])*)")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of one field of an article, and the places in it that match the search, in order, none overlapping."""

    field: str
    text: str
    highlights: tuple[Span, ...]


def snippets(search: SearchText, fields: Iterable[tuple[str, str]]) -> tuple[Snippet, ...]:
    """Return at most one piece of each field (name, text): the first one in which most of the search matches."""
    found = (_snippet(search.clauses, field, text[:_LONGEST_TEXT]) for field, text in fields)
    return tuple(snippet for snippet in found if snippet is not None)


def _snippet(clauses: Sequence[Clause], field: str, text: str) -> Snippet | None:
    places = _first_places(clauses, text)
    if not places:
        return None
    start, end = _window(text, places)
    inside = [(first - start, last - start) for first, last, _ in places if first >= start and last <= end]
    return Snippet(field, text[start:end], tuple(_merged(inside)))


def _first_places(clauses: Sequence[Clause], text: str) -> list[tuple[int, int, int]]:
    """Return places that match, in order: of a long text those near its beginning, where all of the search matches
    there in one piece, which is the first then.
    """
    head = text[: text.rfind(" ", 0, _HEAD) + 1]
    if len(head) < len(text):
        places = sorted(_places(clauses, head))
        best, met = _best(places)
        if met == len(clauses) and best + 2 * LONGEST_SNIPPET <= len(head):
            return places
    return sorted(_places(clauses, text))


def _places(clauses: Sequence[Clause], text: str) -> list[tuple[int, int, int]]:
    """Return (start, end, number of the clause) of everything that matches a clause."""
    spelt = list(_spelt(text))
    words = _Words([word for word, _, _ in spelt])
    found: list[tuple[int, int, int]] = []
    for number, clause in enumerate(clauses):
        for first, last in islice(words.met(clause), _MOST_PLACES):
            found.append((spelt[first][1], spelt[last][2], number))
    return found


class _Words:
    """The words of a text, ready to search: single ones by name, phrases in all of them joined by blanks."""

    def __init__(self, words: Sequence[str]) -> None:
        self._at: dict[str, list[int]] = {}
        for place, word in enumerate(words):
            self._at.setdefault(word, []).append(place)
        self._joined = f" {' '.join(words)} "
        self._starts = list(accumulate((len(word) + 1 for word in words), initial=0))

    def met(self, clause: Clause) -> Iterator[Span]:
        """Yield the first and last word of each place that matches a clause."""
        for phrase in clause.phrases:
            if clause.prefix:
                yield from (
                    (place, place) for word, at in self._at.items() if word.startswith(phrase[0]) for place in at
                )
            elif len(phrase) == 1:
                yield from ((place, place) for place in self._at.get(phrase[0], ()))
            else:
                yield from self._side_by_side(phrase)

    def _side_by_side(self, phrase: Sequence[str]) -> Iterator[Span]:
        # One search in one long text stays linear where comparing word by word would not.
        sought = f" {' '.join(phrase)} "
        start = self._joined.find(sought)
        while start >= 0:
            place = bisect_left(self._starts, start)
            yield place, place + len(phrase) - 1
            start = self._joined.find(sought, start + len(sought) - 1)


def _spelt(text: str) -> Iterator[tuple[str, int, int]]:
    """Return the words of a text as stores index them, each with its place."""
    for chunk in _CHUNK.finditer(text):
        spelling, start = chunk.group(), chunk.start()
        if spelling.isascii():
            yield encode_word(spelling.lower()), start, chunk.end()
            continue
        runs = [(run.group(), run.start(), run.end()) for run in _RUN.finditer(spelling)]
        whole = words(spelling)
        # Mostly a word is its run folded, so that each can be told from the others; what is not is marked as a whole.
        if [run.casefold() for run, _, _ in runs] == whole:
            yield from ((encode_word(w), start + a, start + b) for w, (_, a, b) in zip(whole, runs, strict=True))
            continue
        parts = [(words(run), first, last) for run, first, last in runs]
        if [word for found, _, _ in parts for word in found] != whole:
            parts = [(whole, 0, len(spelling))]
        for found, first, last in parts:
            yield from ((encode_word(word), start + first, start + last) for word in found)


def _window(text: str, places: Sequence[tuple[int, int, int]]) -> Span:
    """Return the piece of a text that begins a little before the place from which most clauses match."""
    if len(text) <= LONGEST_SNIPPET:
        return 0, len(text)
    best, _ = _best(places)
    start = _border(text, max(0, min(best - _LEAD, len(text) - LONGEST_SNIPPET)), best)
    needed = _end_of(places, best)
    end = min(len(text), max(start + LONGEST_SNIPPET, needed))
    blanks = [blank.start() for blank in _BLANK.finditer(text, max(needed, end - 30), end)]
    return start, blanks[-1] if blanks and end < len(text) else end


def _best(places: Sequence[tuple[int, int, int]]) -> Span:
    """Return the first place from which most clauses match within one piece, and how many do."""
    best, most = places[0][0] if places else 0, 0
    for place, (first, _, _) in enumerate(places):
        reach = first + LONGEST_SNIPPET - _LEAD
        met = {number for f, last, number in places[place : place + 40] if last <= reach}
        if len(met) > most:
            best, most = first, len(met)
    return best, most


def _end_of(places: Sequence[tuple[int, int, int]], start: int) -> int:
    return max(last for first, last, _ in places if first == start)


def _border(text: str, earliest: int, latest: int) -> int:
    """Return the earliest place between the two at which a word begins."""
    if earliest == 0:
        return 0
    blank = _BLANK.search(text, earliest, latest)
    return blank.end() if blank else earliest


def _merged(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for first, last in sorted(spans):
        if merged and first < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged
