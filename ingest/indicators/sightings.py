"""Finds every piece of a text that may be an indicator, with its place; linear on any input."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from ingest.indicators.marks import SEPARATOR
from ingest.indicators.reading import Reading
from ingest.indicators.tokens import read_token, read_word
from ingest.indicators.walking import LONGEST_WORD, MOST_OF_ONE, Place, may_hold_indicators

LONGEST_TOKEN: Final = 2048

_PIECE: Final = re.compile(r"[^\s,;|<>\"'(){}\[\]]++")
# One pattern for each case: a literal beginning is what the engine finds fastest.
_SPACED_CVE: Final = tuple(
    (word, re.compile(word + r"(?:[ \xa0:#]{1,2}|-[ \n])([0-9]{4})[-\u2010-\u2015\u2212]([0-9]{4,7})(?![0-9])"))
    for word in ("CVE", "cve")
)
_SPACED_HEAD: Final = re.compile(
    rf"(?P<head>[hH][tTxX*]{{2}}[pP][sS]?(?:://|:?{SEPARATOR}++))[ \t](?=(?P<following>\S{{1,2048}}))"
)


class Sighting(NamedTuple):
    """A reading at its place in the plain text; `start` and `end` count characters of the plain text."""

    reading: Reading
    start: int
    end: int


def sightings(places: list[Place]) -> tuple[list[Sighting], list[Place]]:
    """Every possible indicator among the telling tokens of a text in order, and the places of the other tokens."""
    read: dict[str, list[tuple[int, Sequence[Reading]]]] = {}
    found: list[Sighting] = []
    others: list[Place] = []
    for place in places:
        _, start, token = place
        held = read.get(token)
        if held is None:
            held = read[token] = _read(token)
        for shift, readings in held:
            base = start + shift
            for reading in readings:
                found.append(Sighting(reading, base + reading.start, base + reading.end))
        if not held:
            others.append(place)
    return found, others


def spaced_sightings(text: str) -> list[Sighting]:
    """The indicators that are written with a blank inside."""
    return [*_spaced_identifiers(text), *_spaced_urls(text)]


def _read(token: str) -> list[tuple[int, Sequence[Reading]]]:
    """What a token holds, with where in it."""
    if len(token) > LONGEST_TOKEN:
        return list(_read_pieces(token))
    readings = read_word(token) if len(token) <= LONGEST_WORD else read_token(token)
    return [(0, readings)] if readings else []


def _read_pieces(token: str) -> Iterator[tuple[int, list[Reading]]]:
    """A token that is too long to be one, cut at the signs that part the items of a list."""
    read: dict[str, list[Reading]] = {}
    times: Counter[str] = Counter()
    for match in _PIECE.finditer(token):
        for offset in range(match.start(), match.end(), LONGEST_TOKEN):
            piece = token[offset : min(match.end(), offset + LONGEST_TOKEN)]
            if len(piece) > 2 and piece not in read:
                read[piece] = read_token(piece) if may_hold_indicators(piece) else []
            if len(piece) > 2 and read[piece] and times[piece] < MOST_OF_ONE:
                times[piece] += 1
                yield offset, read[piece]


def _spaced_identifiers(text: str) -> Iterator[Sighting]:
    """`CVE 2020-0601`."""
    for word, pattern in _SPACED_CVE:
        for match in pattern.finditer(text) if word in text else ():
            if not text[match.start() - 1 : match.start()].isalnum():
                yield Sighting(Reading("cve", f"CVE-{match[1]}-{match[2]}", 0, len(match[0])), *match.span())


def _spaced_urls(text: str) -> Iterator[Sighting]:
    """`hxxp:// evil.example`."""
    if ":// " not in text and f"{SEPARATOR} " not in text:
        return
    read: dict[tuple[str, str], list[Reading]] = {}
    for match in _SPACED_HEAD.finditer(text):
        head, following = match["head"], match["following"]
        if (head, following) not in read:
            read[head, following] = [each for each in read_token(head + following) if each.start == 0]
        for reading in read[head, following]:
            yield Sighting(reading, match.start(), match.end("head") + 1 + reading.end - len(head))
