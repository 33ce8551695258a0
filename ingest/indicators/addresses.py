"""Tell what the line of an address says of it: that a well-known host has it, or that somebody asks about it."""

from __future__ import annotations

import re
from typing import Final

from ingest.indicators import noise
from ingest.indicators.late import late
from ingest.indicators.text_context import TextContext
from intel.refanging import ANY_DOT

# A line of more words is prose, and prose has to say what it means.
MOST_WORDS_OF_A_BARE_LINE: Final = 2
# `0.0.0.0 evil.example` of a file of hosts, `nslookup evil.example 8.8.8.8`.
BLOCKING: Final = frozenset({"0.0.0.0", "127.0.0.1", "::1"})  # noqa: S104
_OF_A_HOME_NETWORK: Final = late(r"(?:10|192\.168|172\.(?:1[6-9]|2[0-9]|3[01]))\.")
# Public behind its prefix, and set apart for nothing: no mask of a network.
_ODD: Final = late(r"(?i)::ffff:|2(?:4[0-9]|5[0-5])\.(?!255\.(?:255|0)\b)")
_ADDRESSES: Final = late(r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}|\w{0,4}:\w{0,4}:[\w:]*")
# `DNS: 192.168.1.254, 80.10.246.2`, `[DhcpNameServer]`, `deny from 38.100.19.8`: what a network asks, and whom a page
# turns away.
_OF_THE_NETWORK: Final = late(
    r"(?i)(?:^|[\s|>,;(])(?:dns[0-9]?(?:[- ]servers?)?\s?[:=]|nameserver\s?[:=]?|\[dhcpnameserver\]"
    r"|(?:default gateway|gw|ntp|router|gateway)\s?[:=]"
    r"|dhcp(?:[- ]server)?\s?[:=]|(?:inetnum|netrange|cidr|route6?)\s?:|(?:deny|allow) from\b"
    r"|require (?:not )?ip\b)\s{0,8}"
    r"(?>(?:[0-9.]{7,15}[, ]{1,3}){0,5})\Z"
)
# What `nslookup` prints first: whom it asked, and behind the answer the servers of names and mail.
_OF_A_LOOK_UP: Final = late(
    r"(?i)(?:(?:\bserver|servidor|serveur|\u0441\u0435\u0440\u0432\u0435\u0440|\u670d\u52a1\u5668|\u4f3a\u670d\u5668|\u30b5\u30fc\u30d0\u30fc)"
    r"\s{0,2}:\s{0,8}[\w.-]{1,120}\s{1,8}address(?:es)?\s{0,2}:|\binternet address\s{0,4}=)\s{0,8}\Z"
)
_BEFORE_AN_ANSWER: Final = frozenset(":=")
_REACH_OF_A_LOOK_UP: Final = 180
# `"dns": ["9.9.9.9", "149.112.112.112"]` of a program's settings.
_SET_AS_RESOLVER: Final = late(
    r"(?i)[\"'](?:dns|name_?servers?|resolvers?)[\w-]{0,12}[\"']\s?:\s{0,8}[\[\s\"']{0,8}(?>(?:[0-9.]{7,15}[\"',\s]{1,8}){0,5})\Z"
)
_NAME_AFTER: Final = late(rf"[ \t]+(?:localhost|ip6-|broadcasthost|[\w-]{{1,63}}+{ANY_DOT}\w)")
_LOOKS_UP: Final = late(r"(?i)\b(?:nslookup|dig|drill|nameservers?|resolvers?)\b")
LONGEST_COMMAND: Final = 300
# `ctldl.windowsupdate.com  A  217.20.57.34`.
_ANSWER: Final = late(
    r"(?<![\w.@/-])(?P<host>[\w-]+(?:\.[\w-]+)+)\.?"
    r"(?:[\s|,:=>()-]{1,20}(?:(?:IN )?A(?:AAA)?|resolve[sd]? to|CNAME)[\s|:=>-]{1,20}|[ \t]{1,4}[-=]{1,2}>[ \t]{1,4})\Z"
)
# What `wget` prints: `Resolving files.example (files.example)... 203.0.113.7, 203.0.113.8`.
_FETCHED: Final = late(
    r"(?:Resolving|Connecting to) (?P<host>[\w-]{1,63}(?:\.[\w-]{1,63})+) \([\w.-]{1,253}\)"
    r"(?:\.\.\. (?:[0-9a-f.:]{3,40}, )*|\|)\Z"
)
# What stands between those and an address, and what is left without it: that is looked at first, for it costs least.
_SIGNS_OF_A_LIST: Final = " \t\xa0.,0123456789"
_ENDS_OF_A_NETWORK: Final = (":", "=", "]", "nameserver", "from", "ip")
_SIGNS_OF_AN_ANSWER: Final = " \t\xa0|:=>-"
_ENDS_OF_AN_ANSWER: Final = ("A", "to", "CNAME")
# `203.0.113.7:443 (outlook.office365.com)`, `ntp.ubuntu.com (203.0.113.7)`.
_HOST_AFTER: Final = late(r"(?::[0-9]{1,5})? \((?P<host>[\w-]+(?:\.[\w-]+)+)\)")
_HOST_BEFORE: Final = late(r"(?<![\w.@/-])(?P<host>[\w-]+(?:\.[\w-]+)+) \(\Z")
_REACH_OF_AN_ANSWER: Final = 120
# `C2: 10.0.0.5`, `Angreifer-IP 192.168.7.7`, `攻击者地址为`: whose an address is, right before it.
_CALLED_THE_ATTACKERS: Final = late(
    r"(?:\b(?:c2|c&c|cnc|command[- ]and[- ]control|attackers?|malicious|malware|ioc|implant|beacon\w*|angreif\w*"
    r"|attaquant\w*|atacante\w*|attaccante|злоумышл\w*)|攻击者|恶意|攻撃者|공격자)"
    r"[’'s]{0,2}(?:[ -](?:server|host|node|ip|address|listener|traffic|adresse|direcci[oó]n|machine)){0,2}"
    r"(?: (?:is|was|at|on|to|from))?[为是はの:：=\s\"'(\[]{0,4}\Z",
    re.IGNORECASE,
)
# `src=203.0.113.7 spt=51422 dst=`: in the row of a log, what somebody from outside reached is whose log it is.
_REACHED: Final = late(
    r"(?i)(?<![a-z])(?:src|source|saddr)(?:[_.-]?(?:ip|addr(?:ess)?))?[\"']?\s?[=:]\s?[\"']?(?P<source>(?:[0-9]{1,3}\.){3}[0-9]{1,3})(?![\w.])"
    r"[^\n]{0,160}(?<![a-z])(?:dst|dest(?:ination)?|daddr)(?:[_.-]?(?:ip|addr(?:ess)?))?[\"']?\s?[=:]\s?[\"']?\Z"
)
_ENDS_OF_A_DESTINATION: Final = ("=", ":", '"', "'")
_REACH_OF_A_CALL: Final = 60


