"""Tell what one token may have to do with a name of malware; knows nothing of its context."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from intel.names import MalwareNames, malware_name, spelling_key
from intel.refanging import MARKS

LONGEST_WORD: Final = 64
LONGEST_CLAUSE: Final = 512  # what stands between two blanks in a script that writes none between words
# What quotes, brackets and sentences leave at the edges of a name.
EDGES: Final = (
    ".,;:!?()[]{}<>\"'`*_|/\\\u201c\u201d\u2018\u2019\u201e\u201a\u00ab\u00bb\u2026\u2013\u2014=+~#&"
    "\u3001\u3002\u300a\u300b\u300c\u300d\u300e\u300f\u3010\u3011\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f"
)
# `NetwireRAT` is a name and what it names in one word.
FUSED_KINDS: Final = ("rat", "ransomware", "stealer", "loader", "bot", "locker")

# Chinese, Japanese and Korean leave no blank around a name in Latin letters.
_INNER: Final = re.compile(
    r"[/()\[\],;:|+&=*`\u2019'\"\u2013\u2014\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef-]+"
)
_OF_A_HOME: Final = re.compile(r"(?:[A-Za-z]:[\\/]{1,2})?(?:home|Users)[\\/]{1,2}[\w.-]")
# `Winos4.0`.
_VERSIONED: Final = re.compile(r"[A-Za-z]{3,20}[0-9]{1,2}(?:\.[0-9]{1,2}){1,2}")
_OUTER: Final = re.compile(r"[\W_]+")
_MARK_SIGNS: Final = frozenset(MARKS)


class Naming(NamedTuple):
    """`may_name`: a name may begin here; `followers`: only where one of these words comes next (None: in any case)."""

    may_name: bool
    followers: frozenset[str] | None = None


NO_NAME: Final = Naming(False)
_NAME: Final = Naming(True)


def naming_of(token: str, names: MalwareNames) -> Naming:
    """Return what a token may have to do with the names of malware."""
    if not 2 < len(token) <= (LONGEST_WORD if token.isascii() else LONGEST_CLAUSE):
        return NO_NAME
    bare = token.strip(EDGES)
    plain, ascii = bare.isalnum(), bare.isascii()
    if not plain and not ascii and not _MARK_SIGNS.isdisjoint(bare):
        return NO_NAME
    if not plain and _is_of_a_person(bare):
        return NO_NAME
    folded = bare.casefold()
    pieces = [folded] if plain else _OUTER.split(folded)
    key = "".join(pieces)
    if key in names.beginnings or key.endswith(FUSED_KINDS):
        naming = _naming_of_all(bare, key, names)
        if naming.may_name:
            return naming
    if (plain and ascii) or (
        names.beginnings.isdisjoint(pieces if ascii else _INNER.split(folded)) and (ascii or "." not in folded)
    ):
        return NO_NAME
    return _NAME if any(spelling_key(part) in names.families for part in parts_of(bare)) else NO_NAME


def _is_of_a_person(bare: str) -> bool:
    """Tell whether a token is the handle of an account or lies in somebody's folder: `@emotet`, `/home/ryuk`."""
    return bare[:1] == "@" or (("home" in bare or "sers" in bare) and _OF_A_HOME.match(bare) is not None)


def _naming_of_all(bare: str, key: str, names: MalwareNames) -> Naming:
    followers = followers_of(bare, key, names)
    if key in names.families and (key not in names.ordinary or names.may_mean(bare, key)):
        return _NAME
    if followers is not None:
        return Naming(True, followers)
    return _NAME if key.endswith(FUSED_KINDS) and malware_name(bare) is not None else NO_NAME


def parts_of(bare: str) -> list[str]:
    """Return the pieces of `Emotet/TrickBot`, `Emotet's`, `Emotet-infected`; none of what looks like a host or a
    path.
    """
    if "@" in bare or "\\" in bare or "://" in bare:
        return []
    return [part for part in _INNER.split(bare) if len(part) > 2 and ("." not in part or _VERSIONED.fullmatch(part))]


def followers_of(bare: str, key: str, names: MalwareNames) -> frozenset[str] | None:
    """Return the words that may follow one at the beginning of a name of several words."""
    by_key, by_spelling = names.openings.get(key), names.openings.get(bare)
    return by_key | by_spelling if by_key and by_spelling else by_key or by_spelling
