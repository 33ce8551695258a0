"""Suggest what a search that found nothing may have meant: known names, and words of what is stored.

suggested("emottet", Vocabulary.of(["Kestrel Weekly"]))  ->  ("Emotet", …)

Two words are near if one or two changes make them alike (a letter added, removed or replaced, or two swapped); the
nearest comes first. The order depends only on the search and the vocabulary, so that it is the same everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import compress
from typing import Final, NamedTuple

from intel.names import malware_names, spelling_key, technique_names
from intel.query import Clause, SearchText
from intel.query_explanation import explain_query
from intel.words import words

MOST_SUGGESTIONS: Final = 5
_SHORTEST: Final = 4
_LONGEST: Final = 40
_MOST_CORRECTED: Final = 4
# Twice as many bits are a small number.
_ALPHABET: Final = 29
# Where what is suggested comes from, the likeliest to be meant first.
_STORED, _FAMILY, _ALIAS, _WORD = range(4)
# How far something is, its rank, and how it is shown.
Near = tuple[int, int, str]


class Term(NamedTuple):
    """A name or word that may be suggested; `key` is what its spellings share."""

    key: str
    shown: str
    rank: int


class Terms(NamedTuple):
    """Terms whose keys are of one length, and beside them the letters of each key as bits."""

    terms: list[Term]
    letters: list[int]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What may have been meant: the known names, and the words of what is stored."""

    stored: frozenset[str]
    _near_names: dict[str, list[Near]] = field(default_factory=dict)

    @classmethod
    def of(cls, stored: Iterable[str]) -> Vocabulary:
        """Return a vocabulary of the known names and of the names and words in these texts (titles, source names)."""
        return cls(frozenset(words("\n".join(dict.fromkeys(stored)))))

    def knows(self, word: str) -> bool:
        return word in self.stored or word in _packaged().spelt

    def near_names(self, key: str) -> list[Near]:
        """Return the whole names near a key."""
        if key not in self._near_names:  # most searches are one word, and so one key
            self._near_names[key] = _near(key, _packaged().names)
        return self._near_names[key]

    def near_words(self, word: str) -> list[Near]:
        """Return the single words near a word, of names and of what is stored; nearest first."""
        names = (one for one in self.near_names(word) if " " not in one[2])
        return sorted([*names, *_near(word, _packaged().words), *_near_stored(word, self.stored)])


def suggested(search: SearchText, vocabulary: Vocabulary) -> tuple[str, ...]:
    """Return searches that may have been meant, nearest first; none for a search that names an indicator or is too
    short.
    """
    if search.exact or any(clause.prefix for clause in search.clauses):
        return ()
    found = [*vocabulary.near_names(spelling_key(search.text)), *_corrected(search, vocabulary)]
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


def distance(one: str, other: str) -> int:
    """Return how many letters must be added, removed, replaced or swapped with the next to make one word of the other.

    Hyyrö's bit-parallel algorithm (2003): a row of the table of distances is a few numbers, whose bits tell where it
    rises or falls from letter to letter and against the row above.
    """
    places: dict[str, int] = {}
    for place, letter in enumerate(one):
        places[letter] = places.get(letter, 0) | 1 << place
    all, last, far = (1 << len(one)) - 1, 1 << len(one) >> 1, len(one)
    rises, falls, same, stood = all, 0, 0, 0
    for letter in other:
        stands = places.get(letter, 0)
        swapped = ((~same & stands) << 1) & stood
        same = (((stands & rises) + rises) ^ rises | stands | falls | swapped) & all
        up, down = falls | all & ~(same | rises), same & rises
        far += bool(up & last) - bool(down & last)
        up, down = up << 1 | 1, down << 1
        rises, falls, stood = (down | ~(same | up)) & all, up & same, stands
    return far if one else len(other)


def _corrected(search: SearchText, vocabulary: Vocabulary) -> Iterable[Near]:
    """Yield the search with its unknown words replaced by near ones."""
    asked = explain_query(search).words
    # A word that stands alone and was not found is in doubt, whoever else writes it so.
    unknown = [word for word in asked if not vocabulary.knows(word) or len(asked) == 1][:_MOST_CORRECTED]
    near = {word: found for word in unknown if (found := vocabulary.near_words(word))}
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


def _near(key: str, terms: Mapping[int, Terms]) -> list[Near]:
    """Return the terms near a key."""
    if not _SHORTEST <= len(key) <= _LONGEST:
        return []
    most, letters = _most_changes(key), _letters(key)
    found = []
    for length in range(len(key) - most, len(key) + most + 1):
        if length in terms:
            # A change adds and takes away at most one letter each. There are thousands of terms: no line runs for each.
            changed = map(int.bit_count, map(letters.__xor__, terms[length].letters))
            alike = compress(terms[length].terms, map((2 * most).__ge__, changed))
            found += [(distance(key, term.key), term.rank, term.shown) for term in alike]
    return [one for one in found if one[0] <= most]


def _near_stored(word: str, stored: Iterable[str]) -> list[Near]:
    """Return the words of what is stored that are near a word."""
    if not _SHORTEST <= len(word) <= _LONGEST:
        return []
    most, letters = _most_changes(word), set(word)
    alike = (one for one in stored if abs(len(one) - len(word)) <= most and len(letters ^ {*one}) <= 2 * most)
    found = [(distance(word, one), _STORED, one) for one in alike]
    return [one for one in found if one[0] <= most]


def _most_changes(key: str) -> int:
    """Return how far from a word another one may be."""
    return 1 if len(key) < 6 else 2


class _Packaged(NamedTuple):
    """Names of malware families and ATT&CK techniques, and the words in them that are no name, by length.

    `spelt` are all of their words.
    """

    names: Mapping[int, Terms]
    words: Mapping[int, Terms]
    spelt: frozenset[str]


@cache
def _packaged() -> _Packaged:
    """Return the names of malware families and ATT&CK techniques."""
    families = frozenset(malware_names().families.values()).difference(malware_names().known_as)
    spellings = sorted(malware_names().spellings, key=lambda name: (name not in families, name))
    names = [Term(spelling_key(name), name, _FAMILY if name in families else _ALIAS) for name in spellings]
    techniques = sorted(set(technique_names()))
    names += [Term(spelling_key(name), name, _WORD) for name in techniques]
    spelt = {word for name in (*spellings, *techniques) for word in words(name)}
    rest = sorted(spelt - {term.key for term in names if " " not in term.shown})
    return _Packaged(_by_length(names), _by_length(Term(word, word, _WORD) for word in rest), frozenset(spelt))


def _letters(key: str) -> int:
    """Return the letters of a word as bits; one that stands there more than once has two."""
    bits = 0
    for character in key:
        bit = 1 << (ord(character) % _ALPHABET)
        bits |= bit << _ALPHABET if bits & bit else bit
    return bits


def _by_length(terms: Iterable[Term]) -> dict[int, Terms]:
    found: dict[int, Terms] = {}
    for term in terms:
        of_length = found.setdefault(len(term.key), Terms([], []))
        of_length.terms.append(term)
        of_length.letters.append(_letters(term.key))
    return found