def is_called_the_attackers(text: str, start: int) -> bool:
    """Tell whether the words right before an address call it the attacker's."""
    return _CALLED_THE_ATTACKERS.search(text, max(0, start - _REACH_OF_A_CALL), start) is not None


def is_reached_from_outside(text: str, start: int) -> bool:
    """Tell whether the row of a log names an address as the destination of what came from a public one."""
    if not text[max(0, start - 2) : start].rstrip().endswith(_ENDS_OF_A_DESTINATION):
        return False
    reached = _REACHED.search(text[max(0, start - LONGEST_COMMAND) : start].rpartition("\n")[2])
    return reached is not None and not noise.address_noise(reached["source"])


def counts_up(address: str) -> bool:
    """Tell whether an IPv4 address is made up by counting: `1.2.3.4`, `12.34.56.78`, `3.3.3.3`."""
    if ":" in address:
        return False
    first, second, third, fourth = map(int, address.split("."))
    return second - first == third - second == fourth - third


def is_answer_of_a_known_host(text: str, start: int) -> bool:
    """Tell whether an address is what a well-known host resolves to, in the row of an answer."""
    if text[max(0, start - 12) : start].rstrip()[-1:] in _BEFORE_AN_ANSWER and (
        _OF_A_LOOK_UP.search(text, max(0, start - _REACH_OF_A_LOOK_UP), start)
    ):
        return True
    before = text[max(0, start - LONGEST_COMMAND) : start].rpartition("\n")[2]
    if not before:
        return False
    leads = before.rstrip(_SIGNS_OF_A_LIST)
    may_be_of_the_network = not leads.isascii() or leads[-1:].isspace() or leads.lower().endswith(_ENDS_OF_A_NETWORK)
    if may_be_of_the_network and _OF_THE_NETWORK.search(before[-_REACH_OF_AN_ANSWER:]):
        return True
    if ("... " in before or before.endswith("|")) and (fetched := _FETCHED.search(before)):
        return _is_known(fetched["host"]) or noise.holds_anything(fetched["host"].lower())
    if "." not in before or not before[-1:].isspace():
        return False
    answers = before.rstrip(_SIGNS_OF_AN_ANSWER)
    if not (answers[-1:].isspace() or answers.endswith(_ENDS_OF_AN_ANSWER) or ">" in before[len(answers) :]):
        return False
    answer = _ANSWER.search(before[-_REACH_OF_AN_ANSWER:])
    return answer is not None and _is_known(answer["host"])


