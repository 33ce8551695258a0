"""Tell where a name of malware is no find: that of a group among groups, or of what was looked for and not found."""

from __future__ import annotations

from bisect import bisect_left
from functools import cache
from itertools import chain
from typing import Final

from ingest.indicators.late import late
from ingest.indicators.piece_search import PieceSearch
from ingest.indicators.required_pieces import required_pieces
from ingest.indicators.vocabulary import pieces
from intel.names import malware_names, spelling_key

_LAST: Final = rf"(?:{pieces('malware', 'series_ends')})"
_JOINT: Final = (
    rf"(?:,(?: {_LAST})? ?| {_LAST} |{pieces('malware', 'series_signs')}| (?={pieces('malware', 'series_signs')}))"
)
_ITEM: Final = (
    r"[*_`\"'\u201c\u00ab]{0,2}(?P<name>[A-Z][\w-]{2,23}(?: [A-Z0-9][\w-]{1,16}){0,2})[*_`\"'\u201d\u00bb]{0,2}"
    r"(?: ?[(\uff08][^()\uff08\uff09\n]{1,40}[)\uff09])?"
)
_BEFORE: Final = late(rf"(?a:(?<![\w@./#-])){_ITEM} ?{_JOINT} ?[*_`\"'\u201c\u00ab]{{0,2}}\Z")
_BEHIND: Final = late(
    rf"[*_`\"'\u201d\u00bb]{{0,2}}(?: ?[(\uff08][^()\uff08\uff09\n]{{1,40}}[)\uff09])? ?{_JOINT} ?{_ITEM}"
)
_JOINED: Final = late(rf"{_JOINT} ?[*_`\"'\u201c\u00ab]{{0,2}}\Z")
_LONGEST_JOINT: Final = 12
# `APT28`, `UNC2452`, `Storm-0506`: who is known by a number.
_NUMBERED: Final = late(r"(?:APT|UNC|TA|FIN|UAC|TAG|DEV|CL-STA|Storm|TEMP)[-_ ]?(?:[A-Z]-?)?[0-9]{1,5}")
_OF_GROUPS: Final = late(
    rf"(?i)(?:{pieces('malware', 'leads_in_groups')})[^.!?\n:]{{0,24}}[ :\uff1a\uff08(,\uff0c]{{0,2}}"
    r"[*_`\"'\u201c\u00ab]{0,2}\Z"
)
_NOT_FOUND: Final = late(
    rf"(?:(?:\A|[\n*\u2022>:;.]|(?:\n|\A)[ \t]*-|, (?!no\b)) ?(?:{pieces('malware', 'not_found')})"
    rf"|\b(?:{pieces('malware', 'not_found_amid')}))(?:\s{{1,2}}|(?<=['\u2019]))"
    rf"(?:[\w.+-]{{2,24}}(?: [A-Z][\w.+-]{{1,20}})?(?:, nor? | (?:n[io]r?|noch) |{_JOINT})){{0,12}}"
    r"[*_`\"'\u201c\u00ab]{0,2}\Z"
)
# Portuguese `no LockBit`: in it.
_IN_IT: Final = late(r"[^\n]{0,40}\b(?:o|a|os|as|que|um|uma|é|foi|do|da|dos|não|se)\b")
# Of a group and its tools alike.
_OF_ALIASES: Final = late(r"(?i)\baliases?\b")
_LONGEST_LINE: Final = 400
_MOST_ITEMS: Final = 12
_FEWEST_ACTORS: Final = 2
_REACH: Final = 80
_REACH_OF_A_DENIAL: Final = 160


@cache
def _denials() -> PieceSearch:
    """Return the search for pieces of which one stands in every denial."""
    tables = ("not_found", "not_found_amid")
    return PieceSearch(chain.from_iterable(required_pieces(pieces("malware", each)) for each in tables))


def is_among_groups(text: str, start: int, end: int) -> bool:
    """Tell whether a name stands in a row of threat groups: `APT28, APT40, Konni and Sandworm`."""
    first = start
    names: list[str] = []
    while (
        len(names) < _MOST_ITEMS
        and _JOINED.search(text, max(0, first - _LONGEST_JOINT), first)
        and (found := _BEFORE.search(text, max(0, first - _REACH), first))
    ):
        names.append(found["name"])
        first = found.start()
    while len(names) < _MOST_ITEMS and (found := _BEHIND.match(text, end, end + _REACH)):
        names.append(found["name"])
        end = found.end()
    if not names or _OF_ALIASES.search(text, text.rfind("\n", max(0, start - _LONGEST_LINE), start) + 1, start):
        return False
    lists = malware_names()
    groups = sum(1 for name in names if _NUMBERED.fullmatch(name) or spelling_key(name) in lists.actors)
    families = sum(1 for name in names if spelling_key(name) in lists.families)
    if groups and _OF_GROUPS.search(text, max(0, first - _REACH), first):
        return groups >= families
    return groups > families and groups >= _FEWEST_ACTORS


class Denials:
    """The places of one text where it may say that something was not found."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._places = sorted(chain.from_iterable(_denials().places(text).values()))

    def reach(self, start: int, end: int) -> bool:
        """Tell whether an item or sentence begins by saying that there was none of a name: `- No Emotet, Rubeus`."""
        first = max(0, start - _REACH_OF_A_DENIAL)
        index = bisect_left(self._places, first)
        if index == len(self._places) or self._places[index] >= start:
            return False
        found = _NOT_FOUND.search(self._text, first, start)
        if found is None:
            return False
        return not (" no " in f" {found[0].strip(' *-:.>;').lower()} " and _IN_IT.match(self._text, end))
