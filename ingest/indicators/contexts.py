"""Weigh what the words around a candidate say: one loop over the rows of `contexts.toml` and `people.toml`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from ingest.indicators.late import late
from ingest.indicators.rows import Row, data, told
from ingest.indicators.spoken import Spoken, SpokenSearch
from intel.refanging import DOT

_FILES: Final = ("contexts.toml", "people.toml")
REACH_BEFORE: Final = 120
REACH_AFTER: Final = 100
REACH_OF_A_JOIN: Final = 100
LONGEST_LINE: Final = 400
_MARKUP: Final = "`*"
# `| **Recipient** | `.
_FIRST_CELL: Final = late(r"^(\s*\|?\s*[^\W\d_][^|:\n]{1,39}?)\s*\|\s*\Z")

# One class of characters comes first: that is what the engine skips to at full speed.
_SENTENCE_ENDS: Final = late(
    r"[.!?\u3002\uff01\uff1f\n](?:(?<=[\u3002\uff01\uff1f\n])|(?<=[^\W_][^\WA-Z_][.!?])(?=[\s\"')])"
    r"(?<![ (][DMS]r\.)(?<!Mrs\.)(?<!Dra\.)(?<!Sra\.)(?<!Mme\.)"
    r"(?<!Prof\.)(?<!Ing\.)(?<!Dott\.)(?<![ (]Nr\.)(?<![ (]vs\.)(?<![ (]No\.))"
)
_OTHER_HOST: Final = late(rf"(?:https?://|\*\.)?[\w@-]{{1,64}}(?:[.{DOT}]++[\w-]{{1,63}})+(?:/\S*)?")
# What joins two hosts of a list.
_JOINS: Final = late(
    r"[\s,/&()<>\"'|*_`\u3001\uff0c]*(?:(?:and|or|nor|und|oder|noch|sowie|et|ou|ni|y|o|e|né|и|или|ani|lub|oppure|ovvero"
    r"|oraz|og|och|en|ve|dan|及|和|与|和|와|や|と)\b(?: (?:of|von|van|su|sur|auf|at)\b)?)?"
    r"[\s,\"'(*_`]*(?:(?:the )?(?:ip|address|adres[a-z]*|host|domain)\b[\s\"'(]*)?(?:\*\.)?"
)
# `203.0.113.7 port 443 - grebe.top - HTTPS traffic`.
_IN_ONE_ROW: Final = late(r"(?::[0-9]{2,5}| (?:tcp |udp )?port [0-9]{2,5})? ?(?:[-\u2013\u2014|\u2192]|[-=]>) ?")


@dataclass(frozen=True, slots=True)
class ContextRule(Row):
    """A row of the table: what is said beside candidates of some types, and how much that counts."""

    types: frozenset[str]
    before: Spoken | None
    after: Spoken | None
    line: Spoken | None
    of_others: bool


@dataclass(frozen=True, slots=True)
class Context:
    """The words of a candidate's sentence before and after it, and its line, in lower case."""

    before: str
    after: str
    line: str


@cache
def context_rules() -> tuple[ContextRule, ...]:
    """Return the rows of the table, read once."""
    return tuple(_rule(row) for name in _FILES for row in data(name)["rule"])


@cache
def rules_of_others() -> frozenset[str]:
    """Return the ids of the rows that say of a host that it is somebody's who attacks nobody."""
    return frozenset(rule.id for rule in context_rules() if rule.of_others)


def context_of(text: str, first: int, start: int, end: int, last: int) -> Context:
    """Return the context of `text[start:end]`, which stands on the line `text[first:last]`."""
    before = text[max(first, start - REACH_BEFORE) : start]
    if ends := list(_SENTENCE_ENDS.finditer(before)):
        before = before[ends[-1].end() :]
    after = _SENTENCE_ENDS.split(text[end : min(last, end + REACH_AFTER)], maxsplit=1)[0]
    line = text[first : min(last, first + LONGEST_LINE)] if start - first < LONGEST_LINE else ""
    before = _without_markup(_within_its_clause(before))
    return Context(_plain(before), _plain(after.lstrip(_MARKUP) if after[:1] in _MARKUP else after), _plain(line))


