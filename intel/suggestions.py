"""Suggest what a search that found nothing may have meant: known names, and words of what is stored.

suggested("emottet", Vocabulary.of(["Kestrel Weekly"]))  ->  ("Emotet", …)

Two words are near if one or two changes make them alike (a letter added, removed or replaced, or two swapped); the
nearest comes first. The order depends only on the search and the vocabulary, so that it is the same everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from intel.names import malware_names, spelling_key, technique_names
from intel.query import Clause, SearchText
from intel.query_explanation import explain_query
from intel.words import words

MOST_SUGGESTIONS: Final = 5
_SHORTEST: Final = 4
_LONGEST: Final = 40
_MOST_CORRECTED: Final = 4
# Where what is suggested comes from, the likeliest to be meant first.
_STORED, _FAMILY, _ALIAS, _WORD = range(4)


@dataclass(frozen=True, slots=True)
class Term:
    """A name or word that may be suggested; `key` is what its spellings share, `letters` its characters as bits."""

    key: str
    shown: str
    rank: int
    letters: int


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Terms by the length of their key: whole names, and the single words of names and texts."""

    names: dict[int, tuple[Term, ...]]
    words: dict[int, tuple[Term, ...]]
    known: frozenset[str]

    @classmethod
    def of(cls, stored: Iterable[str]) -> Vocabulary:
        """Return a vocabulary of the known names and of the names and words in these texts (titles, source names)."""
        texts = list(stored)
        spelt = {word for text in texts for word in words(text)}
        own = _by_length(_term(word, word, _STORED) for word in sorted(spelt))
        packaged = _packaged()
        return cls(packaged.names, _joined(own, packaged.words), packaged.known | spelt)


def suggested(search: SearchText, vocabulary: Vocabulary) -> tuple[str, ...]:
    """Return searches that may have been meant, nearest first; none for a search that names an indicator or is too
    short.
    """
    if search.exact or any(clause.prefix for clause in search.clauses):
        return ()
    found = [*_near(spelling_key(search.text), vocabulary.names), *_corrected(search, vocabulary)]
    asked, nearest = search.text.casefold(), min((far for far, *_ in found), default=0)
    best: dict[str, tuple[int, str]] = {}
    for far, rank, shown in found:
        folded = shown.casefold()
        if far == nearest and folded != asked:
            # A word of what is stored is known in lower case only; a name is shown as its list writes it.
            before = best.get(folded, (rank, shown))
            best[folded] = (min(rank, before[0]), max(shown, before[1], key=lambda one: (one != folded, one)))
    ranked = sorted((rank, folded, shown) for folded, (rank, shown) in best.items())
    return tuple(shown for _, _, shown in ranked[:MOST_SUGGESTIONS])


def distance(one: str, other: str, most: int) -> int:
    """Return how many letters must be added, removed, replaced or swapped with the next to make one word of the
    other.

    Anything over `most` is `most + 1`.
    """
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        above, row = row, [i]
        for j, against in enumerate(other, 1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (letter != against))
            if before and j > 1 and letter == other[j - 2] and one[i - 2] == against:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
        before = above
    return min(row[-1], most + 1)


def _corrected(search: SearchText, vocabulary: Vocabulary) -> Iterable[tuple[int, int, str]]:
    """Yield the search with its unknown words replaced by near ones."""
    asked = explain_query(search).words
    # A word that stands alone and was not found is in doubt, whoever else writes it so.
    unknown = [word for word in asked if word not in vocabulary.known or len(asked) == 1][:_MOST_CORRECTED]
    near = {word: sorted(found) for word in unknown if (found := _near(word, vocabulary.words))}
    best = {word: found[0][2] for word, found in near.items()}
    for word, found in near.items():
        for far, rank, shown in found:
            yield far, rank, _replaced(search.clauses, best | {word: shown})


def _replaced(clauses: Sequence[Clause], by: Mapping[str, str]) -> str:
    """Return the words of a search with some replaced; phrases keep their quotes, indicators are written
    canonically.
    """
    parts = []
    for clause in clauses:
        one = explain_query(SearchText("", (clause,), ()))
        parts += [by.get(word, word) for word in one.words]
        parts += [f'"{phrase}"' for phrase in one.phrases]
        parts += [value for _, value in one.names[:1]] + list(one.networks)
    return " ".join(parts)


def _near(key: str, terms: dict[int, tuple[Term, ...]]) -> list[tuple[int, int, str]]:
    """Return (distance, rank, term) of the terms near a key."""
    if not _SHORTEST <= len(key) <= _LONGEST:
        return []
    most = 1 if len(key) < 6 else 2
    letters = _letters(key)
    found = []
    for length in range(len(key) - most, len(key) + most + 1):
        for term in terms.get(length, ()):
            # A change adds and takes away at most one letter each.
            if (term.letters ^ letters).bit_count() <= 2 * most:
                far = distance(key, term.key, most)
                if far <= most:
                    found.append((far, term.rank, term.shown))
    return found


@cache
def _packaged() -> Vocabulary:
    """Return the names of malware families and ATT&CK techniques."""
    families = frozenset(malware_names().families.values())
    spellings = sorted(malware_names().spellings, key=lambda name: (name not in families, name))
    names = [_term(spelling_key(name), name, _FAMILY if name in families else _ALIAS) for name in spellings]
    techniques = sorted(set(technique_names()))
    names += [_term(spelling_key(name), name, _WORD) for name in techniques]
    spelt = {word for name in (*spellings, *techniques) for word in words(name)}
    singles = [term for term in names if " " not in term.shown]
    rest = sorted(spelt - {term.key for term in singles})
    return Vocabulary(
        _by_length(names), _by_length([*singles, *(_term(word, word, _WORD) for word in rest)]), frozenset(spelt)
    )


def _term(key: str, shown: str, rank: int) -> Term:
    return Term(key, shown, rank, _letters(key))


def _letters(key: str) -> int:
    bits = 0
    for character in key:
        bits |= 1 << (ord(character) % 61)
    return bits


def _by_length(terms: Iterable[Term]) -> dict[int, tuple[Term, ...]]:
    found: dict[int, list[Term]] = {}
    for term in terms:
        found.setdefault(len(term.key), []).append(term)
    return {length: tuple(each) for length, each in found.items()}


def _joined(one: dict[int, tuple[Term, ...]], other: dict[int, tuple[Term, ...]]) -> dict[int, tuple[Term, ...]]:
    return {length: one.get(length, ()) + other.get(length, ()) for length in one.keys() | other.keys()}
