"""Read what the clause of a value says of it: whose it is, that it is harmless, what it serves for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from typing import Any, Final

from ingest.indicators.addresses import is_called_the_attackers
from ingest.indicators.evidence import Evidence
from ingest.indicators.late import late
from ingest.indicators.piece_search import PieceSearch
from ingest.indicators.required_pieces import required_pieces
from ingest.indicators.rows import Row, data, told
from ingest.indicators.vocabulary import pieces
from intel.refanging import DOT

REACH: Final = 120
SENTENCE_ENDS: Final = late(r"[!\u3002\uff01\uff1b;\n]|[.](?=\s|$)|\?(?=\s*$)")
# What the clause of another value begins with: an address, a host, a hash.
OTHER_VALUE: Final = late(
    rf"(?:https?://|[\w.+-]{{1,64}}@)?(?<![\w.])[\w-]{{1,63}}(?:[.{DOT}]++[\w-]{{1,63}}){{1,8}}|(?<![0-9a-z])[0-9a-f]{{32,64}}(?![0-9a-z])"
    r"|(?<!\w)(?:[0-9a-f]{1,4}:){3,7}[0-9a-f:]{0,20}"
)
_JOINED: Final = late(
    r"(?:[:/]\d{1,5})?[\s\"'`)\]]{0,3}"
    r"(?:,|/|&|\u3001|\uff0c|(?:,? ?(?:and|und|et|y|e|i|и|і|en|ve|và|dan|和|及|と|와|과)\b))\s?"
    rf"[\w-]{{1,63}}(?:[.{DOT}]++[\w-]{{1,63}})+"
)
# `our gateway (mx.gale.net, 198.51.100.7)`.
_VALUE_BEFORE: Final = late(rf"(?<![\w.-])[\w-]{{1,63}}(?:[.{DOT}]++[\w-]{{1,63}}){{1,8}}(?:,| /) \Z")
_CLOSING: Final = r"(?:[:/]\d{1,5})?[)\]\"”’`*»」）/]{0,3}"
_MARKS: Final = r"\s{0,3}(?:[(\uff08\[,\uff0c\u3001\u2013\u2014=:\uff1a|#-]|->|\u2192|<-|//)\s{0,3}\(?"
_EAST: Final = (
    r"\s?[\u90fd\u5747]?"
    r"(?:\u662f|\u4e3a|\u7cfb|\u5c5e\u4e8e|\u5c6c\u65bc|\u306f|\u304c|\u3067|\ub294|\uc740|\uc774|\uac00)\s?"
)
_WORDS: Final = r"(?:[\w’-]+[ ,:]{1,2}){0,4}?"
_SIGNS: Final = r"[^\uff0c\u3002\uff1b,;\s]{0,8}?"
ANOTHER: Final = "\1"
_END_OF_A_REMARK: Final = late(r"(?:\s[\w’-]+){0,2}\s?(?:[).,;\uff0c\uff09\]]|$)")
_PART_ENDS: Final = late(r"[).,;\uff0c\uff09\]|\t]| (?:and|und|et|y|e|i|и|і|en|ve|và|dan) ")
_PLACE: Final = r"\s(?:in|at|von|in der|à|en|w|в)\s\w+"
_CELLS: Final = late(r"\s?[|;,\t]\s?|\s{2,}")
_NO_CELL: Final = late(r"[,;]\s")
_REMARK: Final = late(r"[`\"\u2019*]{0,3} ?[(\uff08](?P<said>[^()\n\uff09]{2,80})[)\uff09]")
_FIELDS: Final = late(r'"([\w.-]{1,40})"\s?:\s?"([^"\n]{1,80})"')
_LONGEST_RECORD: Final = 400
_PART_CELLS: Final = frozenset(",;|\t")
_FEWEST_SEPARATORS: Final = 2
_MOST_SEPARATORS: Final = 20
# `on our server 198.51.100.7 was seen`: it was seen there, and is somebody's.
_PLACED: Final = late(r"\b(?:on|in|at|auf|im|sur|dans|en|no|na|su|sul|на|в|w|v)\s(?:the\s|an?\s)?\Z")
_JOINTS: Final = frozenset('(\uff08:\uff1a="`')
_REACH_OF_A_DENIAL: Final = 12
_OF_ANOTHER: Final = late(r"(?:[(\uff08,\uff0c;\u2013\u2014]|\A)\s{0,2}(?:and |but |und |et |y |e |и )?\Z")


@dataclass(frozen=True, slots=True)
class Role(Row):
    """A row of the table: what a clause may say of its value, and how much that counts."""

    name: str
    words: str


class _Grammar:
    """The patterns that the tables make, put together once."""

    def __init__(self, tables: dict[str, Any]) -> None:
        copulas, things = _joined(tables["link"]["copulas"].values()), _joined(tables["things"]["words"].values())
        but, accused = tables["link"]["but"]["any"], tables["accused"]["words"]["any"]
        self.cleared = re.compile(_joined(tables["cleared"]["words"].values()))
        self.accused = re.compile(f"{accused}|{pieces('accusing')}|{pieces('lists', 'posing')}|hxxp")
        self.denied = re.compile(tables["denied"]["before"]["any"])
        self.denied_behind = re.compile(tables["denied"]["behind"]["any"])
        said_so = (
            rf"{_CLOSING}(?:{_MARKS})?(?:,?\s{{1,3}}(?:{but}\s)?(?:{copulas})\s|{_EAST})(?P<gap>{_WORDS}|{_SIGNS})"
        )
        beside = rf"{_CLOSING}(?:{_MARKS}(?P<gap>(?:[\w’-]+ )?|{_SIGNS})|\s?(?P<none>))"
        self.linked = re.compile(said_so)
        self.cleared_behind = re.compile(rf"(?:{said_so}|{_CLOSING}(?:{_MARKS})?(?:{_WORDS}|{_SIGNS}))\0")
        self.behind = [
            (role, re.compile(f"{said_so}(?:{role.words})(?!-)"), re.compile(f"{beside}(?:{role.words})(?!-)"))
            for role in clause_roles()
        ]
        owners = (_role("own"), _role("victim"))
        # Whose it is may be said with two words more: `our office in Leeds`.
        more = dict.fromkeys(owners, r"(?: [\w’-]+){0,2}")
        self.cells = [
            (role, re.compile(rf"\W{{0,3}}(?:{role.words}){more.get(role, '')}(?: \([^()]*\))?\W{{0,3}}"))
            for role in clause_roles()
        ]
        link_before = rf"(?:(?:{copulas})\s|[\s(\uff08:\uff1a=,\"`]){{1,4}}"
        east_before = rf"(?:[(\uff08:\uff1a\s]|{_EAST})?"
        self.before = [
            (role, re.compile(
                rf"(?:{role.words})(?:(?:\s|\u2019s )(?:[\w’-]+\s){{0,2}}?(?:{things})(?:{_PLACE})?{link_before}"
                rf"|,?\s?(?:{copulas})\s{{1,2}}|{_SIGNS}(?:{things}){east_before})\Z"))
            for role in owners
        ]  # fmt: skip
        harmless = _role("harmless")
        # `the tool itself is clean (…)`, `a.dll temiz (MD5 …)`.
        bracket = r"\s?[(\uff08](?:(?:md5|sha-?(?:1|2|256))[:=\s]{0,3})?\Z"
        self.before.append((harmless, re.compile(rf"\s(?:{harmless.words}){bracket}")))


def _joined(patterns: Iterable[str]) -> str:
    return "|".join(patterns)


@cache
def clause_roles() -> tuple[Role, ...]:
    """Return the roles of the table, read once."""
    return tuple(Role(*told(row), row["name"], _joined(row["words"].values())) for row in _table()["role"])


@cache
def _role(name: str) -> Role:
    return next(role for role in clause_roles() if role.name == name)


@cache
def _needed() -> PieceSearch:
    """Return the search for pieces of text of which one stands wherever a role may be given."""
    words = [each for row in _table()["role"] for each in row["words"].values()]
    return PieceSearch(chain.from_iterable(map(required_pieces, (*words, *_table()["cleared"]["words"].values()))))


@lru_cache(maxsize=1024)  # the rows of a list say the same beside each value
def _may_give_a_role(said: str) -> bool:
    return _needed().stands_in(said)


def pointing_words() -> dict[str, str]:
    """Return what stands for a value of another line, by what it points to."""
    return dict(_table()["pointing"]["words"])


@cache
def ids_of_roles() -> frozenset[str]:
    """Return the ids of the roles: each says of a value that it is somebody's who attacks nobody."""
    return frozenset(role.id for role in clause_roles())


