"""Tell what the headings of a text announce: indicators, references, or something else."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from typing import Final, Literal

from ingest.indicators.cutting import cuts
from ingest.indicators.harmless_lists import only_looks_harmless
from ingest.indicators.late import late
from ingest.indicators.vocabulary import pieces, words
from intel.refanging import MARKS

Section = Literal["indicators", "references", "other", ""]

LONGEST_HEADING: Final = 100
MOST_HEADING_WORDS: Final = 12
MOST_TITLE_WORDS: Final = 8
MOST_WORDS_OF_A_SHORT_TITLE: Final = 4
_ANNOUNCING: Final[tuple[tuple[Section, frozenset[str]], ...]] = (
    ("references", words("headings", "references")),
    ("indicators", words("headings", "indicators")),
    ("references", words("headings", "references_for_readers")),
    ("other", words("headings", "other")),
)
_RANK_OF: Final[Mapping[str, int]] = {
    word: rank for rank, (_, words_of_it) in reversed(list(enumerate(_ANNOUNCING))) for word in words_of_it
}
_PIECES_OF_HEADINGS: Final[tuple[tuple[Section, re.Pattern[str]], ...]] = tuple(
    (section, late(pieces("headings", "pieces", section))) for section in ("references", "indicators", "other")
)
_LIKE_A_HEADING: Final = late(r"(?m)^(?:#{1,6} |={1,6} |\*\*[^\W\d_]|[^\W\d_][^\n.,;|\d]{2,60}[:\uff1a]?$)")
_LONGEST_SECTION: Final = 4_000
_LONGEST_HEADING_WITHOUT_BLANKS: Final = 24
_FIRST_OF_TWO: Final = frozenset(first for first, _, second in (words.partition("_") for words in _RANK_OF) if second)
_WORDS_OF_HEADINGS: Final = _FIRST_OF_TWO.union(_RANK_OF)
# What may stand in any sentence, and announces something where a heading begins with it.
_VERBS_TOO: Final = ("contact", "contacts", "about")
# `Home Archive About`: the menu of a site.
_MENUS: Final = words("headings", "menus")
_SHORTEST_MENU: Final = 3
# `author: "jdoe"` or `authors = ["jdoe"]` of a post, which announces nothing below.
_BYLINE: Final = late(
    r"[\"']?(?i:authors?|credits?|contact|about|source|autor(?:in|a|e)?|auteure?|autrice|автор|quelle|fuente|fonte)"
    r"[\"']?(?::[ \t]+|[ \t]?=[ \t]?)\S"
)
# `sha256,family,year,source`: heads of columns, of which one may hold links.
_HEAD_OF_A_TABLE: Final = late(r"[^,;\t|]{1,30}(?:(?:,(?! )|[;\t|])[^,;\t|]{0,40}){2}")
# `reference = "gale.example/report"` of a rule.
_FIELD_OF_A_RULE: Final = late(r"[\"']?(?i:references?|ref|link)[\w-]{0,6}[\"']?[ \t]?=[ \t]?[\"']")
_CONDITIONS_OF_A_RULE: Final = "detection:"  # of a Sigma rule
_HEADING_WORD: Final = late(r"(?:[^\W_]|&)+")
_MARKED_HEADING: Final = late(r"^(?:#{1,6}\s|={1,6}\s|\*\*[^*]+\*\*:?$|__[^_]+__$|\d+(?:\.\d+)*\.?\s+[A-Z])")
_MARKS_OF_A_HEADING: Final = late(r"(?:#{1,6}|={1,6})(?= +[^\s#=])")
_SHORTEST_CONTENTS: Final = 3
_LONGEST_CONTENTS: Final = 3_000
_NUMBERING: Final = late(r"\A\d{1,2}(?:\.\d{1,2})*[.)]?\s+")
# What no heading is: a long line, the end of a sentence, a dotted name, a long word.
_BODY: Final = late(r"[^\n]{80}|[.,;]\n|\w\.\w|[^\s]{25}")
# `**References**`, `**IOCs:**`: a line that is bold from end to end.
_BOLD_HEADING: Final = late(r"\*\*[^\W\d_][^*\n]{1,60}\*\*[:\uff1a]?\s*\Z")
_NO_HEADING_BEGINS: Final = "-*|`"
_NO_HEADING_ENDS: Final = ".,;"
_MARK_SIGNS: Final = frozenset(MARKS)


class Sections:
    """The sections of one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts, self._sections = self._headings()

    def at(self, position: int) -> Section:
        """Return what the nearest telling heading above a position announces."""
        index = bisect_right(self._starts, position) - 1
        return self._sections[index] if index >= 0 else ""

    def heading(self, position: int) -> str:
        """Return the telling heading above a position, or nothing where another line like a heading stands between."""
        index = bisect_right(self._starts, position) - 1
        if index < 0 or position - self._starts[index] > _LONGEST_SECTION:
            return ""
        heading, _, body = self._text[self._starts[index] : position].partition("\n")
        return "" if _LIKE_A_HEADING.search(body) else heading

    def _headings(self) -> tuple[list[int], list[Section]]:
        starts: list[int] = []
        sections: list[Section] = []
        last = 0
        for cut in cuts(self._text, "\n"):
            telling = {
                line: section
                for line in cut.tokens
                if 1 < len(line) <= LONGEST_HEADING
                and (len(line) > 2 or not line.isascii())
                and (line[0] not in _NO_HEADING_BEGINS or _BOLD_HEADING.match(line))
                and line[-1] not in _NO_HEADING_ENDS
                and (" " in line or line[0] in "#=*" or line[:-1].isalpha() or not line.isascii())
                and (section := _section_of(line.strip()))
            }
            marked = {line for line in cut.tokens if line[:1] in "#=" and _MARKS_OF_A_HEADING.match(line)}
            asked = marked | set(telling)
            for start, line in cut.places(asked, asked):
                mark = _MARKS_OF_A_HEADING.match(line)
                depth = mark.end() if mark else 0
                section = telling.get(line, "")
                # Only references end where the next heading of their rank begins, whatever that says.
                if section or (sections and sections[-1] == "references" and 0 < depth <= last):
                    starts.append(start)
                    sections.append(section)
                    last = depth
        listed = self._contents(starts)
        del starts[listed], sections[listed]
        return starts, sections

    def _contents(self, starts: list[int]) -> slice:
        """Return which headings are the lines of a table of contents at the top: one right after another, and again
        below.
        """
        lines = (self._text[start : start + LONGEST_HEADING].partition("\n")[0] for start in starts)
        names = [_NUMBERING.sub("", line.strip(" #=:")) for line in lines]
        times = Counter(names)
        first = 0
        for index, (start, name) in enumerate(zip(starts, names, strict=True)):
            if times[name] > 1 and (index == first or not _BODY.search(self._text, starts[index - 1], start)):
                continue
            if index - first >= _SHORTEST_CONTENTS:
                return slice(first, index)
            if start > _LONGEST_CONTENTS:
                break
            first = index + (times[name] == 1)
        return slice(0, 0)


