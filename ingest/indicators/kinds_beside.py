"""Find made-up names that stand beside a kind of malware: `the PEBBLEDROP loader`, `**KEELHAUL** (a backdoor)`."""

from __future__ import annotations

import re
from itertools import chain, islice
from typing import Final

from ingest.indicators.late import late
from ingest.indicators.piece_search import Places
from ingest.indicators.vocabulary import table, words, words_pattern
from intel.refanging import places_of

_ROOTS: Final = {language: tuple(roots.split("|")) for language, roots in table("coined", "kinds").items()}
PIECES: Final = tuple(chain.from_iterable(_ROOTS.values()))
# Without which no text is in the language: to look for one letter is what takes least.
_LETTER_OF: Final = table("coined", "letter")
_NO_MALWARE: Final = frozenset(word.lower() for word in words("coined", "not"))
_REACH_BEFORE: Final = 90
_REACH_AFTER: Final = 80
_MOST_LOOKED_AT: Final = 100

# Two capitals with small letters between them, or capitals only.
_MADE_UP: Final = r"(?:[A-Z][a-z0-9]+[A-Z][A-Za-z0-9]{1,24}|[A-Z]{2}[A-Z0-9]*[a-z]+[A-Z]\w{1,20}|[A-Z]{6,20})"
_EDGE: Final = r"(?<![\w@./\\:-])"
_WRITTEN_IN: Final = (
    r"(?:Go|Golang|Rust|Python|Android|Windows|Linux|macOS|iOS|\.NET|Java|C\+\+|banking|remote access|information|info"
    r"|shellcode|in-memory|file|modular|custom|new|proxy|USB)"
)
# `PEBBLEDROP loader`, `SugiLoader Go backdoor`, `BluePeer)" 백도어`.
_NAME_AND_KIND: Final = late(
    rf"{_EDGE}(?P<name>{_MADE_UP})[)\]\"'\u201d\u300d\u300f*_]{{0,4}}[ -]{{0,2}}(?:{_WRITTEN_IN} )?\w{{0,6}}\Z"
)
# `**KEELHAUL** (a backdoor`, `PEBBLEDROP (Go loader`.
_NAME_EXPLAINED: Final = late(
    rf"{_EDGE}(?P<name>{_MADE_UP}|(?<=\*\*)[A-Z]\w{{3,24}})[*_\"\u201d\u300d]{{0,3}} ?[(\uff08]"
    rf"(?:an? |the |une? |eine? |un[ao]? )?(?:[a-z-]{{3,12}} )?(?:{_WRITTEN_IN} )?\w{{0,8}}\Z"
)
# A heading, and what it names in the first sentence below.
_NAME_ABOVE: Final = re.compile(
    rf"(?:\A|\n)[#*=\s]{{0,8}}(?:[0-9.]{{1,5}}[.)]?\s)?(?P<name>{_MADE_UP})[*_:.\u3002]{{0,3}}\s{{1,3}}"
    r"(?:The|An?|This|It|Une?|Der|Die|Das)\b[^\n.]{0,30}\Z"
    rf"|(?:\A|\n)[#*=\s]{{0,8}}(?:[0-9.]{{1,5}}[.)]?\s)?(?P<cjk>{_MADE_UP})[.:\u3002\uff1a][\w+#.]{{0,6}}[\u3040-\u9fff]{{0,6}}\Z"
)
# `マルウェア「SugiLoader」`, `窃密 TideSync`.
_KIND_AND_NAME: Final = late(rf"\w{{0,12}}[ :\u300c\u300e\u201c\u300a]{{1,3}}(?P<name>{_MADE_UP})(?![\w@/\\-]|\.\w)")
# `the Android banker "Primavera"`, `RANSOMWARE PROFILE: "Glasshour"`.
_KIND_AND_QUOTED: Final = late(
    r"(?i:\w{0,12}(?: (?:profile|family|report|analysis|called|named|dubbed|known as))?)[ :]{0,2}"
    r"[\"\u201c\u300c\u00ab](?P<name>[A-Z][A-Za-z0-9]{3,20})[\"\u201d\u300d\u00bb]"
)
# `Il malware, da noi battezzato GrilloParlante`, `un cheval de Troie nommé « Rouget »`.
_KIND_NAMED: Final = late(
    rf"\w{{0,12}}(?:,? (?!(?i:groups?|actors?|gang|operators?|tool)\b)[\w\u2019'-]{{1,12}}){{0,2}},? "
    rf"(?i:{words_pattern('malware', 'naming')})"
    r" ?[\"\u201c\u201e\u00ab'`*_\u2018 ]{0,3}(?P<name>[A-Z][A-Za-z0-9]{3,31})(?![\w@/\\-]|\.\w)"
)
# `\u00ab Rouget \u00bb, un cheval de Troie`.
_QUOTED_EXPLAINED: Final = late(
    r"[\"\u201c\u201e\u00ab] ?(?P<name>[A-Z][A-Za-z0-9]{3,20}) ?[\"\u201d\u201c\u00bb]"
    r",? (?:an?|une?|eine?|un[ao]?|um|uma|et|en|een)"
    r" (?:[\w-]{1,14} ){0,2}\w{0,6}\Z"
)
# `DRYWELL ransomware`: in capitals, where the kind is not.
_LOUD: Final = late(r"(?P<name>[A-Z]{7,20}) \w?\Z")
_OWN_KIND: Final = late(
    r"(?i:load|loader|rat|stealer|bot|shell|door|drop|dropper|locker|wiper|crypt|cryptor|miner|worm|spy|ransom|keylogger)\Z"
)
# A small letter before a capital, six capitals, a quote: what is looked for first, for it is seldom there.
_MAY_HOLD_A_NAME: Final = late(
    r"[A-Z\"\u201c\u300c\u00ab](?:(?<=[a-z0-9][A-Z])|(?<=[\"\u201c\u300c\u00ab])(?=[A-Z])|(?=[A-Z]{5}|[A-Z][a-z]+[A-Z])|(?<=\*\*[A-Z]))"
)
_REACH_OF_A_NAME: Final = 40
_LONGEST_BEFORE_A_HEADING: Final = 16  # `\n## 1.2) `
_ENOUGH: Final = 2