def _table() -> dict[str, Any]:
    return data("clauses.toml")


@cache
def _grammar() -> _Grammar:
    return _Grammar(_table())


def judging() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return what denies harm, what accuses, and what takes a role back right before it."""
    grammar = _grammar()
    return grammar.cleared, grammar.accused, grammar.denied


def said_in_its_clause(text: str, type: str, line_start: int, start: int, end: int, line_end: int) -> list[Evidence]:
    """Return what the clause of `text[start:end]`, a value of that type, says of it, on the line from `line_start` to
    `line_end`.
    """
    behind = text[end : min(line_end, end + REACH)].lower().replace("'", "\u2019")
    before = text[max(line_start, start - REACH) : start].lower().replace("'", "\u2019")
    role: Role | None = None
    # The other cells of the row of a URL say whom its page imitates: `http://gale-post.com/a,My Card`.
    is_before_a_cell = type == "url" and behind[:1] in _PART_CELLS and not behind[1:2].isspace()
    if not is_before_a_cell and _may_give_a_role(behind):
        role = None if is_called_the_attackers(text, start) else role_behind(clause_behind(behind))
        if type != "url":
            role = role or _role_in_a_cell(behind, text[line_start:line_end])
        if type.startswith("hash") and role is _role("network") and _grammar().linked.match(behind) is None:
            role = None  # `…,setup.lnk,Microsoft Shortcut`: of what kind a file is
    if role is None and text[start - 1 : start] == '"':
        role = _role_in_a_record(text, start, end)
    if role is None and _may_give_a_role(before):
        role = _role_before(_VALUE_BEFORE.sub("", SENTENCE_ENDS.split(before)[-1]))
        if type == "email" and role is _role("own"):  # `our mailbox is` stands in the notes of extortionists
            role = None
    if role is _role("company") and type != "ip":
        return []
    return [(role.points, role.id)] if role else []


def clause_behind(said: str) -> str:
    """Return the clause behind a value, without the values that are joined to it and what a comma parts from it on
    another value; a mark stands where another follows without a comma.
    """
    while (joined := _JOINED.match(said)) is not None:
        said = said[joined.end() :]
    said = SENTENCE_ENDS.split(said, maxsplit=1)[0]
    other = OTHER_VALUE.search(said)
    if other is None:
        return said
    comma = max(said.rfind(sign, 0, other.start()) for sign in ",\uff0c\u3001")
    return said[:comma] if comma > 0 else said[: other.start()] + ANOTHER


def role_behind(said: str) -> Role | None:
    """Return the role that the words right behind a value, or behind what stands for one, give to it."""
    grammar = _grammar()
    said = grammar.cleared.sub("\0", said)
    if grammar.accused.search(said) or grammar.denied_behind.search(said):
        return None
    for role, linked, beside in grammar.behind:
        found = linked.match(said)
        if found is None:
            found = beside.match(said)
            if found is None or not _ends_a_remark(said, found.end(), is_linked=found["none"] is None):
                continue
        if not grammar.denied.search(found["gap"] or ""):
            return role
    return _role("harmless") if grammar.cleared_behind.match(said) else None


def _ends_a_remark(said: str, end: int, *, is_linked: bool) -> bool:
    """Tell whether a remark ends behind its role, before the words on another value; without a link it has to soon."""
    if not is_linked:
        return _END_OF_A_REMARK.match(said, end) is not None
    return not said.endswith(ANOTHER) or _PART_ENDS.search(said, end) is not None


def _role_before(said: str) -> Role | None:
    """Return the role that the words right before a value give to it."""
    for role, pattern in _grammar().before:
        found = pattern.search(said)
        if found is None:
            continue
        denial = _grammar().denied.search(said, max(0, found.start() - _REACH_OF_A_DENIAL), found.start())
        # `(not our gateway 198.51.100.7)` says what is ours.
        if denial and not _OF_ANOTHER.search(said, 0, denial.start()):
            continue
        if said.rstrip()[-1:] in _JOINTS or _PLACED.search(said, 0, found.start()) is None:
            return role
    return None


def _role_in_a_cell(behind: str, line: str) -> Role | None:
    """Return the role that another cell of a value's row, or a part of the remark in brackets, gives to the value."""
    if (remark := _REMARK.match(behind)) is not None:
        behind = remark["said"]
    else:
        separators = [found[0].strip() for found in _CELLS.finditer(line) if not _NO_CELL.fullmatch(found[0])]
        if not _FEWEST_SEPARATORS <= len(separators) <= _MOST_SEPARATORS or len(behind) >= REACH:
            return None
    if _grammar().accused.search(behind):
        return None
    for cell in _CELLS.split(behind):
        for role, pattern in _grammar().cells:
            if pattern.fullmatch(cell):
                return role
    return None


def _role_in_a_record(text: str, start: int, end: int) -> Role | None:
    """Return the role that another field of a value's record gives to it: `{"dst":"203.0.113.7","verdict":"clean"}`."""
    first = text.rfind("{", max(0, start - _LONGEST_RECORD), start)
    last = text.find("}", end, end + _LONGEST_RECORD)
    if first < 0 or last < 0:
        return None
    fields = {key: value.lower() for key, value in _FIELDS.findall(text, first, last)}
    name = next((key for key, value in fields.items() if value == text[start:end].lower()), "")
    for key, value in fields.items():
        whose = key.rpartition("_")[0]
        if whose in fields and whose != name:
            continue
        for role, pattern in _grammar().cells:
            if key != name and pattern.fullmatch(value) and not _grammar().accused.search(value):
                return role
    return None
