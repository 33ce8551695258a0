"""Find the names that a text itself gives to malware and no list has: `a backdoor that we call QuietHarbor`."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from itertools import chain, islice
from typing import Final

from ingest.indicators import kinds_beside, maker_labels, own_names, placed_names, plain_names, unlisted_names
from ingest.indicators.kinds_beside import is_written_otherwise, names_beside_kinds
from ingest.indicators.late import late
from ingest.indicators.malware import JudgedMalware, MalwareSighting
from ingest.indicators.own_names import names_given
from ingest.indicators.piece_search import Places
from ingest.indicators.placed_names import names_placed
from ingest.indicators.verdict import Verdict
from intel.names import malware_name, malware_names, spelling_key
from intel.refanging import places_of

MOST_COINED: Final = 60
MOST_ASKED: Final = 120
MOST_WEIGHED: Final = 2000
MOST_BESIDE: Final = 2000
MOST_PLACES: Final = 1000

_KINDS: Final = (
    r"(?:ransomware|malware|trojan|(?:info-?|information )?stealer|(?:down|shellcode )?loader|backdoor|botnet|rat|worm"
    r"|banker|implant|stalkerware|downloader|dropper|rootkit|bootkit|wiper|spyware|keylogger|cryptominer|miner"
    r"|web ?shell|locker|encryptor)"
)
_KIND: Final = late(rf"\b(?:{_KINDS}s?|famil(?:y|ies))\b", re.IGNORECASE)
# Those who attack, what they do and what they use are given names as well, and so are the parts of a program.
_OTHERS: Final = (
    r"groups?|actors?|clusters?|gangs?|crews?|operations?|campaigns?|operators?|developers?|sellers?"
    r"|vulnerabilit(?:y|ies)|flaws?|bugs?|techniques?|methods?"
)
_PARTS: Final = (
    r"tasks?|services?|files?|folders?|director(?:y|ies)|mutex(?:es)?|functions?|class(?:es)?|commands?|parameters?"
    r"|process(?:es)?|keys?|values?|domains?|hosts?|servers?|accounts?|users?|tools?|utilit(?:y|ies)|scripts?|threads?"
    r"|pipes?|library|libraries|dlls?|drivers?|modules?|plugins?|forums?|channels?|victims?|compan(?:y|ies)|vendors?"
    r"|apps?|applications?|exports?|resources?|sections?|variables?|strings?|protocols?"
)
_OTHER: Final = late(rf"\b(?:{_OTHERS})\b", re.IGNORECASE)
# `the group behind the malware, which we call ...`.
_OTHERS_WITH: Final = late(
    rf"\b(?:{_OTHERS})\b[^.,;]{{0,20}}? (?:behind|using|us(?:es|ed)|deploy(?:s|ing)|operat(?:es|ing)|of|with)"
    r" (?:the |this |an? )?\Z",
    re.IGNORECASE,
)
# Each (`called` with `call`) is looked for by itself: a plain search is what runs fastest.
_NAMING: Final = (" call", "named ", " dubbed ", " refer to ", " known as ")
_WORD: Final = r"[A-Z][A-Za-z0-9]{3,31}"
# Right after the verb: what is named, if that does not come before it, and the name in whatever sets it off.
_GIVEN: Final = late(
    rf"(?:(?:ed)? )?(?P<it>it |(?:this|the)(?: new| novel)? (?:{_KINDS}|variant|family|threat) )?"
    r"(?:by (?:\w{1,20}+ ){1,3}?as |as )?"
    rf"[\"'`*_\[\u201c\u2018]{{0,3}}(?P<name>{_WORD})(?![\w@/\\-]|\.\w)"
)
# Right before the verb: the kind, and what may part them.
_KIND_BEFORE: Final = late(
    rf"\b{_KINDS}(?: famil(?:y|ies)| variant| strain)?s?"
    rf"(?:,? (?!(?:{_OTHERS}|{_PARTS})\b)[\w'\u2019-]{{1,24}}+){{0,6}},?\Z",
    re.IGNORECASE,
)
_WE: Final = late(r"(?i)\b(?:we|our|researchers?|analysts?|colleagues?|team|i|have|has)\b[^.!?\n]{0,40}\Z")
# `QuietHarbor is a modular backdoor`.
_EXPLAINED: Final = (" is a", " is stalkerware", " is spyware", " is malware", " is ransomware")
# What must have been looked for in a text before anything here is asked of it.
PIECES: Final = (
    *_NAMING,
    *_EXPLAINED,
    *own_names.PIECES,
    *kinds_beside.PIECES,
    *placed_names.PIECES,
    *maker_labels.PIECES,
    *plain_names.PIECES,
    *unlisted_names.PIECES,
)
_NAME_AT_END: Final = late(rf"(?<![^\s*_`])({_WORD})[*_`]{{0,2}}\Z")
_IS_A_KIND: Final = late(
    rf" is (?:an? )?(?:[\w.+#/-]{{1,20}},? ){{0,4}}?{_KINDS}\b"
    r"(?!-|\s(?:analyst|research|repositor|scanner|sample|analysis|detection))",
    re.IGNORECASE,
)
_OWN_KIND: Final = late(r"(?:Bot|RAT|Rat|Loader|Stealer|Locker|Wiper|Door|Dropper|Ransom|Crypt|Spy|Miner|Worm|Shell)\Z")
_TWO_CAPITALS: Final = late(r"[a-z0-9][A-Z]")
_SHORTEST_IN_CAPITALS: Final = 6
_REACH: Final = 160
_REACH_OF_IT: Final = 400
_REACH_AHEAD: Final = 120

_SHORTEST_MISSPELLED: Final = 8
_NEARLY: Final = 0.93
_COINED: Final = Verdict(True, "name that the text gives to malware", 3)
_FURNITURE: Final = Verdict(False, "boilerplate", 0)


def _is_misspelled(name: str, known: set[str]) -> bool:
    """Tell whether a name is nearly one that the text writes as well: `SquirrelWafle`."""
    alike = [each for each in known if each[:3] == name[:3].lower()]
    return len(name) >= _SHORTEST_MISSPELLED and bool(get_close_matches(name.lower(), alike, 1, _NEARLY))


def with_coined(
    text: str, places: Places, judged: list[JudgedMalware], is_furniture: Callable[[int], bool]
) -> list[JudgedMalware]:
    """Return `judged` and the names beside it that the text gives to malware, in order; linear in its length.

    `places`: where the `PIECES` stand.
    """
    known = {sighting.name.lower() for sighting, verdict in judged[:MOST_WEIGHED] if verdict.kept}
    coined = coined_names(text, places)
    families = maker_labels.families_of(coined)
    known.update(family.lower() for family in families.values())
    names = {
        name: verdict
        for name, verdict in coined.items()
        if name.lower() in known or name in families or not _is_misspelled(maker_labels.without_variant(name), known)
    }
    if not names:
        return judged
    starts = [sighting.start for sighting, _ in judged]
    found: list[JudgedMalware] = []
    for name, verdict in names.items():
        listed = families.get(name) or malware_names().families.get(spelling_key(name), name)
        for start, end in _places_of_name(text, name):
            index = bisect_right(starts, start) - 1
            if index < 0 or judged[index][0].end <= start or not judged[index][1].kept:
                found.append((MalwareSighting(listed, start, end), _FURNITURE if is_furniture(start) else verdict))
    return sorted([*judged, *found], key=lambda each: each[0].start)


def coined_names(text: str, places: Places) -> dict[str, Verdict]:
    """Return the names that a text gives to malware and that no list has, or only as everyday words; at most 60."""
    found = [name for name in dict.fromkeys(islice(names_given(text, places), MOST_COINED)) if _is_given(text, name)]
    labels = chain(names_placed(text, places), maker_labels.names_labelled(text, places))
    placed = chain(((name, 1) for name in labels), plain_names.plain_names(text, places))
    standing = islice(dict.fromkeys(islice(placed, MOST_WEIGHED)), MOST_ASKED)
    found += [name for name, times in standing if _is_placed(text, name, times)][:MOST_COINED]
    weighed = unlisted_names.unlisted_names(text, places)
    found += [name for name in weighed if not is_written_otherwise(text, name)][:MOST_COINED]
    asked = set(found)
    told = islice(_names_given(text, places), MOST_WEIGHED)
    for name in chain(told, names_beside_kinds(text, places, MOST_BESIDE)):
        if name and name not in asked:
            asked.add(name)
            if malware_name(name) is None and _looks_coined(text, name):
                found.append(name)
            if len(asked) == MOST_ASKED:  # each may cost a look at the whole text
                break
    named = islice(dict.fromkeys(found), MOST_COINED)
    return {name: Verdict(*_COINED[:3], tuple(weighed.get(name, ()))) for name in named}


def _is_given(text: str, name: str) -> bool:
    """Tell whether no list has a name that the authors say they give, and the text never writes it as a word."""
    return malware_name(name) is None and not is_written_otherwise(text, name)


def _is_placed(text: str, name: str, times: int) -> bool:
    """Tell whether what stands where names of malware do is one: at least so many times, and no small word."""
    if times > 1 and text.count(name) < times:
        return False
    return (
        name == name.lower() or spelling_key(name) in malware_names().families or not is_written_otherwise(text, name)
    )


def _names_given(text: str, places: Places) -> Iterator[str]:
    """Yield the name in each place that may give one, or nothing."""
    for verb in _NAMING:
        for place in places.get(verb, ()):
            if given := _GIVEN.match(text, place + len(verb), place + _REACH_AHEAD):
                yield _name_given(text, place, given)
    for place in chain.from_iterable(places.get(said, ()) for said in _EXPLAINED):
        if named := _NAME_AT_END.search(text[max(0, place - 40) : place]):
            yield _name_explained(text, place, named[1])


def _is_of_a_word(letter: str) -> bool:
    """Tell whether a letter is one of those that blanks part from names."""
    return letter.isalnum() and letter < "\u3000"


def _places_of_name(text: str, name: str) -> Iterator[tuple[int, int]]:
    """Yield where a name stands as a word of its own, and in no path or host, at most 1,000 times."""
    count = 0
    for start in places_of(text, name):
        end = start + len(name)
        if not name.isascii() and not name[0].isupper():
            yield start, end  # scripts without blanks
            continue
        before, after, beyond = text[start - 1 : start], text[end : end + 1], text[end + 1 : end + 2]
        if _is_of_a_word(before) or _is_of_a_word(after) or (before and before in "./\\@_-"):
            continue
        if (after and after in "@/\\_") or (after in ("-", ".") and beyond.isalnum()):
            continue
        yield start, end
        count += 1
        if count == MOST_PLACES:
            break


def _name_given(text: str, start: int, given: re.Match[str]) -> str:
    """Return the name that the verb at `start` gives, if it is given to malware."""
    before = text[max(0, start - _REACH) : start].rpartition("\n")[2].rstrip()
    if kind := _KIND_BEFORE.search(before):
        return "" if _OTHERS_WITH.search(before, 0, kind.start()) else given["name"]
    if given["it"] is None or not _WE.search(before):
        return ""
    told = given["it"] != "it " or _OWN_KIND.search(given["name"])
    return given["name"] if told or _speaks_of_malware(text[max(0, start - _REACH_OF_IT) : start]) else ""


def _speaks_of_malware(before: str) -> bool:
    """Tell whether the last thing that the words before mention, of all that gets names, is malware."""
    kinds = list(_KIND.finditer(before))
    return bool(kinds) and _OTHER.search(before, kinds[-1].end()) is None


def _name_explained(text: str, place: int, name: str) -> str:
    """Return the name before `is a`, if a kind of malware follows and the name looks like no other."""
    return name if _is_made_up(name) and _IS_A_KIND.match(text, place, place + _REACH_AHEAD) else ""


def _is_made_up(name: str) -> bool:
    return _TWO_CAPITALS.search(name) is not None or (name.isupper() and len(name) >= _SHORTEST_IN_CAPITALS)


def _looks_coined(text: str, name: str) -> bool:
    """Tell whether a word is made up, or comes again and is never written in lower case."""
    if is_written_otherwise(text, name):
        return False
    if _is_made_up(name):
        return True
    return not name.isupper() and text.count(name) > 1