def names_beside_kinds(text: str, places: Places, most: int) -> list[str]:
    """Return the made-up names of malware beside at most `most` mentions of its kinds, in order.

    `places`: where the `PIECES` stand.
    """
    languages = ["en"] if text.isascii() else [each for each in _ROOTS if _LETTER_OF.get(each, "") in text]
    roots = [root for each in languages for root in _ROOTS[each]]
    kinds = sorted([(place, len(root)) for root in roots for place in places.get(root, ())[:most]])
    counts: dict[str, int] = {}
    for place, size in islice(kinds, most):
        name, points = _name_beside(text, place, place + size)
        if points:
            counts[name] = counts.get(name, 1 if _OWN_KIND.search(name) else 0) + points
    return [name for name, points in counts.items() if points >= _ENOUGH]


def _name_beside(text: str, start: int, end: int) -> tuple[str, int]:
    """Return the name beside a kind, and how much that says for it."""
    first = max(0, start - _REACH_BEFORE)
    name_before = _MAY_HOLD_A_NAME.search(text, first, start)
    if name_before is None and _MAY_HOLD_A_NAME.search(text, end, end + _REACH_OF_A_NAME) is None:
        return "", 0
    before, after = text[first:start] if name_before else "", text[end : end + _REACH_AFTER]
    begun = _begin_of_the_word(before, name_before.start() - first) if name_before else 0
    is_explained = "(" in before or "\uff08" in before
    sure = _KIND_AND_QUOTED.match(after) or (is_explained and _NAME_EXPLAINED.search(before, begun))
    sure = sure or _NAME_ABOVE.search(before, max(0, begun - _LONGEST_BEFORE_A_HEADING)) or _KIND_NAMED.match(after)
    sure = sure or _QUOTED_EXPLAINED.search(before) or (before[-1:].islower() and _LOUD.search(before, begun))
    found = sure or _NAME_AND_KIND.search(before, begun) or _KIND_AND_NAME.match(after)
    name = (found["name"] or found["cjk"]) if found and found.re is _NAME_ABOVE else found["name"] if found else ""
    return ("", 0) if name.lower() in _NO_MALWARE or not name else (name, _ENOUGH if sure else 1)


def _begin_of_the_word(text: str, position: int) -> int:
    while position and (text[position - 1].isalnum() or text[position - 1] == "_"):
        position -= 1
    return position


def is_written_otherwise(text: str, name: str) -> bool:
    """Tell whether a name stands in small letters too, as a word of a sentence: then it is one."""
    for place in islice(places_of(text, name.lower()), _MOST_LOOKED_AT):
        before, after = text[max(0, place - 1) : place], text[place + len(name) : place + len(name) + 1]
        if (not before or before in " \n(\"'") and (not after or after in " \n,.;:)\"'"):
            return True
    return False
