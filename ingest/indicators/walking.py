"""Cuts a text at white space and picks the few tokens that are worth reading: the one pass over all of it."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import compress, count
from typing import Final, NamedTuple

from ingest.indicators.marks import MARKS
from ingest.indicators.naming import EDGES, FUSED_KINDS, naming_of
from intel.names import malware_names

LONGEST_WORD: Final = 64
MOST_OF_ONE: Final = 1000  # more appearances of one token tell nothing new

_PROMISING: Final = re.compile(
    rf"[.@](?=\w)|[{MARKS}]|://|:\\\\|__[\w\[]|[0-9A-Fa-f]{{32}}|[Cc][Vv][Ee][-_\u2010-\u2015\u2212][0-9]|T[0-9]{{4}}"
    rf"|::|:[0-9A-Fa-f]{{1,4}}:|%3[aA]%2[fF]"
)
_SHORTEST_HASH: Final = 32
_FUSED_ENDS: Final = frozenset(kind[-3:] for kind in FUSED_KINDS)


# A token that is worth reading: the how-manieth it is, where it begins, and itself. (A tuple, for there are many.)
Place = tuple[int, int, str]


class Walk(NamedTuple):
    """A text cut at white space, and where the tokens stand that are worth reading."""

    text: str
    tokens: list[str]
    places: list[Place]


def walk(text: str) -> Walk:
    """Cuts a plain text at white space; what a token is worth is asked once for each different one."""
    tokens = text.split()
    words = set(tokens)
    long = {token for token in words if len(token) > LONGEST_WORD}
    telling = frozenset([*filter(_is_telling_word, words - long), *filter(may_hold_indicators, long)])
    numbers = list(compress(count(), map(telling.__contains__, tokens)))
    return Walk(text, tokens, _places(text, tokens, numbers))


def may_hold_indicators(token: str) -> bool:
    """Whether a token has a sign that some indicator needs."""
    return _PROMISING.search(token) is not None


# Reports are written in much the same words: most of them were asked about before.
@lru_cache(maxsize=1 << 16)
def _is_telling_word(token: str) -> bool:
    bare = token if token.isalpha() else token.strip(EDGES)
    names = malware_names()
    if bare.isalpha() and len(bare) < _SHORTEST_HASH:
        key = bare.casefold()
        may_begin = key in names.beginnings or bare in names.openings
        return (may_begin or (key[-3:] in _FUSED_ENDS and key.endswith(FUSED_KINDS))) and naming_of(
            token, names
        ).may_name
    if bare.isdigit() and "::" not in token:
        return False
    return may_hold_indicators(token) or naming_of(token, names).may_name


def _places(text: str, tokens: list[str], numbers: list[int]) -> list[Place]:
    """Where the tokens of these `numbers` stand; of one that comes endlessly, its first thousand places."""
    times = Counter(map(tokens.__getitem__, numbers)) if len(numbers) > MOST_OF_ONE else Counter()
    left = {token: MOST_OF_ONE for token, often in times.items() if often > MOST_OF_ONE}
    places: list[Place] = []
    position, length = 0, len(text)
    for number in numbers:
        token = tokens[number]
        if token in left:
            if not left[token]:
                continue
            left[token] -= 1
        start = text.index(token, position)
        position = start + len(token)
        while (start and not text[start - 1].isspace()) or (position < length and not text[position].isspace()):
            start = text.index(token, start + 1)
            position = start + len(token)
        places.append((number, start, token))
    return places
