"""Collect what a whole text says about its CVEs."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final, Literal, TypedDict

from ingest.wording.binding import bound
from ingest.wording.claims import IN_THE_WILD, PROOF_OF_CONCEPT, claims
from ingest.wording.doubts import without_doubts
from ingest.wording.scores import StatedScore, scores_in
from ingest.wording.sentences import Sentence, sentences
from ingest.wording.tables import written_out

LONGEST_QUOTE: Final = 240
# Weighing a sentence costs some microseconds a character; no article is worth more than a few seconds.
_MOST_WEIGHED: Final = 80_000
_MOST_HOPS: Final = 2
_MOST_FIELDS: Final = 10
_Level = Literal["in_the_wild", "poc"]
_LEVELS: Final[tuple[_Level, _Level]] = ("in_the_wild", "poc")
# What a sentence must hold for any rule to match.
_WORTH: Final = re.compile(
    r"exploit|wild|attack|abus|weaponi|misus|zero-day|0-day|kev\b|hack|compromis|poc|proof|ransom|used|using|uses|"
    r"leverag|"
    r"metasploit|breach|target|chain|enter|broke|honeypot|access|through|via|arsenal|toolkit|repertoire"
)
_ANAPHORA: Final = re.compile(
    r"^(?:\W*)(?:this|the|it|its|these|both|they|those|such|all (?:of them|three|four|two|are|were|have)|exploitation|"
    r"[\w' ]{2,40}, (?:it|both|they|(?:the|this|these) (?:flaw|bug|vulnerability|issue|zero-day|vulnerabilities|"
    r"flaws|bugs))|"
    r"attackers|hackers|threat actors|exploited|exploit|in the wild|active exploitation|cisa|status)\b"
)
_PLURAL: Final = re.compile(
    r"^\W*(?:these|both|they|those|all)\b|\b(?:the|these|both|two|three) (?:\w+ ){0,2}(?:flaws|bugs|"
    r"vulnerabilities|issues|zero-days)\b"
)
_FIELD: Final = re.compile(r"^[\w /()-]{2,40} ?[:=|]")


class Finding(TypedDict, total=False):
    """What an article says about a CVE; each member only where the text says it."""

    exploitation: _Level
    quote: str
    cvss: StatedScore


@dataclass(slots=True)
class _Topic:
    """The CVEs that the sentences before speak of, and how many sentences and fields ago they were named."""

    cves: tuple[str, ...] = ()
    hops: int = 0
    fields: int = 0


@dataclass(slots=True)
class _Found:
    levels: dict[str, tuple[_Level, str]] = field(default_factory=dict)
    scores: dict[str, StatedScore] = field(default_factory=dict)
    weighed: int = 0


def findings_of(text: str, cves: Collection[str]) -> dict[str, Finding]:
    """Return what a text says about the given CVEs (canonical): {CVE: {"exploitation", "quote", "cvss"}}.

    `exploitation` is `in_the_wild` or `poc`, `quote` the first sentence that says so (at most 240 characters), `cvss`
    has `score`, `version` and `vector`; each member only where the text says it. Linear; never raises.
    """
    wanted = frozenset(cves)
    found = _Found()
    topic = _Topic()
    if wanted:
        for sentence in sentences(written_out(text)):
            about = sentence.cves or _carried(sentence, topic)
            if about:
                _look(sentence, about, found)
            topic = _next_topic(sentence, topic, about)
    return {cve: members for cve in sorted(wanted) if (members := _members(cve, found))}


def _members(cve: str, found: _Found) -> Finding:
    members: Finding = {}
    if cve in found.levels:
        members["exploitation"], members["quote"] = found.levels[cve]
    if cve in found.scores:
        members["cvss"] = found.scores[cve]
    return members


def _look(sentence: Sentence, about: tuple[str, ...], found: _Found) -> None:
    for cve, score in scores_in(sentence, about):
        found.scores.setdefault(cve, score)
    settled = all(found.levels.get(cve, ("",))[0] == _LEVELS[0] for cve in about)
    if settled or found.weighed > _MOST_WEIGHED or not _WORTH.search(sentence.plain):
        return
    found.weighed += len(sentence.plain)
    certain = without_doubts(sentence.plain)
    for level, rules in zip(_LEVELS, (IN_THE_WILD, PROOF_OF_CONCEPT), strict=True):
        for span in claims(rules, certain):
            numbers = bound(sentence.plain, span) if sentence.cves else range(len(about))
            for number in numbers:
                _note(found, about[number], level, sentence)


def _note(found: _Found, cve: str, level: _Level, sentence: Sentence) -> None:
    """Keep the strongest claim on a CVE, and the first sentence that makes it."""
    known = found.levels.get(cve)
    if known is None or _LEVELS.index(level) < _LEVELS.index(known[0]):
        found.levels[cve] = (level, " ".join(sentence.written.split())[:LONGEST_QUOTE])


def _carried(sentence: Sentence, topic: _Topic) -> tuple[str, ...]:
    """Return the CVEs that a sentence without any continues to speak of."""
    if not topic.cves or topic.hops >= _MOST_HOPS or topic.fields >= _MOST_FIELDS:
        return ()
    if not (_ANAPHORA.match(sentence.plain) or _FIELD.match(sentence.plain) or _mentions_it(sentence.plain)):
        return ()
    if len(topic.cves) > 1 and not _PLURAL.search(sentence.plain):
        return ()
    return topic.cves


_IT: Final = re.compile(
    r"\b(?:exploit\w*|abus\w+|leverag\w+|attack\w*|target\w*|us(?:ed|ing|e)) (?:it|this|the (?:\w+ )?(?:flaw|bug|"
    r"vulnerability|issue|"
    r"zero-day|weakness|hole))\b|\b(?:the|this|said) (?:\w+ ){0,2}(?:flaw|bug|vulnerability|issue|zero-day|weakness|"
    r"hole|flaws|"
    r"bugs|vulnerabilities|issues)\b"
)


def _mentions_it(plain: str) -> bool:
    return bool(_IT.search(plain))


def _next_topic(sentence: Sentence, topic: _Topic, about: tuple[str, ...]) -> _Topic:
    if sentence.cves:
        return _Topic(sentence.cves)
    if topic.cves and _FIELD.match(sentence.plain):
        return _Topic(topic.cves, topic.hops, topic.fields + 1)
    return _Topic(topic.cves, topic.hops + 1, topic.fields) if about else _Topic()
