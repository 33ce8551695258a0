"""Read what the words around a value say of it, wherever they stand between its neighbours: `X ships with Windows`."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import chain
from typing import Final

from ingest.indicators.clauses import (
    ANOTHER,
    OTHER_VALUE,
    REACH,
    SENTENCE_ENDS,
    Role,
    clause_behind,
    clause_roles,
    judging,
)
from ingest.indicators.evidence import Evidence
from ingest.indicators.late import late
from ingest.indicators.piece_search import PieceSearch
from ingest.indicators.required_pieces import required_pieces
from ingest.indicators.rows import data
from ingest.indicators.vocabulary import pieces

# What parts that of which one value is told from that of which the next is.
_PART_ENDS: Final = late(
    r"[,\uff0c\u3001;\uff1b(\uff08|\t]|\s(?:and|but|und|aber|et|mais|y|pero|e|mas|ma|и|но|en|maar)\s"
)
_NOTHING_BUT_A_LABEL: Final = late(r"\W*(?:(?:md5|sha-?(?:1|256))\W*)?")
_OPENING: Final = "(\uff08"
_CLOSING: Final = ")\uff09"
# `benign, abused for side-loading`: the file is as its maker made it.
_ABUSED: Final = late(rf"(?:{pieces('harmless', 'abused')})[^,;.\n]*")
# `curl.exe, distro package`: the name of a file is no value of its own.
_FILE_NAME: Final = late(
    r"(?<![\w.])([\w-]{1,60})\.(?:exe|dll|sys|msi|txt|log|dat|bin|sh|py|js|ps1|zip|lnk|docx?|xlsx?|pdf)(?![\w.])"
)
_REACH_OF_A_DENIAL: Final = 12
_HARMLESS: Final = "harmless"  # of a file nothing else is said: it has no owner, and serves no network
_TYPES: Final = ("ip", "hash_md5", "hash_sha1", "hash_sha256")


def said_around(text: str, type: str, line_start: int, start: int, end: int, line_end: int) -> list[Evidence]:
    """Return what the words around `text[start:end]`, a value of that type, say of it, on the line from `line_start`
    to `line_end`.
    """
    if type not in _TYPES:
        return []
    role = _role_amid(
        text[max(line_start, start - REACH) : start],
        text[end : min(line_end, end + REACH)],
        is_of_a_file=type != "ip",
    )
    return [(role.points, role.id)] if role else []


@lru_cache(maxsize=1024)  # the rows of a list say the same beside each value
def _role_amid(before: str, behind: str, *, is_of_a_file: bool) -> Role | None:
    before, behind = _plain(before), _plain(behind)
    if not _needed().stands_in(before + behind):
        return None
    led, followed = _stretch(before, behind)
    return _role_in(led, followed, is_of_a_file=is_of_a_file)


def _plain(said: str) -> str:
    said = said.lower().replace("'", "\u2019").replace("`", "").replace("*", "")
    return _FILE_NAME.sub(r"\1", said)


def _stretch(before: str, behind: str) -> tuple[str, str]:
    """Return the words that belong to a value, before and behind it: of its bracket, if it stands in one, else of its
    part of the sentence. In a bracket all of them stand behind it.
    """
    opening = max(before.rfind(sign) for sign in _OPENING)
    inner = before[opening + 1 :]
    closing = min((at for at in map(behind.find, _CLOSING) if at >= 0), default=-1)
    is_in_a_bracket = opening >= 0 and closing >= 0 and not any(sign in inner for sign in _CLOSING)
    if is_in_a_bracket and _NOTHING_BUT_A_LABEL.fullmatch(f"{inner}{behind[:closing]}"):
        # Then the sentence speaks of it: `7za.exe (…) is clean`.
        before, behind = before[:opening], behind[closing + 1 :]
    elif is_in_a_bracket and not OTHER_VALUE.search(inner):
        return "", f"{inner} \n {behind[:closing]}"
    said = SENTENCE_ENDS.split(before)[-1]
    if others := list(OTHER_VALUE.finditer(said)):
        parts = _PART_ENDS.split(said[others[-1].end() :])
        said = parts[-1] if len(parts) > 1 else ""
    return said, clause_behind(behind).rstrip(ANOTHER)


def _role_in(led: str, followed: str, *, is_of_a_file: bool) -> Role | None:
    """Return the role that words give where they accuse of nothing; what stands before a value says of it only that it
    is harmless.
    """
    cleared, accused, denied = judging()
    said = _ABUSED.sub(" ", f"{led} \n {followed}")
    without = cleared.sub("\0", said)
    if accused.search(without):
        return None
    for role, words, of_files in _roles():
        is_harmless = role.name == _HARMLESS
        if (is_of_a_file and not is_harmless) or (of_files and not is_of_a_file):
            continue
        asked = said if is_harmless else followed
        found = words.search(asked)
        if found and not denied.search(asked, max(0, found.start() - _REACH_OF_A_DENIAL), found.start()):
            return role
    return next(role for role, *_ in _roles() if role.name == _HARMLESS) if "\0" in without else None


@cache
def _roles() -> tuple[tuple[Role, re.Pattern[str], bool], ...]:
    """Return the roles that words may give from anywhere in a stretch, with these words, and whether to files only."""
    roles = {role.name: role for role in clause_roles()}
    rows = data("clauses.toml")["around"]
    return tuple(
        (
            roles[row["role"]],
            re.compile("|".join(chain.from_iterable(row["words"].values()))),
            row.get("of_files", False),
        )
        for row in rows
    )


@cache
def _needed() -> PieceSearch:
    """Return the search for pieces of text of which one stands wherever a role may be given."""
    words = chain.from_iterable(chain.from_iterable(row["words"].values()) for row in data("clauses.toml")["around"])
    cleared = data("clauses.toml")["cleared"]["words"].values()
    return PieceSearch(chain.from_iterable(map(required_pieces, (*words, *cleared))))
