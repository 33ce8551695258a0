"""Look for what is said in several languages: each way to say it is a pattern, tried where a piece of it stands."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, cached_property, lru_cache
from typing import Final

from ingest.indicators.piece_search import PieceSearch
from ingest.indicators.required_pieces import required_pieces

_ESCAPE: Final = re.compile(r"\\.")
_LATIN: Final = re.compile(r"[a-zA-Z\u00c0-\u024f\u1e00-\u1eff]")
_LETTER: Final = re.compile(r"[^\W\d_]")


class Spoken:
    """What one place of a rule may say, by language.

    Those in letters other than Latin are only asked of a text that has such.
    """

    def __init__(self, by_language: dict[str, str], end: str) -> None:
        self._latin = _Patterns([each for each in by_language.values() if not _is_in_other_letters(each)], end)
        self._others = _Patterns([each for each in by_language.values() if _is_in_other_letters(each)], end)

    @lru_cache(maxsize=2048)  # noqa: B019 - there are as many as the tables have; the rows of a list say the same
    def search(self, said: str) -> bool:
        """Tell whether it stands anywhere in what is said."""
        return self._latin.search(said) or (not said.isascii() and self._others.search(said))

    def match(self, said: str) -> bool:
        """Tell whether what is said begins with it."""
        return self._latin.match(said) or (not said.isascii() and self._others.match(said))

    @property
    def needed(self) -> frozenset[str]:
        """Pieces of which one stands wherever it does; none where that cannot be told."""
        latin, others = self._latin.needed, self._others.needed
        return frozenset() if latin is None or others is None else latin | others


class SpokenSearch:
    """Looks for many things that may be said, all at once."""

    def __init__(self, spoken: Iterable[Spoken]) -> None:
        self._needing: dict[str, list[Spoken]] = {}
        self._always: set[Spoken] = set()
        for each in spoken:
            if not each.needed:
                self._always.add(each)
            for piece in each.needed:
                self._needing.setdefault(piece, []).append(each)
        self._search = PieceSearch(self._needing)

    def that_may_stand_in(self, said: str) -> set[Spoken]:
        """Return those that may stand in what is said."""
        found = set(self._always)
        for piece in self._search.standing_in(said):
            found.update(self._needing[piece])
        return found


class _Patterns:
    """Patterns of which one is sought; `end` comes after each. None is tried where nothing stands that it needs."""

    def __init__(self, patterns: list[str], end: str) -> None:
        self._patterns = patterns
        self._end = end

    @cached_property
    def _needing(self) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]], PieceSearch]:
        """The patterns that need no piece, those that need one by piece, and the search for all pieces."""
        free: list[str] = []
        needing: dict[str, tuple[str, ...]] = {}
        for pattern in self._patterns:
            whole = f"(?:{pattern}){self._end}"
            pieces = required_pieces(pattern)
            if not pieces:
                free.append(whole)
            for piece in pieces:
                needing[piece] = (*needing.get(piece, ()), whole)
        return tuple(free), needing, PieceSearch(needing)

    @cached_property
    def needed(self) -> frozenset[str] | None:
        """Pieces of which one stands wherever a pattern matches, or None where that cannot be told."""
        each = [required_pieces(pattern) for pattern in self._patterns]
        return frozenset().union(*each) if all(each) else None

    @cached_property
    def _joined(self) -> re.Pattern[str]:
        return re.compile("|".join(f"(?:{pattern}){self._end}" for pattern in self._patterns) or r"(?!)")

    def search(self, said: str) -> bool:
        free, needing, search = self._needing
        standing = search.standing_in(said)
        if not (standing or free):
            return False
        asked = dict.fromkeys([*free, *(pattern for piece in standing for pattern in needing[piece])])
        return any(_compiled(pattern).search(said) is not None for pattern in asked)

    def match(self, said: str) -> bool:
        return self._joined.match(said) is not None


_compiled: Final = cache(re.compile)


def _is_in_other_letters(pattern: str) -> bool:
    """Tell whether all letters that a pattern names are other than Latin."""
    named = _ESCAPE.sub("", pattern)
    return _LATIN.search(named) is None and _LETTER.search(named) is not None
