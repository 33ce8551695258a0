"""Tell what the line of an address says of it: that a well-known host has it, or that somebody asks about it."""

from __future__ import annotations

import re
from typing import Final

from ingest.indicators import noise
from ingest.indicators.text_context import TextContext
from intel.refanging import ANY_DOT

# A line of more words is prose, and prose has to say what it means.
MOST_WORDS_OF_A_BARE_LINE: Final = 2
# `0.0.0.0 evil.example` of a file of hosts, `nslookup evil.example 8.8.8.8`.
BLOCKING: Final = frozenset({"0.0.0.0", "127.0.0.1", "::1"})  # noqa: S104
_OF_A_HOME_NETWORK: Final = re.compile(r"(?:10|192\.168|172\.(?:1[6-9]|2[0-9]|3[01]))\.")
_NAME_AFTER: Final = re.compile(rf"[ \t]+(?:localhost|ip6-|broadcasthost|[\w-]{{1,63}}+{ANY_DOT}\w)")
_LOOKS_UP: Final = re.compile(r"(?i)\b(?:nslookup|dig|drill|nameservers?|resolvers?)\b")
LONGEST_COMMAND: Final = 300
# `ctldl.windowsupdate.com  A  217.20.57.34`.
_ANSWER: Final = re.compile(
    r"(?<![\w.@/-])(?P<host>[\w-]+(?:\.[\w-]+)+)\.?[\s|,:=>()-]{1,20}"
    r"(?:(?:IN )?A(?:AAA)?|resolve[sd]? to|CNAME)[\s|:=>-]{1,20}\Z"
)
# `203.0.113.7:443 (outlook.office365.com)`, `ntp.ubuntu.com (203.0.113.7)`.
_HOST_AFTER: Final = re.compile(r"(?::[0-9]{1,5})? \((?P<host>[\w-]+(?:\.[\w-]+)+)\)")
_HOST_BEFORE: Final = re.compile(r"(?<![\w.@/-])(?P<host>[\w-]+(?:\.[\w-]+)+) \(\Z")
_REACH_OF_AN_ANSWER: Final = 120


def is_answer_of_a_known_host(text: str, start: int) -> bool:
    """Tell whether an address is what a well-known host resolves to, in the row of an answer."""
    before = text[max(0, start - LONGEST_COMMAND) : start].rpartition("\n")[2]
    if "." not in before or not before[-1:].isspace():
        return False
    answer = _ANSWER.search(before[-_REACH_OF_AN_ANSWER:])
    return answer is not None and noise.is_known_host(answer["host"].lower())


def stands_beside_its_known_host(text: str, start: int, end: int) -> bool:
    """Tell whether a well-known host stands in brackets behind an address, or right before it in brackets."""
    beside = _HOST_AFTER.match(text, end, end + _REACH_OF_AN_ANSWER)
    if beside is None and text[start - 1 : start] == "(":
        beside = _HOST_BEFORE.search(text, max(0, start - _REACH_OF_AN_ANSWER), start)
    return beside is not None and noise.is_known_host(beside["host"].lower())


def is_asked_about(around: TextContext, kind: str, start: int, end: int, *, beside_others: bool, defangs: bool) -> bool:
    """Tell whether a text of one line may be about an address that is no attacker's; where a name is looked up or
    blocked, no.

    `beside_others`: the text also has public addresses; `defangs`: it defangs something.
    """
    line = around.line(start, end)
    is_bare = line.words <= MOST_WORDS_OF_A_BARE_LINE
    is_of_a_home = _OF_A_HOME_NETWORK.match(around.text, start) is not None
    if (kind == noise.RESOLVER or is_of_a_home) and beside_others and (defangs or not is_bare):
        return False
    before = around.text[line.start : start]
    if is_of_a_home and not is_bare:
        return around.accuses(line, start, end)
    if kind == noise.RESOLVER:
        return _LOOKS_UP.search(before[-LONGEST_COMMAND:]) is None
    blocks = around.text[start:end] in BLOCKING and not before.strip()
    return not blocks or _NAME_AFTER.match(around.text, end, line.end) is None