def stands_beside_its_known_host(text: str, start: int, end: int) -> bool:
    """Tell whether a well-known host stands in brackets behind an address, or right before it in brackets."""
    beside = _HOST_AFTER.match(text, end, end + _REACH_OF_AN_ANSWER)
    if beside is None and text[start - 1 : start] == "(":
        beside = _HOST_BEFORE.search(text, max(0, start - _REACH_OF_AN_ANSWER), start)
    return beside is not None and _is_known(beside["host"])


def _is_known(host: str) -> bool:
    """Tell whether a host is a well-known one, or one of a provider of mailboxes."""
    return noise.is_known_host(host.lower()) or noise.is_mailbox_provider(host.lower())


def is_asked_about(around: TextContext, kind: str, start: int, end: int, *, beside_others: bool, defangs: bool) -> bool:
    """Tell whether a text of one line may be about an address that is no attacker's; where a name is looked up or
    blocked, no.

    `beside_others`: the text also has public addresses; `defangs`: it defangs something.
    """
    line = around.line(start, end)
    is_bare = line.words <= MOST_WORDS_OF_A_BARE_LINE
    is_of_a_home = _OF_A_HOME_NETWORK.match(around.text, start) is not None
    is_sparse = is_bare or line.words <= len(_ADDRESSES.findall(around.text, line.start, line.end))
    if (
        not is_of_a_home
        and not is_sparse
        and not _ODD.match(around.text, start)
        and not is_called_the_attackers(around.text, start)
    ):
        return False
    if (kind == noise.RESOLVER or is_of_a_home) and beside_others and (defangs or not is_bare):
        return False
    before = around.text[line.start : start]
    if is_of_a_home and not is_bare:
        return is_called_the_attackers(around.text, start)
    if kind == noise.RESOLVER:
        before = before[-LONGEST_COMMAND:]
        return _LOOKS_UP.search(before) is None and _SET_AS_RESOLVER.search(before[-_REACH_OF_AN_ANSWER:]) is None
    blocks = around.text[start:end] in BLOCKING and not before.strip()
    return not blocks or _NAME_AFTER.match(around.text, end, line.end) is None
