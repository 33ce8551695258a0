"""Find the names that stand as branches of a tree with families of malware: `+-- Mirai` above `+-- Reedpipe (2025)`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Final

from ingest.indicators.late import late
from ingest.indicators.piece_search import Places
from ingest.indicators.plain_words import is_plain_word
from intel.names import malware_names, spelling_key

PIECES: Final = ("+-- ", "|-- ", "\u251c\u2500", "\u2514\u2500")

_BRANCH: Final = late(r"[ \t|\u2502]{0,60}(?:[+|`\\]--|[\u251c\u2514]\u2500{1,3}) ?(?P<item>[^\n]{2,80})")
_TRUNK: Final = late(r"[ \t|\u2502v]{0,60}\n")
_ROOT: Final = late(r"[ \t]{0,40}(?P<item>[A-Z][^\n]{2,60})\Z")
_NAME: Final = late(
    r"(?P<name>[A-Z][A-Za-z0-9]{2,23})(?:[.](?P<variant>[A-Z]{1,4}))?(?=[ \t]*(?:\Z|\(|[:\u2013\u2014-]|<))"
)
_FEWEST_KNOWN: Final = 2
_MOST_ROWS: Final = 60
_MOST_TREES: Final = 20


def names_in_trees(text: str, places: Places) -> Iterator[str]:
    """Yield the branches that no list has of each tree of which two are families of malware.

    `places`: where the `PIECES` stand.
    """
    past = trees = 0
    for place in sorted(chain.from_iterable(places.get(piece, ()) for piece in PIECES)):
        if place < past or trees == _MOST_TREES:
            continue
        trees += 1
        first = text.rfind("\n", max(0, place - 80), place) + 1
        past, items = _branches(text, first)
        names = [found["name"] for item in (*_root_above(text, first), *items) if (found := _NAME.match(item))]
        families = malware_names().families
        known = {name for name in names if spelling_key(name) in families}
        if len(known) >= _FEWEST_KNOWN:
            yield from (name for name in names if name not in known and not is_plain_word(name))


def _branches(text: str, start: int) -> tuple[int, list[str]]:
    """Return where the tree ends that begins at `start`, and what stands at its branches."""
    items: list[str] = []
    for _ in range(_MOST_ROWS):
        branch = _BRANCH.match(text, start)
        if branch:
            items.append(branch["item"])
            start = branch.end() + 1
        elif trunk := _TRUNK.match(text, start):
            start = trunk.end()
        else:
            break
    return start, items


def _root_above(text: str, first: int) -> list[str]:
    """Return what stands above the first branch of a tree, if anything does."""
    above = text[max(0, first - 120) : first].rstrip(" \t|\u2502\n").rpartition("\n")[2]
    root = _ROOT.match(above)
    return [root["item"]] if root else []
