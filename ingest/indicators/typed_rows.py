"""Tell by the cell beside a value, in a row of values, what the value is: `domain_name,gale-post.com,C2`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ingest.indicators.late import late
from ingest.indicators.vocabulary import table

_SEPARATORS: Final = ",;\t|"
_REACH: Final = 40
_WIDEST_EDGE: Final = 5
_AROUND: Final = " \"'`*"
_TYPES: Final = table("row_types", "pieces")
_CELL_BEFORE: Final[Mapping[str, re.Pattern[str]]] = MappingProxyType(
    {
        type: late(rf"(?:\A|[\n,;\t|])[ \"'`*]{{0,4}}(?:{said})[ \"'`*]{{0,20}}[,;\t|][ \"'`*]{{0,4}}\Z", re.IGNORECASE)
        for type, said in _TYPES.items()
    }
)
_CELL_AFTER: Final[Mapping[str, re.Pattern[str]]] = MappingProxyType(
    {
        type: late(rf"[ \"'`*]{{0,20}}[,;\t|][ \"'`*]{{0,4}}(?:{said})[ \"'`*]{{0,20}}(?:[,;\t|\n]|\Z)", re.IGNORECASE)
        for type, said in _TYPES.items()
    }
)
_HEADS: Final[Mapping[str, re.Pattern[str]]] = MappingProxyType(
    {type: late(_TYPES[type], re.IGNORECASE) for type in ("domain", "url", "email")}
)
# `- **Package name:** `.
_OTHER_LABEL: Final = late(
    rf"(?:\A|[\n|>(])[ \t*_`#-]{{0,6}}(?:{_TYPES['other']})[ *_`]{{0,4}}[:\uff1a][ \"'`*]{{0,4}}\Z", re.IGNORECASE
)
# `45.9.148.3 (gale-post.com)`
_ADDRESS_BEFORE: Final = late(r"[\s*\u2022-]{0,6}(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?::[0-9]{1,5})?\s{0,3}\(")
_COLONS: Final = (":", "\uff1a")


def is_typed(text: str, type: str, start: int, end: int) -> bool:
    """Tell whether the cell before or behind `text[start:end]` names the type that was read there."""
    return type in _CELL_BEFORE and _is_called(type, text, start, end)


def is_head_of(type: str, head: str) -> bool:
    """Tell whether the head of a column calls what stands in it by that type."""
    return type in _HEADS and bool(head) and _HEADS[type].fullmatch(head) is not None


def is_something_else(text: str, type: str, start: int, end: int) -> bool:
    """Tell whether the cell or label beside `text[start:end]` names what is no host, URL or mailbox, as a file's name,
    or says that the mailbox received something.
    """
    if type == "email" and _is_called("received", text, start, end):
        return True
    if text[max(0, start - _WIDEST_EDGE) : start].rstrip(_AROUND)[-1:] in _COLONS and start:
        return _OTHER_LABEL.search(text, max(0, start - _REACH), start) is not None
    return _is_called("other", text, start, end)


def _is_called(type: str, text: str, start: int, end: int) -> bool:
    edge = text[max(0, start - _WIDEST_EDGE) : start].rstrip(_AROUND)[-1:]
    if edge in _SEPARATORS and edge and _CELL_BEFORE[type].search(text, max(0, start - _REACH), start):
        return True
    edge = text[end : end + _WIDEST_EDGE].lstrip(_AROUND)[:1]
    return edge in _SEPARATORS and edge != "" and _CELL_AFTER[type].match(text, end, end + _REACH) is not None


def stands_with_an_address(text: str, start: int, end: int) -> bool:
    """Tell whether a name stands in brackets behind an address, and both are all of their line."""
    if text[start - 1 : start] != "(" or text[end : end + 2] not in (")", ")\n"):
        return False
    return _ADDRESS_BEFORE.fullmatch(text[max(0, start - _REACH) : start].rpartition("\n")[2]) is not None
