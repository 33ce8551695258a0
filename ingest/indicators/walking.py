"""Cut a text at white space and pick the few tokens that are worth reading: the one pass over all of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from itertools import filterfalse, islice, repeat
from operator import itemgetter
from typing import Final, NamedTuple

from ingest.indicators.cutting import Place, cuts
from ingest.indicators.naming import EDGES, FUSED_KINDS, Naming, naming_of
from ingest.indicators.readers import SHORTEST_TOKEN, may_hold_a_shape
from intel.names import malware_names
from intel.refanging import MARKS, SEPARATOR

LONGEST_WORD: Final = 64
MOST_OF_ONE: Final = 1000  # more appearances of one token tell nothing new
MOST_REMEMBERED: Final = 50_000
LONGEST_REMEMBERED: Final = 24

# Each begins with one class of signs, for to look for one of a class is what is fastest; most words have none of them.
_SIGN: Final = re.compile(
    rf"[.@:_%{MARKS}](?:(?<=[.@])(?=\w)|(?<=[{MARKS}])|(?<=:)(?://|\\\\|:|[0-9A-Fa-f]{{1,4}}:)|(?<=_)_[\w\[]"
    rf"|(?<=%)3[aA]%2[fF])"
)
_HEAD_ENDS: Final = ("://", SEPARATOR)
# The words of a language come again in every text: that nothing can be read from one is found out once a process.
_worthless: Final[set[str]] = set()


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
    """Cut a plain text at white space; what a token is worth is asked once for each different one of a stretch."""
    namings: dict[str, Naming] = {}
    places: list[Place] = []
    times: Counter[str] = Counter()
    has_heads = False
    for cut in cuts(text, without=_worthless):
        plain = list(filter(str.isalpha, cut.tokens))
        others = list(filterfalse(str.isalpha, cut.tokens))
        has_heads = has_heads or any(map(str.endswith, others, repeat(_HEAD_ENDS)))
        promising, named, edges = _sorted_out(plain, others)
        namings.update(named)
        worth = promising.union(named)
        _remember(cut.tokens, worth)
        found = cut.places(worth, edges.union(named))
        times.update(map(itemgetter(1), found))
        endless = max(map(times.__getitem__, worth), default=0) > MOST_OF_ONE
        places += _first_ones(found, times) if endless else found
    return Walk(text, places, namings, has_heads)


def may_hold_indicators(token: str) -> bool:
    """Tell whether a token has a sign that some indicator needs."""
    return _SIGN.search(token) is not None or may_hold_a_shape(token)


def _sorted_out(words: list[str], others: list[str]) -> tuple[set[str], dict[str, Naming], set[str]]:
    """Return, of plain words and of other tokens, those that may hold an indicator or only a name of malware.

    The third are those of the first that are nothing but edges.
    """
    names = malware_names()
    beginnings = names.beginnings
    promising = {word for word in words if len(word) >= SHORTEST_TOKEN and may_hold_indicators(word)}
    edges: set[str] = set()
    asked = [
        word
        for word in words
        if (key := word.casefold()) in beginnings or key.endswith(FUSED_KINDS) or not word.isascii()
    ]
    for token in others:
        bare = token.strip(EDGES)
        if bare.isalpha() and len(bare) < SHORTEST_TOKEN:
            if (key := bare.casefold()) in beginnings or key.endswith(FUSED_KINDS) or not bare.isascii():
                asked.append(token)
        elif bare.isdigit() and len(token) <= LONGEST_WORD and "::" not in token:
            continue
        elif may_hold_indicators(token):
            promising.add(token)
            if not bare:
                edges.add(token)
        else:
            asked.append(token)
    namings = [(token, naming_of(token, names)) for token in asked if token not in promising]
    return promising, {token: naming for token, naming in namings if naming.may_name}, edges


def _remember(tokens: list[str], worth: set[str]) -> None:
    """Remember the short ones of the `tokens` that are not `worth` reading; what a hostile text fills is emptied."""
    if len(_worthless) > MOST_REMEMBERED:
        _worthless.clear()
    short = [token for token in tokens if len(token) <= LONGEST_REMEMBERED and not token.endswith(_HEAD_ENDS)]
    _worthless.update(islice(filterfalse(worth.__contains__, short), MOST_REMEMBERED))


def _first_ones(places: list[Place], times: Mapping[str, int]) -> list[Place]:
    """Return the `places` of a stretch without those of a token that has come a thousand times before."""
    here = Counter([token for _, token in places])
    left = {token: MOST_OF_ONE - times[token] + often for token, often in here.items() if times[token] > MOST_OF_ONE}
    kept: list[Place] = []
    for place in places:
        if place[1] in left:
            left[place[1]] -= 1
            if left[place[1]] < 0:
                continue
        kept.append(place)
    return kept