def _section_of(line: str) -> Section:
    said = _HEADING_WORD.findall(line.lower())
    # Most lines have none of the words, which costs less to see than that they are no headings.
    may_tell = not _WORDS_OF_HEADINGS.isdisjoint(said)
    is_without_blanks = not line.isascii() and len(line) <= _LONGEST_HEADING_WITHOUT_BLANKS
    if not (may_tell or is_without_blanks or line == _CONDITIONS_OF_A_RULE) or not _is_heading(line):
        return ""
    if line == _CONDITIONS_OF_A_RULE:
        return "other"
    if (":" in line or "=" in line) and (_BYLINE.match(line) or _FIELD_OF_A_RULE.match(line)):
        return ""
    if len(said) >= _SHORTEST_MENU and _MENUS.issuperset(said):
        return ""
    if len(said) > 2:
        said = said[:1] + [word for word in said[1:] if word not in _VERBS_TOO]  # `The newest variant contacts:`
    ranks = [_RANK_OF[word] for word in said if word in _RANK_OF]
    if not _FIRST_OF_TWO.isdisjoint(said):
        ranks += [_RANK_OF[both] for both in map("_".join, pairwise(said)) if both in _RANK_OF]
    if not ranks and is_without_blanks:
        return next((section for section, piece in _PIECES_OF_HEADINGS if piece.search(line.lower())), "")
    if not ranks:
        return ""
    section = _ANNOUNCING[min(ranks)][0]
    if _HEAD_OF_A_TABLE.match(line):
        return "indicators" if any(_ANNOUNCING[rank][0] == "indicators" for rank in ranks) else ""
    return "indicators" if section == "references" and only_looks_harmless(line) else section


def _is_heading(line: str) -> bool:
    if _BOLD_HEADING.match(line):
        return True
    if not line or line[0] in _NO_HEADING_BEGINS or line[-1] in _NO_HEADING_ENDS or "://" in line or "@" in line:
        return False
    if not line.isascii() and not _MARK_SIGNS.isdisjoint(line):
        return False
    words = line.split()
    if len(words) > MOST_HEADING_WORDS:
        return False
    if line[-1] in (":", "\uff1a") or line.isupper():
        return True
    if len(words) <= MOST_TITLE_WORDS:
        capital = [word for word in words if not word[0].islower()]
        if len(capital) * 2 >= len(words) or (len(words) <= MOST_WORDS_OF_A_SHORT_TITLE and words[0] in capital):
            return True
    return _MARKED_HEADING.match(line) is not None