def _plain(piece: str) -> str:
    return piece.lower().replace("'", "\u2019")


def _without_markup(piece: str) -> str:
    """Return a piece without what sets words in bold or as code; the first cell of a row is the label of the next."""
    if "`" in piece or "*" in piece:
        piece = piece.replace("`", "").replace("*", "")
    return _FIRST_CELL.sub(r"\1: ", piece) if "|" in piece else piece


def _within_its_clause(before: str) -> str:
    """Return what stands before a candidate, or before the list of hosts whose last it is, and behind the host before
    that.
    """
    if "." not in before and DOT not in before:
        return before
    end = len(before)
    for host in reversed(list(_OTHER_HOST.finditer(before))):
        if _JOINS.fullmatch(before, host.end(), end) is None:
            return before[host.end() : end]
        end = host.start()
    return before[:end]


def joined_host(text: str, first: int, start: int) -> str:
    """Return the host before `start`, on the line from `first` on, that `and`, `or` or a comma joins to it."""
    before = text[max(first, start - REACH_OF_A_JOIN) : start]
    hosts = list(_OTHER_HOST.finditer(before)) if "." in before or DOT in before else []
    joined = bool(hosts) and (
        _JOINS.fullmatch(before.lower(), hosts[-1].end()) is not None
        or _IN_ONE_ROW.fullmatch(before, hosts[-1].end()) is not None
    )
    return hosts[-1][0] if joined and before[hosts[-1].end() :].strip() else ""


def said_of(type: str, context: Context) -> list[tuple[int, str]]:
    """Return (points, rule) of every row that speaks of a candidate of that type in that context."""
    before, after, line = _searches()
    spoken = before.that_may_stand_in(context.before)
    spoken |= after.that_may_stand_in(context.after)
    spoken |= line.that_may_stand_in(context.line)
    if not spoken:
        return []
    rules = context_rules()
    asked = sorted({number for each in spoken for number in _rules_by_spoken()[each]})
    return [
        (rules[number].points, rules[number].id)
        for number in asked
        if type in rules[number].types and _speaks(rules[number], context, spoken)
    ]


@cache
def _rules_by_spoken() -> dict[Spoken, list[int]]:
    """Return the places in the table of the rows that ask for what may be said, by that."""
    found: dict[Spoken, list[int]] = {}
    for number, rule in enumerate(context_rules()):
        for each in (rule.before, rule.after, rule.line):
            if each:
                found.setdefault(each, []).append(number)
    return found


@cache
def _searches() -> tuple[SpokenSearch, SpokenSearch, SpokenSearch]:
    """Return the search for what all rows look for before a candidate, behind it and on its line."""
    rules = context_rules()
    return (
        SpokenSearch(rule.before for rule in rules if rule.before),
        SpokenSearch(rule.after for rule in rules if rule.after),
        SpokenSearch(rule.line for rule in rules if rule.line),
    )


def _speaks(rule: ContextRule, context: Context, spoken: set[Spoken]) -> bool:
    """Tell whether a row speaks; `spoken`: what may stand somewhere in the context."""
    return bool(
        (rule.before in spoken and rule.before and rule.before.search(context.before))
        or (rule.after in spoken and rule.after and rule.after.match(context.after))
        or (rule.line in spoken and rule.line and rule.line.search(context.line))
    )


def _rule(row: dict[str, Any]) -> ContextRule:
    return ContextRule(
        *told(row),
        frozenset(row["types"]),
        _pattern(row.get("before"), r"\Z"),
        _pattern(row.get("after"), ""),
        _pattern(row.get("line"), ""),
        row.get("of_others", False),
    )


def _pattern(by_language: dict[str, str] | None, end: str) -> Spoken | None:
    return Spoken(by_language, end) if by_language else None
