"""Tell from a regular expression which pieces of text it needs: to look for those first takes far less time."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any, Final

# More spellings than that of one place in a pattern are not written out.
_MOST_SPELLINGS: Final = 12
_LONG_ENOUGH: Final = 4
_REPEATS: Final = frozenset({"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"})
# Nothing public tells what a pattern is made of.
_parser: Final[Any] = import_module("re._parser")
_WITHOUT_WIDTH: Final = frozenset({"AT", "ASSERT", "ASSERT_NOT"})

Pieces = frozenset[str]


def required_pieces(pattern: str) -> Pieces:
    """Return pieces of text of which every match of a pattern holds one; nothing where that cannot be told.

    `(?:an?|the) (?:key|iv)\\d` needs ` key` or ` iv`. For a pattern without flags.
    """
    pieces = _required(_parser.parse(pattern))
    if not _tells(pieces):
        return frozenset()
    return frozenset(piece for piece in pieces if not any(other in piece for other in pieces if other != piece))


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
