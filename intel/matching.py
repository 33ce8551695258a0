"""Why a search found an indicator, told from the search and the record alone.

    reason(parse_search("evil.example"), <http://mail.evil.example/a>)  ->  Match("subdomain", "evil.example")

Of a match in the value itself the most telling way is named; of any other match the way of the first clause that does
not match in the value, so that `how` also tells the class by which results are ordered.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple, Protocol, get_args

from intel.query import Clause, Network, SearchText, host_names, value_words
from intel.words import encoded_words, is_plain

How = Literal["exact", "host", "subdomain", "network", "prefix", "word", "malware", "title", "source", "article"]

_ORDER: Final[tuple[str, ...]] = get_args(How)
# The words of each phrase of a clause between blanks, and as a person reads them; None for those that a prefix begins.
_Sought = Sequence[tuple[str, str | None]]
_ENCODED: Final = re.compile(r"_([0-9a-f]{6})")


class Match(NamedTuple):
    """How a search met a record, and on what: the value, host, network, words, name or title."""

    how: How
    on: str


class Found(Protocol):
    """What a search met: an indicator with the title and source name of its newest article."""

    @property
    def id(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def value(self) -> str: ...
    @property
    def malware(self) -> tuple[str, ...]: ...
    @property
    def title(self) -> str: ...
    @property
    def source_name(self) -> str: ...


class Reasons:
    """Tells how a search found each of its records; what it looks for is put together once for all of them."""

    def __init__(self, text: SearchText) -> None:
        self._text = text
        self._clauses = [(clause, _sought(clause)) for clause in text.clauses]
        self._asks_for_hosts = any(clause.hosts for clause in text.clauses)
        self._word = _only_word(text)
        self._on_word = Match("word", self._word or "")

    def class_of(self, type: str, value: str) -> int:
        """Return where an indicator stands among what the search finds: 0 for an exact value, 1 where every clause
        matches in the value, 2 for any other.
        """
        if (type, value) in self._text.exact:
            return 0
        if self._stands_in(value):
            return 1
        return 2 if None in self._in_value(type, value) else 1

    def of(self, ioc: Found) -> Match:
        """Return how the search found this record, which it did find."""
        if (ioc.type, ioc.value) in self._text.exact:
            return Match("exact", ioc.value)
        if self._stands_in(ioc.value):
            return self._on_word
        in_value = self._in_value(ioc.type, ioc.value)
        if len(in_value) == 1 and in_value[0] is not None:
            return in_value[0]
        elsewhere = [clause for clause, match in zip(self._text.clauses, in_value, strict=True) if match is None]
        if elsewhere:
            return _in_articles(elsewhere, ioc)
        found = [match for match in in_value if match is not None]
        best = min(found, key=lambda match: _ORDER.index(match.how), default=Match("article", self._text.text))
        return Match("word", " ".join(match.on for match in found)) if best.how == "word" else best

    def _stands_in(self, value: str) -> bool:
        """Tell whether the search is one plain word, and stands in a value as it is written."""
        word = self._word
        if word is None or not is_plain(value):
            return False
        written = value.lower()
        place = written.find(word)
        while place >= 0:
            end = place + len(word)
            if not (written[place - 1 : place].isalnum() or written[end : end + 1].isalnum()):
                return True
            place = written.find(word, place + 1)
        return False

    def _in_value(self, type: str, value: str) -> list[Match | None]:
        """Return how each clause matches in a value; None for a clause that does not."""
        spellings = [_parted(spelling) for spelling in value_words(type, value)]
        hosts = host_names(type, value) if self._asks_for_hosts else ()
        return [_in_value(clause, sought, (type, value), hosts, spellings) for clause, sought in self._clauses]


def reason(text: SearchText, ioc: Found) -> Match:
    """Return how this search found this record, which it did find."""
    return Reasons(text).of(ioc)


def decoded(phrase: Iterable[str]) -> str:
    """Return encoded words as a person reads them."""
    text = " ".join(phrase)
    return _ENCODED.sub(lambda match: chr(int(match[1], 16)), text) if "_" in text else text


def met_in(clause: Clause, text: str) -> str | None:
    """Return the words of a text by which a clause matches in it, or None; words are encoded and parted by blanks."""
    return _met_in(_sought(clause), _parted(text))


def _sought(clause: Clause) -> _Sought:
    if clause.prefix:
        return [(f" {' '.join(phrase)}", None) for phrase in clause.phrases]
    return [(f" {' '.join(phrase)} ", decoded(phrase)) for phrase in clause.phrases]


def _only_word(text: SearchText) -> str | None:
    """Return the word that a search is; None for a search that is more, or whose word is encoded."""
    phrase = text.clauses[0].phrases[0] if len(text.clauses) == 1 and text.clauses[0].phrases else ()
    if text.clauses != (Clause(phrases=(phrase,)),) or len(phrase) != 1 or not phrase[0].isalnum():
        return None
    return phrase[0]


def _parted(text: str) -> str:
    """Return a text with a blank around each word, so that a part of it from blank to blank is whole words."""
    return f" {text} "


def _met_in(sought: _Sought, parted: str) -> str | None:
    for words, written in sought:
        place = parted.find(words)
        if place >= 0:
            return written if written is not None else decoded(parted[place + 1 :].partition(" ")[:1])
    return None


def _in_value(
    clause: Clause, sought: _Sought, named: tuple[str, str], hosts: Sequence[str], spellings: Iterable[str]
) -> Match | None:
    type, value = named
    if named in clause.names:
        return Match("exact", value)
    if clause.hosts and (below := next((host for host in clause.hosts if host in hosts), None)) is not None:
        return Match("host" if below == hosts[0] else "subdomain", below)
    if clause.network is not None and type == "ip" and _holds(clause.network, value):
        return Match("network", clause.network.text)
    for spelling in spellings:
        if (met := _met_in(sought, spelling)) is not None:
            return Match("prefix" if clause.prefix else "word", met)
    return None


def _in_articles(clauses: Sequence[Clause], ioc: Found) -> Match:
    clause = clauses[0]
    named = next((name for name in ioc.malware if met_in(clause, encoded_words(name)) is not None), None)
    if named is not None:
        return Match("malware", named)
    if met_in(clause, encoded_words(ioc.title)) is not None:
        return Match("title", ioc.title)
    if met_in(clause, encoded_words(ioc.source_name)) is not None:
        return Match("source", ioc.source_name)
    return Match("article", " ".join(decoded(each.phrases[0]) for each in clauses if each.phrases))


def _holds(network: Network, address: str) -> bool:
    first, ip, last = map(ipaddress.ip_address, (network.first, address, network.last))
    return first.version == ip.version and int(first) <= int(ip) <= int(last)
