"""What the words around a candidate say about it: its line, its section, the verbs before it."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property, lru_cache
from typing import Final, Literal, NamedTuple

from ingest.indicators.document import Document, Place
from ingest.indicators.marks import MARKS, PlainText
from ingest.indicators.sentences import line_span

Section = Literal["indicators", "references", "other", ""]

SHORT_NOTE: Final = 1500  # characters; below, a text is somebody's note and not an article
LONGEST_HEADING: Final = 100
MOST_HEADING_WORDS: Final = 12
MOST_TITLE_WORDS: Final = 8

_INDICATOR_HEADING: Final = re.compile(
    r"(?i)\b(?:indicators?|iocs?|ioas?|observables|artifacts|network (?:indicators|infrastructure|activity"
    r"|traffic)|c2s?|c&c"
    r"|c2/c&c|cnc|command[- ]and[- ]control|domains?|domain names?|urls?|ip(?:v[46])? address(?:es)?|ips|hosts?"
    r"|hostnames?"
    r"|servers?|infrastructure|hash(?:es)?|md5s?|sha-?(?:1|256)s?|file hashes|e-?mail addresses|payload|distribution"
    r"|network)\b"
)
_REFERENCE_HEADING: Final = re.compile(
    r"(?i)\b(?:references?|sources?|related (?:posts?|articles?|reading|links|content)|further reading|see also"
    r"|read more|links"
    r"|bibliography|resources|additional (?:information|resources|reading)|external links|credits?"
    r"|acknowledge?ments?|about"
    r"|contacts?(?: information)?|more information|learn more|footnotes|authors?|detections?|names)\b"
)
_OTHER_HEADING: Final = re.compile(
    r"(?i)\b(?:conclusions?|summary|introduction|overview|background|mitigations?|recommendations?|remediation"
    r"|disclaimer|notes?"
    r"|analysis|attribution|timeline|description|details|key (?:points|findings|takeaways)|appendix|file ?names?"
    r"|paths?|mutex(?:es)?"
    r"|registry|pdb|yara|signatures?|rules?|tools?|victims?)\b"
)
_MARKED_HEADING: Final = re.compile(r"^(?:#{1,6}\s|={1,6}\s|\*\*[^*]+\*\*:?$|__[^_]+__$|\d+(?:\.\d+)*\.?\s+[A-Z])")
_POINTERS: Final = frozenset(
    {
        "reference", "references", "source", "sources", "see", "read", "via", "according", "available", "published",
        "publication", "blog", "blogs", "blogpost", "article", "articles", "report", "reports", "reported", "paper",
        "whitepaper", "advisory", "documentation", "documented", "documents", "tweet", "tweeted", "tweets", "post",
        "posts", "credit", "image", "photo", "copyright", "visit", "learn", "information", "follow", "subscribe",
        "website", "official", "legitimate", "benign", "legit", "impersonate", "impersonates", "impersonating",
        "impersonated", "mimic", "mimics", "mimicking", "similar", "instead", "us", "e.g", "replace", "research",
        "researchers", "analysis", "github", "repository", "tool", "wikipedia",
    }
)  # fmt: skip
_ATTACK_WORDS: Final = frozenset(
    {
        "c2", "c2s", "c&c", "cnc", "command-and-control", "control", "beacon", "beacons", "beaconed", "beaconing",
        "callback", "callbacks", "contact", "contacts", "contacted", "contacting", "connect", "connects",
        "connected", "connecting", "connection", "connections", "communicate", "communicates", "communicated",
        "communicating", "communication", "resolve", "resolves", "resolved", "resolving", "download", "downloads",
        "downloaded", "downloading", "downloader", "fetch", "fetches", "fetched", "fetching", "retrieve",
        "retrieves", "retrieved", "retrieving", "drop", "drops", "dropped", "exfiltrate", "exfiltrates",
        "exfiltrated", "exfiltration", "upload", "uploads", "uploaded", "host", "hosts", "hosted", "hosting",
        "hostname", "domain", "domains", "server", "servers", "malicious", "phish", "phishing", "payload",
        "payloads", "redirect", "redirects", "redirected", "redirecting", "registered", "infrastructure", "attacker",
        "attackers", "attacker-controlled", "actor", "actors", "adversary", "adversaries", "panel", "gate", "onion",
        "address", "addresses", "url", "urls", "wget", "curl", "sinkhole", "sinkholed", "typosquat", "typosquatted",
        "typosquatting", "lookalike", "look-alike", "malware", "ransomware", "ip", "ips", "backdoor", "trojan",
        "implant", "staging", "stager", "proxy",
    }
)  # fmt: skip
_PUNCTUATION: Final = ".,;:()[]`'\"-*"
_WORD: Final = re.compile(r"[^\s,;:()\[\]`'\"*=<>{}]+")
_ITEM: Final = re.compile(r"\s*(?:[-*\u2022\u00b7\u25cf\u2013|>+]|\d{1,3}[.)])\s*")
_FOOTNOTE: Final = re.compile(r"\s*(?:\[\d{1,3}\]|\^|\u21a9):?\s*")
_WORDING_REACH: Final = 100
_BLOCK: Final = 64
_MARK_SIGNS: Final = frozenset(MARKS)
_HASH: Final = re.compile(r"(?<![0-9A-Za-z])[0-9A-Fa-f]{32,64}+(?![0-9A-Za-z])")


class Line(NamedTuple):
    """The line of a candidate: where it is, how many words of prose it holds, whether it is an item of a list."""

    start: int
    end: int
    words: int
    is_item: bool


class Surroundings:
    """Answers questions about places of one text; what costs a pass over it is worked out once, on demand."""

    def __init__(self, document: Document, plain: PlainText) -> None:
        self.document = document
        self.text = plain.text
        self._plain = plain
        self._lines: dict[tuple[int, int], Line] = {}
        self._accusing: dict[int, bool] = {}

    @cached_property
    def is_note(self) -> bool:
        """Whether the text is short and without markup: what stands in it, somebody put there on purpose."""
        return len(self.text) < SHORT_NOTE and not self.document.structured

    def place(self, position: int) -> Place:
        """The place of a character of the plain text."""
        return self.document.place(self._plain.original(position)) if self.document.structured else "main"

    def line(self, start: int, end: int) -> Line:
        span = line_span(self.text, start, end)
        line = self._lines.get(span)
        if line is None:
            content = self.text[span[0] : span[1]]
            line = self._lines[span] = Line(*span, _words(content), _ITEM.match(content) is not None)
        return line

    def holds_hash(self, line: Line) -> bool:
        """Whether a hash stands in the line."""
        return _HASH.search(self.text, line.start, line.end) is not None

    def in_cell(self, line: Line, start: int, end: int) -> bool:
        """Whether `start:end` is all that stands in its cell of a table."""
        text = self.text
        left = max(text.rfind("\t", line.start, start), text.rfind("|", line.start, start))
        rights = [at for at in (text.find("\t", end, line.end), text.find("|", end, line.end)) if at >= 0]
        if left < 0 and not rights:
            return False
        beside = text[left + 1 if left >= 0 else line.start : start] + " " + text[end : min(rights, default=line.end)]
        return not any(character.isalnum() for character in beside[:LONGEST_HEADING])

    def quoted(self, start: int, end: int) -> bool:
        """Whether backticks set `start:end` as code."""
        return "`" in self.text[max(0, start - 3) : start] and "`" in self.text[end : end + 3]

    def in_markdown_link(self, start: int) -> bool:
        """Whether `start` is the target of a link or picture."""
        return self.text.startswith("](", start - 2) if start > 1 else False

    def section(self, position: int) -> Section:
        """What the nearest telling heading above a position announces."""
        starts, sections = self._headings
        index = bisect_right(starts, position) - 1
        return sections[index] if index >= 0 else ""

    def refers(self, line: Line, start: int) -> bool:
        """Whether the words before a candidate, in its sentence, point the reader somewhere."""
        before = self.text[max(line.start, start - 60) : start].rpartition(". ")[2]
        if _FOOTNOTE.fullmatch(before):
            return True
        return not _POINTERS.isdisjoint(_words_of(before))

    def accuses(self, line: Line, start: int, end: int) -> bool:
        """Whether the words around a candidate speak of an attack."""
        block = start // _BLOCK
        found = self._accusing.get(block)
        if found is None or line.start > block * _BLOCK - _WORDING_REACH:
            window = self.text[
                max(line.start, block * _BLOCK - _WORDING_REACH) : min(line.end, end + _WORDING_REACH // 2)
            ]
            found = self._accusing[block] = not _ATTACK_WORDS.isdisjoint(_words_of(window))
        return found

    @cached_property
    def _headings(self) -> tuple[list[int], list[Section]]:
        starts: list[int] = []
        sections: list[Section] = []
        position = 0
        for line in self.text.split("\n"):
            if 2 < len(line) <= LONGEST_HEADING and (" " in line or line[0] in "#=" or line[:-1].isalpha()):
                section = _section_of(line.strip())
                if section:
                    starts.append(position)
                    sections.append(section)
            position += len(line) + 1
        return starts, sections


def _words_of(text: str) -> list[str]:
    """The words of a piece of text in lower case; a dotted name is one word."""
    return [word.rstrip(".") for word in _WORD.findall(text.lower())]


@lru_cache(maxsize=4096)
def _section_of(line: str) -> Section:
    if not _is_heading(line):
        return ""
    if _REFERENCE_HEADING.search(line):
        return "references"
    if _INDICATOR_HEADING.search(line):
        return "indicators"
    return "other" if _OTHER_HEADING.search(line) else ""


def _is_heading(line: str) -> bool:
    if not line or line[0] in "-*|`" or line[-1] in ".,;" or "://" in line or not _MARK_SIGNS.isdisjoint(line):
        return False
    words = line.split()
    if len(words) > MOST_HEADING_WORDS:
        return False
    if line[-1] == ":" or line.isupper():
        return True
    if len(words) <= MOST_TITLE_WORDS:
        capital = [word for word in words if word[0].isupper() or not word[0].isalpha()]
        if len(capital) * 2 >= len(words):
            return True
    return _MARKED_HEADING.match(line) is not None


def _words(text: str) -> int:
    """How many words of prose or code a piece of a line holds; indicators, numbers and signs are none."""
    words = [word for word in text.split() if len(word) > 1]
    return len([word for word in words if word.isalpha() or word[-1] in ";)" or word.strip(_PUNCTUATION).isalpha()])
