"""Cuts a text at white space and picks the few tokens that are worth reading: the one pass over all of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from ingest.indicators.marks import MARKS, SEPARATOR
from ingest.indicators.naming import EDGES, FUSED_KINDS, Naming, naming_of
from intel.names import malware_names

LONGEST_WORD: Final = 64
STRETCH: Final = 1_000_000
MOST_OF_ONE: Final = 1000  # more appearances of one token tell nothing new

_PROMISING: Final = re.compile(
    rf"[.@](?=\w)|[{MARKS}]|://|:\\\\|__[\w\[]|[0-9A-Fa-f]{{32}}|[Cc][Vv][Ee][-_\u2010-\u2015\u2212][0-9]|T[0-9]{{4}}"
    rf"|::|:[0-9A-Fa-f]{{1,4}}:|%3[aA]%2[fF]"
)
# Most words have none of the signs that nearly all indicators have: to look for one of a class is what is fastest.
_SIGN: Final = re.compile(rf"[.@:_%\\{MARKS}]")
_UNSIGNED: Final = re.compile(r"[0-9A-Fa-f]{32}|[Cc][Vv][Ee][-_\u2010-\u2015\u2212][0-9]|T[0-9]{4}")
_SPACE: Final = re.compile(r"\s")
_HEAD_ENDS: Final = ("://", SEPARATOR)
_SHORTEST_HASH: Final = 32
_FUSED_ENDS: Final = frozenset(kind[-3:] for kind in FUSED_KINDS)


# A token that is worth reading: where it begins, and itself. (A tuple, for there are many.)
Place = tuple[int, str]


class Walk(NamedTuple):
    """A text, and where the tokens stand that are worth reading.

    `namings` are those tokens that may only be a name of malware, with how; `has_heads`: some token is the beginning
    of a URL and no more.
    """

    text: str
    places: list[Place]
    namings: Mapping[str, Naming]
    has_heads: bool


def walk(text: str) -> Walk:
    """Cuts a plain text at white space; what a token is worth is asked once for each different one of a stretch."""
    namings: dict[str, Naming] = {}
    places: list[Place] = []
    times: Counter[str] = Counter()
    has_heads = False
    for start, end in _stretches(text):
        tokens = (text if end - start == len(text) else text[start:end]).split()
        words = set(tokens)
        promising, named = _sorted_out(words)
        namings.update(named)
        has_heads = has_heads or any(word.endswith(_HEAD_ENDS) for word in words)
        telling = list(filter(promising.union(named).__contains__, tokens))
        places += _places(text, start, end, telling, times)
    return Walk(text, places, namings, has_heads)


def _stretches(text: str) -> Iterator[tuple[int, int]]:
    """A text in stretches of some megabytes that end between words: what is held of it at one time stays small."""
    start = 0
    while start < len(text):
        space = _SPACE.search(text, start + STRETCH)
        end = space.start() if space else len(text)
        yield start, end
        start = end


def may_hold_indicators(token: str) -> bool:
    """Whether a token has a sign that some indicator needs."""
    if _SIGN.search(token) is not None:
        return _PROMISING.search(token) is not None
    if len(token) < _SHORTEST_HASH and "T" not in token and "-" not in token and token.isascii():
        return False
    return _UNSIGNED.search(token) is not None


def _sorted_out(tokens: set[str]) -> tuple[set[str], dict[str, Naming]]:
    """The tokens that may hold an indicator, and those that may only begin a name of malware."""
    names = malware_names()
    beginnings, openings = names.beginnings, names.openings
    promising: set[str] = set()
    namings: dict[str, Naming] = {}
    for token in tokens:
        bare = token if token.isalpha() else token.strip(EDGES)
        if bare.isalpha() and len(bare) < _SHORTEST_HASH:
            key = bare.casefold()
            if (
                key not in beginnings
                and bare not in openings
                and not (key[-3:] in _FUSED_ENDS and key.endswith(FUSED_KINDS))
                and bare.isascii()
            ):
                continue
        elif bare.isdigit() and len(token) <= LONGEST_WORD and "::" not in token:
            continue
        elif may_hold_indicators(token):
            promising.add(token)
            continue
        naming = naming_of(token, names)
        if naming.may_name:
            namings[token] = naming
    return promising, namings


def _places(text: str, begin: int, end: int, telling: list[str], times: Counter[str]) -> list[Place]:
    """Where the `telling` tokens of a stretch stand; of one that comes endlessly, its first thousand places."""
    left: dict[str, int] = {}
    for token, often in Counter(telling).items():
        if times[token] + often > MOST_OF_ONE:
            left[token] = MOST_OF_ONE - times[token]
        times[token] += often
    places: list[Place] = []
    position = begin
    for token in telling:
        if token in left:
            if left[token] <= 0:
                continue
            left[token] -= 1
        start = text.index(token, position)
        position = start + len(token)
        while (start > begin and not text[start - 1].isspace()) or (position < end and not text[position].isspace()):
            start = text.index(token, start + 1)
            position = start + len(token)
        places.append((start, token))
    return places
