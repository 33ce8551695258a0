"""Tell from a regular expression which pieces of text it needs: to look for those first takes far less time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import filterfalse
from re import _parser as parser  # nothing public tells what a pattern is made of
from typing import Any, Final

# More spellings than that of one place in a pattern are not written out.
_MOST_SPELLINGS: Final = 12
_LONG_ENOUGH: Final = 4
_REPEATS: Final = frozenset({"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"})
_WITHOUT_WIDTH: Final = frozenset({"AT", "ASSERT", "ASSERT_NOT"})

Pieces = frozenset[str]
PiecesByPart = tuple[tuple[str, str], ...]
_Branches = dict[str, "_Branches"]
# An empty piece stands everywhere.
ANYTHING: Final[Pieces] = frozenset({""})


def required_pieces(pattern: str) -> Pieces:
    """Return pieces of text of which every match of a pattern holds one; nothing where that cannot be told.

    `(?:an?|the) (?:key|iv)\\d` needs ` key` or ` iv`. For a pattern without flags.
    """
    pieces = _required(parser.parse(pattern))
    if not _tells(pieces):
        return frozenset()
    return frozenset(piece for piece in pieces if not any(other in piece for other in pieces if other != piece))


def pattern_of(pieces: Pieces) -> re.Pattern[str]:
    """Return a pattern that finds any of the pieces in one pass: one that branches sign by sign, as a trie does."""
    root: _Branches = {}
    for piece in sorted(pieces):
        node = root
        for sign in piece:
            node = node.setdefault(sign, {})
        node[""] = {}
    return re.compile(_written(root) or r"(?!)")


def with_shared_parts(pieces: Iterable[str]) -> PiecesByPart:
    """Return each piece behind a part of it: a sign beyond ASCII, or four letters that as many of them as may be
    share.
    """
    every = tuple(pieces)
    holders: dict[str, set[str]] = {}
    for piece in filter(str.isascii, every):
        for at in range(max(1, len(piece) - _LONG_ENOUGH + 1)):
            holders.setdefault(piece[at : at + _LONG_ENOUGH], set()).add(piece)
    part_of: dict[str, str] = {}
    for part in sorted(holders, key=lambda part: (-len(holders[part]), part)):
        for piece in holders[part]:
            part_of.setdefault(piece, part)
    return tuple([(part_of.get(piece) or next(filterfalse(str.isascii, piece)), piece) for piece in every])


def standing_in(text: str, pieces: PiecesByPart) -> Iterator[str]:
    """Yield the pieces that stand in a text, in order: one part that it lacks rules out all that share it."""
    has: dict[str, bool] = {}
    for part, piece in pieces:
        if part not in has:
            has[part] = part in text
        if has[part] and piece in text:
            yield piece


def _written(node: _Branches) -> str:
    branches = [re.escape(sign) + _written(below) for sign, below in node.items() if sign]
    if "" in node:
        return ""
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})" if branches else ""


def _required(parsed: Iterable[Any]) -> Pieces:
    """Return the best of the sets of pieces that one after another of the parts of a sequence needs."""
    needed: list[Pieces] = []
    run: Pieces = frozenset({""})
    for name, argument in ((operation.name, argument) for operation, argument in parsed):
        if name in _WITHOUT_WIDTH:
            continue
        spelled = _spellings(name, argument)
        if not spelled or len(run) * len(spelled) > _MOST_SPELLINGS:
            needed += [run, _required_by(name, argument)]
            run = spelled or frozenset({""})
        else:
            run = _joined(run, spelled)
    return max([*needed, run], key=_worth)


def _required_by(name: str, argument: Any) -> Pieces:
    """Return the pieces of which one stands in whatever a part of a pattern matches."""
    if name in _REPEATS:
        return _required(argument[2]) if argument[0] else frozenset()
    if name == "SUBPATTERN":
        return _required(argument[3])
    if name == "ATOMIC_GROUP":
        return _required(argument)
    if name == "BRANCH":
        each = [_required(branch) for branch in argument[1]]
        return frozenset().union(*each) if all(map(_tells, each)) else frozenset()
    return frozenset()


def _spellings(name: str, argument: Any) -> Pieces:
    """Return everything that a part of a pattern may match, or nothing if that is too much."""
    if name == "LITERAL":
        return frozenset({chr(argument)})
    if name == "IN":
        return frozenset(chr(sign) for _, sign in argument) if _lists_signs(argument) else frozenset()
    if name in _REPEATS and argument[1] == 1:
        once = _spellings_of_all(argument[2])
        return once | {""} if once and not argument[0] else once
    if name == "SUBPATTERN" and not argument[1] and not argument[2]:
        return _spellings_of_all(argument[3])
    if name == "BRANCH":
        each = [_spellings_of_all(branch) for branch in argument[1]]
        return frozenset().union(*each) if all(each) else frozenset()
    return frozenset()


def _lists_signs(argument: Any) -> bool:
    return len(argument) <= _LONG_ENOUGH and all(operation.name == "LITERAL" for operation, _ in argument)


def _spellings_of_all(parsed: Iterable[Any]) -> Pieces:
    run: Pieces = frozenset({""})
    for operation, argument in parsed:
        if operation.name in _WITHOUT_WIDTH:
            continue
        spelled = _spellings(operation.name, argument)
        if not spelled or len(run) * len(spelled) > _MOST_SPELLINGS:
            return frozenset()
        run = _joined(run, spelled)
    return run


def _joined(first: Pieces, second: Pieces) -> Pieces:
    return frozenset(before + after for before in first for after in second)


def _tells(pieces: Pieces) -> bool:
    """Tell whether pieces rule anything out: none of them is empty."""
    return bool(pieces) and "" not in pieces


def _worth(pieces: Pieces) -> tuple[int, int]:
    """Rank sets of pieces: those of long ones first, then small ones."""
    return (min(_LONG_ENOUGH, *map(len, pieces)), -len(pieces)) if _tells(pieces) else (0, 0)
