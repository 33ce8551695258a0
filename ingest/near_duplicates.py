"""Telling copies of one text from texts about the same thing. Pure and picklable.

A text's signature is one-permutation MinHash over the three-word shingles of its prose, cut into bands: two texts that
share a good third of their shingles share a band nearly always. What shares a band is compared in truth: most of
the shorter text's shingles stand in the other one, and both speak of the same indicators. What is no prose
(addresses, hashes, numbers) is no part of a shingle, so that a shared table makes no copy.

Sources: Li, Owen, Zhang, "One Permutation Hashing" (2012); Shrivastava, "Optimal Densification for Fast and Accurate
Minwise Hashing" (2017); Broder, "On the resemblance and containment of documents" (1997).
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import Final

LEAST_WORDS: Final = 50
SHINGLE_WORDS: Final = 3
BANDS: Final = 24
ROWS: Final = 2
# A copy among other boilerplate may be much longer; a report that quotes a paragraph holds less of another's.
LEAST_OF_THE_SHORTER: Final = 0.7
LEAST_OF_THE_LONGER: Final = 0.4
LEAST_SHARED_FACTS: Final = 0.5
_BINS: Final = BANDS * ROWS
# Those who claimed their bands first are compared with time and again: so many, of at most so many characters, are
# kept, in a confined process as long as it works for one account.
_MOST_KEPT: Final = 32
_LONGEST_KEPT: Final = 30_000
_LONG_FACT: Final = 20
_DOTS_OF_AN_ADDRESS: Final = 3

_SCRIPTS_WITHOUT_SPACES: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_UNSPACED: Final = re.compile(f"[{_SCRIPTS_WITHOUT_SPACES}]")
_CHUNK: Final = re.compile(rf"[{_SCRIPTS_WITHOUT_SPACES}]|[^\s{_SCRIPTS_WITHOUT_SPACES}]+")
_WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_JOINT: Final = re.compile(r"[\[({<]?(?:\.|dot|:|@|at)[\])}>]|\\\.")
_SAID_BETWEEN: Final = re.compile(r"[^\W_][.@/:][^\W_]")


@dataclass(frozen=True)
class Told:
    """The shingles of a text, and its pieces that are no words: its facts (indicators, names of files) are among
    them.
    """

    shingles: frozenset[str]
    pieces: tuple[str, ...]

    @cached_property
    def facts(self) -> frozenset[str]:
        return frozenset(fact for piece in set(self.pieces) if (fact := _fact(piece)))

    @property
    def bands(self) -> tuple[str, ...]:
        """The keys under which copies are found."""
        if len(self.shingles) <= LEAST_WORDS - SHINGLE_WORDS:
            return ()
        signature = _densified(_least_of_bins(_hashes(self.shingles)))
        return tuple(f"near:{band:02}:{_digest(signature[band * ROWS : (band + 1) * ROWS])}" for band in range(BANDS))


def bands(text: str) -> tuple[str, ...]:
    """Return the keys under which copies of a text are found, ascending; none for fewer than 50 words of prose."""
    return tell(text).bands


def copies_among(text: str, others: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return which of the other texts, by id, are copies of this one, each with its bands."""
    told = tell(text)
    apart = {id: _kept(other) if len(other) <= _LONGEST_KEPT else tell(other) for id, other in others.items()}
    return {id: other.bands for id, other in apart.items() if is_copy(told, other)}


def is_copy(one: Told, other: Told) -> bool:
    """Tell whether two texts are one text in another setting."""
    if not one.shingles or not other.shingles:
        return False
    shared = len(one.shingles & other.shingles)
    shorter, longer = sorted((len(one.shingles), len(other.shingles)))
    if shared < LEAST_OF_THE_SHORTER * shorter or shared < LEAST_OF_THE_LONGER * longer:
        return False
    facts = min(len(one.facts), len(other.facts))
    return len(one.facts & other.facts) >= LEAST_SHARED_FACTS * facts


def tell(text: str) -> Told:
    """Return the shingles and other pieces of a text. Linear."""
    chunks = _chunks(unicodedata.normalize("NFKC", text).casefold())
    words_of: dict[str, Sequence[str]] = {}
    pieces: list[str] = []
    for chunk in dict.fromkeys(chunks):
        bare = chunk.strip("\"'.,;:!?()[]{}<>«»„“”‘’…*_|-–—")
        if bare.isalpha():
            words_of[chunk] = (bare,)
        elif _WORD.fullmatch(bare):
            words_of[chunk] = bare.replace("\u2019", "'").split("-")
        else:
            words_of[chunk] = ()
            pieces.append(bare)
    words = list(chain.from_iterable(map(words_of.__getitem__, chunks)))
    shingles = zip(*(words[start:] for start in range(SHINGLE_WORDS)), strict=False)
    return Told(frozenset(map(" ".join, shingles)), tuple(pieces))


_kept: Final = lru_cache(maxsize=_MOST_KEPT)(tell)


def _chunks(text: str) -> list[str]:
    return text.split() if _UNSPACED.search(text) is None else _CHUNK.findall(text)


def _fact(chunk: str) -> str | None:
    """Return an indicator or its like, refanged; None for numbers, dates and punctuation."""
    plain = _JOINT.sub(_armed, chunk)
    has_letter = any(map(str.isalpha, plain))
    is_long = has_letter and any(map(str.isdigit, plain)) and (len(plain) >= _LONG_FACT or plain.startswith("cve-"))
    if not is_long and _SAID_BETWEEN.search(plain) is None:
        return None
    if not has_letter and plain.count(".") != _DOTS_OF_AN_ADDRESS:
        return None
    return plain.replace("hxxp", "http")[:200]


def _armed(joint: re.Match[str]) -> str:
    if ":" in joint[0]:
        return ":"
    return "@" if "@" in joint[0] or "at" in joint[0] else "."


def _hashes(shingles: Iterable[str]) -> Iterator[int]:
    for shingle in shingles:
        yield int.from_bytes(hashlib.blake2b(shingle.encode("utf-8", "replace"), digest_size=8).digest(), "big")


def _least_of_bins(hashes: Iterable[int]) -> list[int | None]:
    least: list[int | None] = [None] * _BINS
    for hashed in hashes:
        value, bin = divmod(hashed, _BINS)
        held = least[bin]
        if held is None or value < held:
            least[bin] = value
    return least


def _densified(least: list[int | None]) -> list[int]:
    """Let every empty bin borrow from another one, by the same steps for every text; at least one is not empty."""
    return [value if value is not None else _borrowed(least, bin) for bin, value in enumerate(least)]


def _borrowed(least: list[int | None], bin: int) -> int:
    step = 0
    while True:
        step += 1
        probe = hashlib.blake2b(f"{bin}:{step}".encode(), digest_size=8).digest()
        value = least[int.from_bytes(probe, "big") % _BINS]
        if value is not None:
            return value + step


def _digest(values: list[int]) -> str:
    return hashlib.blake2b(repr(values).encode(), digest_size=10).hexdigest()
