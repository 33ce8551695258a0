"""Join what the end of a line breaks in two.

`45[.]9[.]1[.]` and `2`, `T1059.` and `001`, `gale-` and `post[.]com`, the halves of a hash.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, NamedTuple

from ingest.indicators.cutting import Place
from ingest.indicators.late import late
from ingest.indicators.piece_search import Places
from ingest.indicators.plain_signs import ANNOUNCING
from intel.names import is_technique
from intel.refanging import DOT
from intel.suffixes import is_top_level

LONGEST_HALF: Final = 256
MOST_LINES: Final = 4
MOST_JOINED: Final = 20_000

_NEXT: Final = late(rf"\n(?P<word>\S{{1,{LONGEST_HALF}}}+)(?=\s|\Z)")
_AFTER_A_HYPHEN: Final = late(rf"-\n(?=[a-z0-9-]*[a-z])[a-z0-9-]{{1,63}}+{DOT}")
_HYPHEN: Final = "-\n"
_LENGTH_OF_A_HASH: Final = "256"
# What must have been looked for in a text before anything here is asked of it.
PIECES: Final = (_HYPHEN, _LENGTH_OF_A_HASH)
_LABEL: Final = late(rf"(?P<label>[a-z0-9-]{{1,63}}+)(?!\w)(?P<goes_on>{DOT}|\.(?=[a-z0-9]))?")
_LABEL_AT_END: Final = late(r"(?:\A|(?P<before>[^A-Za-z0-9-]))(?P<label>[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?)-\Z")
# The first part of a SHA-256 behind words that announce one; the parts that follow fill lines of their own.
_PART_OF_A_HASH: Final = late(r"[0-9a-fA-F]{4,60}")
_ANNOUNCED_HASH: Final = late(
    r"256(?:[^\w\n]{0,6}\n|(?:(?!(?i:md5|sha-?1))[^\n:]){0,60}:\n|[^\w\n]{1,6})(?P<part>[0-9a-fA-F]{16,60})(?=\n)"
)
_LENGTH_OF_ALL_PARTS: Final = 64
_SHORTER_KIND: Final = late(r"(?i)(?:md5|sha-?1(?![0-9]))[^\n]*\Z")
_REACH_OF_A_LABEL: Final = 60
_OPEN_TECHNIQUE: Final = late(r"(?<![A-Za-z0-9_.-])(T[0-9]{4}\.)\Z")
_PART_OF_A_TECHNIQUE: Final = late(r"0[0-9]{2}(?![0-9A-Za-z])")


class Joined(NamedTuple):
    """A token that stands at `start:end` of a text with line breaks in it; `breaks` are where, in the token."""

    token: str
    start: int
    end: int
    breaks: tuple[int, ...]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where the characters `start:end` of the token stand in the text."""
        before = sum(place <= start for place in self.breaks)
        return self.start + start + before, self.start + end + sum(place < end for place in self.breaks)


def ends_open(token: str) -> bool:
    """Tell whether a token ends in a way that only something broken over two lines does."""
    last = token[-1]
    return last == DOT or (last == "." and "T" in token and _OPEN_TECHNIQUE.search(token) is not None)


def joined_over_lines(text: str, pieces: Places, open_places: Iterable[Place]) -> Iterator[Joined]:
    """Yield what the lines of a text break in two, in order.

    `open_places` are the places of tokens that end open; `pieces`: where the `PIECES` stand.
    """
    hyphens = (place for place in pieces.get(_HYPHEN, ()) if _AFTER_A_HYPHEN.match(text, place))
    begun = [_word_before(text, place + 1) for place in islice(hyphens, MOST_JOINED)]
    hashes = (_announced_hash(text, place) for place in pieces.get(_LENGTH_OF_A_HASH, ()))
    begun += [(match.start("part"), match["part"]) for match in islice(hashes, MOST_JOINED) if match]
    end = 0
    for start, token in sorted([*begun, *islice(open_places, MOST_JOINED)]):
        if start >= end and (joined := _joined(text, start, token)):
            end = joined.end
            yield joined


def _announced_hash(text: str, place: int) -> re.Match[str] | None:
    """Return the first part of a hash that `256` at a place announces; where another kind is named too, the parts may
    be whole.
    """
    match = _ANNOUNCED_HASH.match(text, place)
    names_another = match and _SHORTER_KIND.search(text, max(0, place - _REACH_OF_A_LABEL), place + len("256"))
    return None if names_another else match


def _word_before(text: str, end: int) -> Place:
    window = text[max(0, end - LONGEST_HALF) : end]
    word = window.split()[-1]
    return end - len(word), word


def _joined(text: str, start: int, token: str) -> Joined | None:
    end = start + len(token)
    breaks: list[int] = []
    while len(breaks) < MOST_LINES and (following := _NEXT.match(text, end)) and _go_together(token, following["word"]):
        breaks.append(len(token))
        token += following["word"]
        end = following.end()
    return Joined(token, start, end, tuple(breaks)) if breaks else None


def _go_together(token: str, word: str) -> bool:
    if len(token) < _LENGTH_OF_ALL_PARTS and _PART_OF_A_HASH.fullmatch(token):
        return _PART_OF_A_HASH.fullmatch(word) is not None and len(token) + len(word) <= _LENGTH_OF_ALL_PARTS
    if token[-1] == "-":
        return _breaks_a_name(token) and _AFTER_A_HYPHEN.match(f"-\n{word}") is not None
    if token[-1] == ".":
        begun, part = _OPEN_TECHNIQUE.search(token), _PART_OF_A_TECHNIQUE.match(word)
        return begun is not None and part is not None and is_technique(begun[1] + part[0])
    return token[-1] == DOT and _goes_on(token.rstrip(DOT), word)


def _breaks_a_name(token: str) -> bool:
    """Tell whether a name continues on the next line; a complete name does not, nor does a word that announces a
    list.
    """
    host = token.rpartition("//")[2]
    name = _LABEL_AT_END.search(host)
    if name is None or "/" in host or name["label"] in ANNOUNCING or name["label"].isdigit():
        return False
    return name["before"] not in (".", DOT) or not is_top_level(name["label"])


def _goes_on(token: str, word: str) -> bool:
    """Tell whether a host continues after a dot: a number with a number, a name with a label or a top-level domain."""
    label = _LABEL.match(word)
    if label is None or not token[-1:].isalnum() or "/" in token.rpartition("//")[2]:
        return False
    if label["label"].isdigit():
        return token[-1].isdigit() and len(label["label"]) <= 3
    return bool(label["goes_on"]) or is_top_level(label["label"])
