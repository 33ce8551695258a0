"""Reading what was pasted for a bulk lookup: a list, columns of a table or free text, answered line by line."""

from __future__ import annotations

import ipaddress
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate
from typing import Final

from ingest.indicators import document_from_text, extract
from intel.canonical import LONGEST_NAME, readings, refang

Readings = tuple[tuple[str, str], ...]
# What a piece may mean, each piece read once for one pasted text.
Read = Callable[[str], Readings]

_SEPARATORS: Final = re.compile(r"[,;\t|]")
# Most values: none of these characters parts an address from the length of its network.
_NO_NETWORK: Final = re.compile(r"[A-Za-z0-9_.:@-]*+")
_QUOTES: Final = " \t\"'"
# Everyday words and numbers of a table's other columns are not asked for as names.
_LIKE_A_NAME: Final = re.compile(r"[^\W\d_].*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Pasted:
    """One answer to give: the line (from 1), what stands there, and every (type, value) that it may mean.

    `network` is set where it is a network instead; `same_as` is the earlier line that says the same. All three are
    empty for a line that holds no indicator.
    """

    line: int
    written: str
    readings: Readings = ()
    network: str = ""
    same_as: int = 0

    @property
    def is_one(self) -> bool:
        return bool(self.readings or self.network)


def reader() -> Read:
    """Return what reads the pieces of one pasted text, and keeps what each of them means."""
    return cache(readings)


def read(text: str, coined: Mapping[str, Readings] | None = None, meaning: Read = readings) -> tuple[Pasted, ...]:
    """Return the answers to give, in the order of the lines; `coined` are names that only stored articles know.

    A line is one value, columns or values apart by comma, semicolon, tab or bar, or free text whose indicators are
    picked out; blank lines count and are left out.
    """
    lines = text.splitlines()
    found = {number: _in_columns(line, coined or {}, meaning) for number, line in enumerate(lines, 1) if line.strip()}
    prose = {number: lines[number - 1] for number, each in found.items() if not _is_whole(each)}
    for number, each in _in_prose(prose).items():
        known = {reading for one in found[number] for reading in one.readings}
        fresh = [one for one in each if known.isdisjoint(one.readings)]
        found[number] = [one for one in found[number] if one.is_one] + fresh or found[number][:1]
    return tuple(_told_once(one for number in found for one in _line_of(number, lines[number - 1], found[number])))


def names_in(text: str, most: int, meaning: Read = readings) -> list[str]:
    """Return pieces of a pasted text that may be names of malware: each once, at most so many."""
    pieces = (piece for line in text.splitlines() for piece in _pieces(line))
    may_be = (piece for piece in pieces if len(piece) <= LONGEST_NAME and _LIKE_A_NAME.fullmatch(piece))
    return [piece for piece in dict.fromkeys(may_be) if not meaning(piece)][:most]


def _in_columns(line: str, coined: Mapping[str, Readings], meaning: Read) -> list[Pasted]:
    whole = _value(line.strip(_QUOTES), coined, meaning)
    return [whole] if whole.is_one else [_value(piece, coined, meaning) for piece in _pieces(line)]


def _pieces(line: str) -> list[str]:
    return [piece for piece in (raw.strip(_QUOTES) for raw in _SEPARATORS.split(line)) if piece]


def _value(written: str, coined: Mapping[str, Readings], meaning: Read) -> Pasted:
    network = _network(written)
    return Pasted(0, written, () if network else meaning(written) or coined.get(written, ()), network)


def _network(written: str) -> str:
    if _NO_NETWORK.fullmatch(written):
        return ""
    address, slash, bits = refang(written).partition("/")
    if not (slash and bits.isascii() and bits.isdigit()):
        return ""
    try:
        return str(ipaddress.ip_network(f"{address}/{bits}", strict=False))
    except ValueError:
        return ""


def _is_whole(found: Sequence[Pasted]) -> bool:
    return bool(found) and all(one.is_one for one in found)


def _in_prose(lines: Mapping[int, str]) -> dict[int, list[Pasted]]:
    """Return the indicators of lines of free text, read together, for each is told by those around it."""
    numbers = list(lines)
    ends = list(accumulate(len(line) + 1 for line in lines.values()))
    text = "\n".join(lines.values())
    found: dict[int, list[Pasted]] = defaultdict(list)
    for candidate in extract(document_from_text(text)).candidates():
        if candidate.kept:
            number = numbers[bisect_right(ends, candidate.start)]
            written = text[candidate.start : candidate.end]
            found[number].append(Pasted(number, written, ((candidate.type, candidate.value),)))
    return found


def _line_of(number: int, line: str, found: Sequence[Pasted]) -> Iterator[Pasted]:
    known = [one for one in found if one.is_one]
    if not known:
        yield Pasted(number, line.strip())
    for one in known:
        yield Pasted(number, one.written, one.readings, one.network)


def _told_once(found: Iterator[Pasted]) -> Iterator[Pasted]:
    """Yield each answer; what an earlier line says points there, and what its own line said before is left out."""
    first: dict[tuple[Readings, str], int] = {}
    for one in found:
        said = (one.readings, one.network)
        earlier = first.get(said) if one.is_one else None
        first.setdefault(said, one.line)
        if earlier is None:
            yield one
        elif earlier != one.line:
            yield replace(one, same_as=earlier)
