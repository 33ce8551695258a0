"""Cut a text into sentences, and write each in the plain form that the rules expect."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import Final

LONGEST_SENTENCE: Final = 600
_LONGEST_LINE_END: Final = 24

CVE: Final = re.compile(r"\bCVE[\s_:\u2010-\u2015-]{1,2}([0-9]{4})[\u2010-\u2015-]([0-9]{4,19})(?![0-9])", re.I)
_END: Final = re.compile(r"[.!?][\"')\]\u201d\u2019]{0,2}\s+(?=[\"'(\[\u201c\u2018]?[A-Z0-9\u00c0-\u00de])")
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|approx|inc|corp|ltd|co|no|nos|dr|mr|ms|st|al|u\.s|u\.k|fig|ver|v|[A-Z])\.)$", re.I
)
# A line goes on in the next where that begins in lower case, or where it ends with a word that wants another.
_ENDS: Final = frozenset(".!?:;|")
_WANTED_BY: Final = (
    " of", " by", " the", " in", " to", " and", " that", " as", " with", " for", " from", " on", " at", " has", " have",
    " is", " are", " was", " an", " a", " against", " via", " through", " using", " exploit", " exploits", " exploited",
    " exploiting", " exploitation", " called", " tracked", " vulnerability", " flaw",
)  # fmt: skip
_BULLET: Final = re.compile(r"^\s*(?:[-*\u2022\u2013\u25cf\u25aa]|[0-9]{1,2}[.)])\s+")
_QUOTES: Final = str.maketrans(
    {
        "\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2010": "-", "\u2011": "-", "\u2013": " - ",
        "\u2014": " - ", "\u2015": " - ", "\u00a0": " ", "`": "'", "|": " ; ", "\u00ad": "",
    }
)  # fmt: skip
_BLANK_BEFORE_A_SIGN: Final = re.compile(r" +(?=[,;:.!?)])")
_SHORT_FORMS: Final = (
    (re.compile(r"\bcan't\b"), "cannot"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"'ve\b"), " have"),
    (re.compile(r"'re\b"), " are"),
    (re.compile(r"\b(it|that|there|what|who|he|she)'s\b"), r"\1 is"),
)


class Sentence:
    """A sentence as written, in plain form, and the CVEs that it names in order (`cve_0` stands for the first).

    The plain form is lower-case with single blanks, straight quotes and hyphens, and short forms written out; it is
    made when it is first asked, for of most sentences it never is.
    """

    def __init__(self, written: str) -> None:
        self.written = written
        self.cves = _cves_in(written) if "cve" in written.lower() else ()

    @cached_property
    def plain(self) -> str:
        numbers = {cve: number for number, cve in enumerate(self.cves)}
        said = CVE.sub(lambda named: f" cve_{numbers[_cve(named)]} ", self.written) if numbers else self.written
        plain = said.translate(_QUOTES).lower()
        for short, long in _SHORT_FORMS if "'" in plain else ():
            plain = short.sub(long, plain)
        return _BLANK_BEFORE_A_SIGN.sub("", " ".join(plain.split()))


def _cves_in(written: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(_cve, CVE.finditer(written))))


def _cve(named: re.Match[str]) -> str:
    return f"CVE-{named[1]}-{named[2]}"


def sentences(text: str) -> Iterator[Sentence]:
    """Return the sentences of a text, line by line; lines that were merely wrapped are joined."""
    for line in _unwrapped(text):
        line = _BULLET.sub("", line).strip()
        if line:
            yield from map(Sentence, _pieces(line))


def _unwrapped(text: str) -> list[str]:
    lines = text.split("\n")
    pieces = [lines[0]]
    for before, line in pairwise(lines):
        after = line.lstrip(" \t")
        if _goes_on(before.rstrip(" \t"), after):
            pieces[-1] = pieces[-1].rstrip(" \t")
            pieces += (" ", after)
        else:
            pieces += ("\n", line)
    return "".join(pieces).split("\n")


def _goes_on(line: str, next: str) -> bool:
    """Tell whether a line was merely wrapped before the next one."""
    if not line or not next:
        return False
    if "a" <= next[0] <= "z" and line[-1] not in _ENDS and not line[-1].isspace():
        return True
    return line.endswith(_WANTED_BY) and (next[0].isalnum() or next[0] == "_")


def _pieces(line: str) -> Iterator[str]:
    start = 0
    for match in _END.finditer(line):
        if _ABBREVIATION.search(line[max(start, match.start() - _LONGEST_LINE_END) : match.start() + 1]):
            continue
        yield from _bounded(line[start : match.end()].strip())
        start = match.end()
    yield from _bounded(line[start:].strip())


def _bounded(piece: str) -> Iterator[str]:
    for start in range(0, len(piece), LONGEST_SENTENCE):
        yield piece[start : start + LONGEST_SENTENCE]
