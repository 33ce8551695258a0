"""Tell by the nearest noun before it whether what has the form of a file's hash is the hash of a sample."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from ingest.indicators.late import late
from ingest.indicators.tables import head_of_column
from ingest.indicators.vocabulary import pieces
from intel.refanging import MARKS

# No part of a path: `C:\\Users\\lab\\Downloads\\…`.
_NOUNS: Final = late(
    rf"(?<![\\/])(?:(?P<no>{pieces('hash_nouns', 'no_sample')})|(?P<published>{pieces('hash_nouns', 'published')}))"
    f"|(?P<sample>{pieces('hash_nouns', 'sample')})"
)
_ACCUSING: Final = late(f"[{MARKS}]|hxxp|{pieces('accusing')}")
_END_OF_A_SENTENCE: Final = late(r"(?<!\.)[.!?](?=\s)|[\u3002\uff01\uff1f\n]")
# `; MD5: `, `, SHA-256 of the file `: a field of its own.
_LAST_FIELD: Final = late(
    r"[;,\uff0c\uff1b](?P<field>[^;,\uff0c\uff1b]{0,60}(?:md5|sha-?(?:1|256))[^;,\uff0c\uff1b]*)\Z"
)
_LAST_HASH: Final = late(r".*(?<![0-9a-f])[0-9a-f]{32,64}(?![0-9a-f])", re.DOTALL)
_ASIDE: Final = late(r"\([^()]*\)|[\"“][^\"”]*[\"”]")
_COMPARED: Final = late(
    rf"(?:{pieces('hash_nouns', 'compared')}).*[:\uff1a]\Z"
    rf"|\W{{0,6}}(?:{pieces('hash_nouns', 'compared_titles')})[^:]{{0,40}}\Z"
)
_BEGINS_WITH_A_HASH: Final = late(r"[`*]{0,2}[0-9a-f]{32}")
_ARCHIVE_BEHIND: Final = late(
    rf"[`*]{{0,2}}[ \t|*]{{1,8}}[^\s{MARKS}]{{1,160}}"
    r"\.(?:tar\.\w{2,4}|t[gbx]z|zip|msi|dmg|pkg|deb|rpm|iso|img|whl|exe|jar|bin)(?![\w.])"
)
_REACH_OF_A_LIST: Final = 1_500
_WORDS: Final = late(r"[^\W\d_]{4}")
_SHORTEST_SENTENCE: Final = 3  # words
_SHORTEST_WITHOUT_BLANKS: Final = 8
_REACH: Final = 200
_REACH_OF_HARM: Final = 300


def is_of_no_sample(text: str, start: int, end: int) -> bool:
    """Tell whether the nearest noun in the sentence before a value, or the head of its column, is of no sample."""
    said = _said_before(text[max(0, start - _REACH) : start].lower())
    nouns = _nouns_in(said)
    if not nouns:
        return _nouns_in(head_of_column(text, start).lower())[-1:] == ("no",)
    if nouns[-1] == "no":
        return True
    is_published = set(nouns) == {"published"} and (
        len(said.split()) > _SHORTEST_SENTENCE or (not said.isascii() and len(said) > _SHORTEST_WITHOUT_BLANKS)
    )
    around = text[max(0, start - _REACH_OF_HARM) : end + _REACH_OF_HARM]
    return is_published and _ACCUSING.search(around.lower()) is None


def is_among_releases(text: str, start: int, end: int) -> bool:
    """Tell whether a hash begins a row with the name of an archive, in a list that is introduced as checksums of what
    a maker publishes.
    """
    if _ARCHIVE_BEHIND.match(text, end, end + _REACH) is None:
        return False
    lines = text[max(0, start - _REACH_OF_A_LIST) : start].lower().split("\n")
    above = next((line for line in reversed(lines) if line and not _BEGINS_WITH_A_HASH.match(line)), "")
    introduction = _END_OF_A_SENTENCE.split(above)[-1]
    return _COMPARED.search(introduction) is not None and _ACCUSING.search(introduction) is None


@lru_cache(maxsize=512)  # the rows of a list say the same before each value, and have one head
def _nouns_in(said: str) -> tuple[str | None, ...]:
    """Return of which kind each noun is, in order."""
    return tuple([noun.lastgroup for noun in _NOUNS.finditer(said)])


def _said_before(before: str) -> str:
    """Return what the sentence says of a value: its last field, and no more than stands behind another value."""
    before = before[before.rfind("\n") + 1 :]
    if sentences := list(_END_OF_A_SENTENCE.finditer(before)):
        before = before[sentences[-1].end() :]
    if field := _LAST_FIELD.search(before):
        return field["field"]
    if other := _LAST_HASH.match(before):
        rest = before[other.end() :]
        if _WORDS.search(_ASIDE.sub("", rest)):
            return rest
    return before
