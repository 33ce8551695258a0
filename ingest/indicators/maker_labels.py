"""Find the names that stand as labels of a scanner, in a tracker's line of aliases, or as title and detection rule."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from itertools import chain
from typing import Final

from ingest.indicators.late import late
from ingest.indicators.piece_search import Places
from ingest.indicators.plain_words import is_plain_word
from ingest.indicators.vocabulary import table
from intel.names import malware_names, spelling_key

_PLATFORMS: Final = table("maker", "platforms")["any"]
_GENERIC: Final = late(table("maker", "generic")["any"])
# Of their labels those families are read that a list has.
_READ_ELSEWHERE: Final = tuple(table("maker", "scanner")["pieces"].split("|"))
_ALIASES: Final = ("# Aliases:", "# Alias:")
_RULES: Final = "rule "
PIECES: Final = (*(f"{platform}." for platform in _PLATFORMS.split("|")), *_ALIASES, _RULES)
_LABEL: Final = late(
    rf"(?<![\w./\\:-])(?:{_PLATFORMS})\.(?:[A-Z][A-Za-z]{{2,16}}\.)?(?P<family>[A-Z][A-Za-z0-9]{{3,20}})"
    r"(?:\.[0-9]{1,6}(?:\.origin)?)?(?![\w./\\:-]*\w)"
)
_HEADING: Final = late(r"[#=* \t]{0,8}")
_ENDS_A_HEADING: Final = late(r"[*=: \t]{0,6}(?:\n|\Z)")
_BEFORE: Final = late(rf"(?i:{'|'.join(table('maker', 'before').values())})[\s\"'«“`*:]{{1,3}}\Z")
_AFTER: Final = late(rf"[\"'»”`*]{{0,2}} ?(?:{'|'.join(table('maker', 'after').values())})")
_NOT: Final = late(rf"(?i:{'|'.join(table('maker', 'not').values())})\Z")
_VARIANT: Final = late(r"\.[0-9]{1,6}(?:\.origin)?\Z")
_ALIAS: Final = re.compile(r"[A-Za-z][\w -]{2,24}")
_BETWEEN: Final = late(r"\s*[,;|/]\s*")
# `# Reedpipe (aka Thin Pipe)` above `rule Reedpipe {`.
_TITLE: Final = late(
    r"\s{0,4}#{1,2} [*_`]{0,2}(?P<name>[A-Z][A-Za-z0-9]{3,23})[*_`]{0,2}(?=\s*(?:\n|\(|:|[\u2013\u2014-] ))"
)
_REACH: Final = 60
_MOST: Final = 200


def names_labelled(text: str, places: Places) -> Iterator[str]:
    """Yield the labels that stand as names of what a text is about, and the names in a tracker's line of aliases.

    `places`: where the `PIECES` stand.
    """
    starts = chain.from_iterable(places.get(piece, ())[:_MOST] for piece in PIECES if piece not in _ALIASES)
    for start in sorted(starts):
        label = _LABEL.match(text, start)
        if label and not _GENERIC.fullmatch(label["family"]) and _is_named(text, start, label.end()):
            key, names = spelling_key(label["family"]), malware_names()
            if key not in names.families or key in names.ordinary or not label[0].startswith(_READ_ELSEWHERE):
                yield label[0]
    for piece in _ALIASES:
        for start in places.get(piece, ())[:_MOST]:
            if start == 0 or text[start - 1] == "\n":
                line = text[start + len(piece) :].partition("\n")[0]
                yield from filter(_ALIAS.fullmatch, _BETWEEN.split(line.strip()))


def names_of_titles(text: str, places: Places) -> Iterator[str]:
    """Yield the name that begins the title of a text, if a detection rule below has it as its own."""
    title = _TITLE.match(text)
    if title is None or is_plain_word(title["name"]):
        return
    rule = re.compile(rf"rule[ \t]{{1,3}}{title['name']}\s{{0,3}}[:{{]")
    if any(rule.match(text, place) for place in places.get(_RULES, ())[:_MOST]):
        yield title["name"]


def families_of(names: Collection[str]) -> dict[str, str]:
    """Return the family by each label that is one of several variants: `Trojan.Orlop` by `Trojan.Orlop.1`."""
    times = Counter(map(without_variant, names))
    return {name: stem for name in names if times[stem := without_variant(name)] > 1 and stem != name}


def without_variant(label: str) -> str:
    """Return a label without the number that a scanner gives a variant."""
    return _VARIANT.sub("", label)


def _is_named(text: str, start: int, end: int) -> bool:
    first = text.rfind("\n", max(0, start - _REACH), start) + 1 or max(0, start - _REACH)
    if _HEADING.fullmatch(text, first, start) and _ENDS_A_HEADING.match(text, end):
        return True
    if _NOT.search(text, first, start):
        return False
    return _BEFORE.search(text, first, start) is not None or _AFTER.match(text, end) is not None
