"""Cuts a text at white space and picks the few tokens that are worth reading: the one pass over all of it."""

from __future__ import annotations

import re
from collections.abc import Container
from functools import lru_cache
from typing import Final, NamedTuple

from ingest.indicators.marks import MARKS
from ingest.indicators.naming import EDGES, FUSED_KINDS, naming_of
from intel.names import malware_names

LONGEST_WORD: Final = 64

_PROMISING: Final = re.compile(
    rf"[.@](?=\w)|[{MARKS}]|://|:\\\\|__[\w\[]|[0-9A-Fa-f]{{32}}|[Cc][Vv][Ee][-_\u2010-\u2015\u2212][0-9]|T[0-9]{{4}}"
    rf"|::|:[0-9A-Fa-f]{{1,4}}:|%3[aA]%2[fF]"
)
_SHORTEST_HASH: Final = 32
_FUSED_ENDS: Final = frozenset(kind[-3:] for kind in FUSED_KINDS)


class Place(NamedTuple):
    """A token that is worth reading: the how-manieth it is, and where it begins."""

    number: int
    start: int
    token: str


class Walk(NamedTuple):
    """A text cut at white space, and where the tokens stand that are worth reading."""

    text: str
    tokens: list[str]
    places: list[Place]


def walk(text: str) -> Walk:
    """Cuts a plain text at white space; what a token is worth is asked once for each different one."""
    tokens = text.split()
    telling = {
        token
        for token in set(tokens)
        if (_is_telling_word(token) if len(token) <= LONGEST_WORD else may_hold_indicators(token))
    }
    return Walk(text, tokens, _places(text, tokens, telling))


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
        return (
            key in names.beginnings or bare in names.openings or (key[-3:] in _FUSED_ENDS and key.endswith(FUSED_KINDS))
        )
    if bare.isdigit() and "::" not in token:
        return False
    return may_hold_indicators(token) or naming_of(token, names).may_name


def _places(text: str, tokens: list[str], telling: Container[str]) -> list[Place]:
    places: list[Place] = []
    position = 0
    for number in [number for number, token in enumerate(tokens) if token in telling]:
        token = tokens[number]
        start = text.index(token, position)
        while (start and not text[start - 1].isspace()) or text[start + len(token) : start + len(token) + 1].strip():
            start = text.index(token, start + 1)
        position = start + len(token)
        places.append(Place(number, start, token))
    return places
