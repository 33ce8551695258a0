"""Find names of malware of the lists that signs join to other words: `Win32/Spy.Emotet.AB`, `rule Win_Emotet_1 {`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Final

from ingest.indicators.late import late
from ingest.indicators.malware import MalwareSighting, is_sure
from ingest.indicators.piece_search import Places, start_of_word
from ingest.indicators.vocabulary import table
from intel.names import malware_names, spelling_key

_SCANNERS: Final = tuple(table("maker", "scanner")["pieces"].split("|"))
_RULES: Final = tuple(table("maker", "rule")["pieces"].split("|"))
_FIELDS: Final = ('":"', '": "', '","', '="')
# What must have been looked for in a text before anything here is asked of it.
PIECES: Final = (*_SCANNERS, *_RULES, *_FIELDS)

_LABEL: Final = late(
    r"(?<![\w@/\\.-])(?:[A-Za-z]{2,16}:)?[A-Za-z][\w-]{1,24}(?:[./:!][A-Za-z][\w-]{0,30}){1,6}(?:\.[0-9]{1,6}(?:\.origin)?)?(?!/|\.\w)"
)
_RULE: Final = late(rf"\b(?:{'|'.join(_RULES)})[ \t]{{0,3}}(?P<id>[A-Za-z]\w{{3,80}})[^\n{{]{{0,60}}\s{{0,4}}\{{")
_FIELD: Final = late(r'(?P<name>[A-Z][\w+-]{2,24}(?: [\w+-]{1,16}){0,3})"(?=[,}\])\s;|]|\Z)')
_GENERIC: Final = late(table("maker", "generic")["any"])
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9]+")
_SHORTEST: Final = 4
_MOST: Final = 300


def names_glued(text: str, places: Places) -> Iterator[MalwareSighting]:
    """Yield the names in scanners' labels, names of detection rules and quoted fields, each where it stands."""
    for piece in _SCANNERS:
        for place in places.get(piece, ())[:_MOST]:
            if label := _LABEL.match(text, start_of_word(text, place)):
                yield from _names_of_parts(text, label.start(), label.end())
    for place in chain.from_iterable(places.get(piece, ())[:_MOST] for piece in _RULES):
        if rule := _RULE.match(text, place):
            yield from _names_of_parts(text, *rule.span("id"))
    for piece in _FIELDS:
        for place in places.get(piece, ())[:_MOST]:
            field = _FIELD.match(text, place + len(piece))
            if field and (name := malware_names().families.get(spelling_key(field["name"]))) and is_sure(field["name"]):
                yield MalwareSighting(name, *field.span("name"))


def _names_of_parts(text: str, start: int, end: int) -> Iterator[MalwareSighting]:
    """Yield the parts of a label or identifier that are names wherever they stand."""
    names = malware_names()
    for part in _WORD.finditer(text, start, end):
        key = spelling_key(part[0])
        is_named = len(key) >= _SHORTEST and key in names.families and key not in names.ordinary
        if is_named and not _GENERIC.fullmatch(part[0]):
            yield MalwareSighting(names.families[key], *part.span())
