"""Decide which candidates are indicators, by rules that each have a name and can be explained to an analyst."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Final, NamedTuple

from ingest.indicators import noise
from ingest.indicators.addresses import (
    BLOCKING,
    MOST_WORDS_OF_A_BARE_LINE,
    counts_up,
    is_answer_of_a_known_host,
    is_asked_about,
    is_called_the_attackers,
    stands_beside_its_known_host,
)
from ingest.indicators.contexts import context_of, said_of
from ingest.indicators.evidence import EVIDENCE, Evidence
from ingest.indicators.hash_kinds import kind_of_other
from ingest.indicators.hosts import is_address
from ingest.indicators.list_context import ListContext
from ingest.indicators.mailboxes import invites_to, is_for_readers, is_for_victims, is_sender
from ingest.indicators.not_a_host import FILE, WORDS, may_name_a_file
from ingest.indicators.own_evidence import NUMBER, is_a_licence, looks_up_a_file, numbers_something, of_its_own
from ingest.indicators.sightings import Sighting
from ingest.indicators.text_context import MOST_WORDS, Line, Section, TextContext
from ingest.indicators.token_candidate import TokenCandidate
from ingest.indicators.versions import is_version, may_be_a_version
from intel.indicator_types import named
from intel.suffixes import is_shared_suffix, is_under_a_shared_suffix, registered_domain

THRESHOLD: Final = 1
# The most that section, line, type, value and wording together can say for a candidate, and what a note adds.
MOST_IN_FAVOUR: Final[Mapping[str, int]] = MappingProxyType({"domain": 9, "url": 14, "email": 11})
MOST_IN_WORDING: Final[Mapping[str, int]] = MappingProxyType({"domain": 2, "url": 4, "email": 3})
NOTE_IN_FAVOUR: Final = 2
# What an objection on a spelling counts that has no row of its own.
_OF_AN_OBJECTION: Final = -7
# Each costs some 50 microseconds: no text is worth more than a part of a second.
MOST_IN_CONTEXT: Final = 3
MOST_CONTEXTS: Final = 2_000

_HIDDEN: Final = (".onion", ".i2p")
_HIDDEN_SERVICE: Final = re.compile(r"(?:[a-z0-9-]{1,63}\.)?(?:[a-z2-7]{56}\.onion|[a-z2-7]{52}\.b32\.i2p)")
_REACH_OF_A_LINE: Final = 120
_SHORTEST_PROSE: Final = 20
_ENDS_WITH: Final = ("'.", '".')  # of a detection rule
_HASHES: Final = named(judgement="hash")
_IDENTIFIERS: Final = named(judgement="identifier")


class Verdict(NamedTuple):
    """Whether a candidate is kept, the rule that decided, and how strongly (above 0 is kept).

    `evidence`: (points, rule) of every rule that spoke, where several were weighed.
    """

    kept: bool
    rule: str
    score: int
    evidence: tuple[Evidence, ...] = ()


_ADDRESS: Final = Verdict(True, "address", 5)
OF_A_KNOWN_HOST: Final = "address of a well-known host"
_MADE_UP: Final = Verdict(False, "address made up by counting", 0)
_FURNITURE: Final = Verdict(False, "page furniture", 0)
_IDENTIFIER: Final = Verdict(True, "identifier", 10)
_WHOLE_HASH: Final = Verdict(True, "hash", 9)
_DEFANGED: Final = Verdict(True, "defanged", 8)
_OF_AN_ORGANISATION: Final = Verdict(False, "mailbox of a well-known organisation", 0)
_PLACEHOLDER: Final = Verdict(False, "name reserved for examples", 0)
_SHARED: Final = Verdict(False, "suffix that many share", 0)
HOST_OF_AN_INDICATOR: Final = "host of an indicator"
_HOST: Final = Verdict(True, HOST_OF_AN_INDICATOR, 2)
_HOST_OF_MAILBOX: Final = Verdict(False, "host of a mailbox", 0)
_SERVICE: Final = Verdict(False, "host of a service that anyone may use", 0)
_IN_LIST: Final[Mapping[ListContext, Evidence]] = MappingProxyType(
    {"hosts": EVIDENCE["among its like"], "packages": EVIDENCE["among names of packages"]}
)
_REFERENCES: Final = EVIDENCE["list of references"]
_IN_SECTION: Final = EVIDENCE["section of indicators"]
_ALONE: Final = EVIDENCE["alone on its line"]


class Judge:
    """Judges the candidates of one text."""

    def __init__(self, context: TextContext, defanged: frozenset[str], *, names_public_addresses: bool = False) -> None:
        """`defanged`: the hosts and addresses that the text defangs somewhere; `names_public_addresses`: whether it has
        an address that may be somebody's.
        """
        self._names_public_addresses = names_public_addresses
        self._around = context
        self._page_defangs = page_defangs = bool(defanged)
        # In a text of one line that defangs nothing, also a well-known host was written down for a reason.
        self._takes_all = context.is_one_line and not page_defangs
        self._contexts_left = MOST_CONTEXTS
        self._defanged = defanged
        self._publisher = registered_domain(context.document.publisher_host)

    def verdict(self, sighting: Sighting, list_context: ListContext = "") -> Verdict:
        """Return the verdict on one sighting of a candidate; `list_context`: what else its list holds."""
        reading, start, end = sighting
        type = reading.type
        if reading.source:
            return self._host_of_another(reading, start, end)
        if type in _HASHES:
            return self._hash(reading, start)
        if type in _IDENTIFIERS:
            if reading.objection or numbers_something(self._around.text, type, start, end):
                return Verdict(False, reading.objection or NUMBER, 0)
            return _FURNITURE if self._around.in_template(start) else _IDENTIFIER
        if reading.defanged:
            if reading.objection:
                return Verdict(False, reading.objection, 0)
            if type == "email" and self._is_of_an_organisation(reading, start, end):
                return _OF_AN_ORGANISATION
            if noise.is_placeholder(reading.host or reading.value) and not self._is_listed_alone(start, end):
                return _PLACEHOLDER
            return _SHARED if type == "domain" and is_shared_suffix(reading.value) else _DEFANGED
        if type == "ip":
            return self._address(reading, start, end)
        return self._named(reading, start, end, list_context)

    def _is_listed_alone(self, start: int, end: int) -> bool:
        line = self._around.line(start, end)
        return line.words == 0 and self._around.section(start) == "indicators"

    def _is_of_an_organisation(self, reading: TokenCandidate, start: int, end: int) -> bool:
        """Tell whether a mailbox is one by which a well-known organisation asks to be reached."""
        if not noise.is_known_host(reading.host) or noise.is_mailbox_provider(reading.host):
            return False
        return invites_to(self._around.text, self._around.line(start, end).start, start, end)

    @cached_property
    def _defangs_addresses(self) -> bool:
        return any(map(is_address, self._defanged))

    def is_furniture(self, position: int) -> bool:
        """Tell whether what stands at a place belongs to the page around the article."""
        return self._around.place(position) == "furniture"

    def _hash(self, reading: TokenCandidate, start: int) -> Verdict:
        if reading.objection:
            return Verdict(False, reading.objection, 0)
        kind = kind_of_other(self._around.text, reading.type, start)
        return Verdict(False, kind, 0) if kind else _WHOLE_HASH

    def _host_of_another(self, reading: TokenCandidate, start: int, end: int) -> Verdict:
        """Keep the host of a URL or mailbox that is an indicator, unless anyone may use that host."""
        if reading.type == "domain" and "@" in reading.source and "://" not in reading.source:
            common = noise.is_mailbox_provider(reading.value) or noise.is_known_host(reading.value)
            # Who lists a mailbox in an article lists the mailbox; its host may well serve many others.
            return _HOST if self._around.is_note and not common else _HOST_OF_MAILBOX
        if reading.type != "domain":
            return _HOST
        if noise.is_sharing_service(reading.value):
            return _SERVICE
        holds_anything = noise.holds_anything(reading.value)
        is_known = holds_anything or noise.is_known_host(reading.value)
        is_service = is_known and not is_under_a_shared_suffix(reading.value)
        is_listed = (self._takes_all and not holds_anything) or (reading.defanged and self._is_bare(start, end))
        return _SERVICE if is_service and not is_listed else _HOST

    def _address(self, reading: TokenCandidate, start: int, end: int) -> Verdict:
        if reading.objection:
            return Verdict(False, reading.objection, 0)
        if self._around.in_template(start):
            return _FURNITURE
        kind = noise.address_noise(reading.value)
        is_meant = self._around.is_one_line and is_asked_about(
            self._around, kind, start, end, beside_others=self._names_public_addresses, defangs=self._page_defangs
        )
        is_noise = kind and not is_meant
        may_be_one = ":" not in reading.value and (not is_noise or self._around.is_note)
        if may_be_one and self._is_version(reading.value, start, end):
            return Verdict(False, "version number", 0)
        if is_noise or self._is_for_documentation(reading.value):
            return Verdict(False, kind or "address for documentation", 0)
        text = self._around.text
        if counts_up(reading.value) and not self._is_pointed_at(start, end):
            return _MADE_UP
        if is_answer_of_a_known_host(text, start) or stands_beside_its_known_host(text, start, end):
            return Verdict(False, OF_A_KNOWN_HOST, 0)
        said = self._said_of_an_address(start, end)
        return _weighed([(5, "address"), *said]) if said else _ADDRESS

    def _is_pointed_at(self, start: int, end: int) -> bool:
        """Tell whether hardly more than an address stands on its line, or the words around it speak of an attack."""
        line = self._around.line(start, end)
        return line.words <= MOST_WORDS_OF_A_BARE_LINE or self._around.accuses(line, start, end)

    def _said_of_an_address(self, start: int, end: int) -> list[Evidence]:
        """Return what the words around an address say of it, in a line of prose."""
        line = self._around.line(start, end)
        said = self._around.text[max(line.start, start - _REACH_OF_A_LINE) : min(line.end, end + _REACH_OF_A_LINE)]
        if (
            (line.words <= MOST_WORDS_OF_A_BARE_LINE and said.isascii() and "(" not in said)
            or len(said) < _SHORTEST_PROSE
            or not self._contexts_left
        ):
            return []
        self._contexts_left -= 1
        return said_of("ip", context_of(self._around.text, line.start, start, end, line.end))

    def _is_version(self, address: str, start: int, end: int) -> bool:
        around = self._around
        if is_version(around.text, address, start, end):
            return True
        # An author who defangs addresses does not leave one of them as it is in the middle of a sentence.
        if not self._defangs_addresses or not may_be_a_version(around.text, address, start, end):
            return False
        if address in self._defanged or noise.address_noise(address) or around.section(start) == "indicators":
            return False
        line = around.line(start, end)
        return around.place(start) == "main" and line.words > 1 and not around.in_cell(line, start, end)

    def _is_for_documentation(self, address: str) -> bool:
        """Tell whether an address is set apart for documentation, in a text that also has others."""
        return self._names_public_addresses and noise.is_for_documentation(address)

    def _named(self, reading: TokenCandidate, start: int, end: int, list_context: ListContext) -> Verdict:
        """Weigh the evidence around a host, URL or e-mail address that nobody defanged."""
        host = reading.host or reading.value
        section = self._around.section(start)
        evidence = self._against(reading, host, start, end, section)
        if list_context and section != "references":
            evidence.append(_IN_LIST[list_context])
        if self._defanged and self._is_defanged_elsewhere(host):
            evidence.append(EVIDENCE["defanged elsewhere in the text"])
        if _sum(evidence) + self._most_in_favour(reading.type, section) < THRESHOLD:
            return _weighed(evidence)
        line = self._around.line(start, end)
        evidence += self._in_favour(reading, start, end, line, section)
        if noise.is_reserved_host(host) or noise.is_placeholder(host):
            is_listed = _is_listed(evidence)
            evidence.append(EVIDENCE["reserved name that is listed" if is_listed else "name reserved for examples"])
        is_file = reading.objection == FILE or (reading.type == "domain" and may_name_a_file(host))
        if is_file and self._around.holds_hash(line):
            evidence.append(EVIDENCE["name of the file with a hash beside it"])
        evidence += self._said(reading, start, end, line, evidence)
        if _sum(evidence) >= THRESHOLD and self._around.in_hex_dump(line):
            evidence.append(EVIDENCE["column of a hex dump"])
        return _weighed(evidence)

    def _said(
        self, reading: TokenCandidate, start: int, end: int, line: Line, evidence: list[Evidence]
    ) -> list[Evidence]:
        """Return what the words around a candidate add to the `evidence`, as far as they can change the verdict."""
        score, text = _sum(evidence), self._around.text
        lowest = THRESHOLD - MOST_IN_WORDING[reading.type]
        is_asked = reading.type == "email" and score >= lowest and line.words > 0
        if is_asked and is_for_readers(text, line.start, start, end):
            if self._around.is_note and _REFERENCES in evidence:  # `Contact: a@b.c` is said once
                return []
            is_said_once = self._around.is_note and not self._page_defangs
            offered = "mailbox for readers, in a note" if is_said_once else "mailbox that a line offers to readers"
            if self._around.is_one_line:
                return [EVIDENCE[offered]]
            return [EVIDENCE[offered], *said_of("email", context_of(text, line.start, start, end, line.end))]
        may_change = lowest - MOST_IN_CONTEXT <= score <= THRESHOLD + 1
        said = self._wording(reading, start, end, line) if may_change else []
        is_whole_line = line.start == start and line.end == end
        if score + _sum(said) >= THRESHOLD - MOST_IN_CONTEXT and not is_whole_line and self._contexts_left:
            self._contexts_left -= 1
            said += said_of(reading.type, context_of(text, line.start, start, end, line.end))
        return said

    def _most_in_favour(self, type: str, section: Section) -> int:
        """Return the most that the remaining evidence can still add for a candidate."""
        elsewhere = section != "indicators" and not self._around.document.structured
        return MOST_IN_FAVOUR[type] + NOTE_IN_FAVOUR * self._around.is_note - elsewhere * _IN_SECTION[0]

    def _is_defanged_elsewhere(self, host: str) -> bool:
        """Tell whether the text defangs the host, or one above it; for a service that anyone may use that says
        nothing.
        """
        above = host
        while "." in above:
            if above in self._defanged:
                return not (noise.is_known_host(host) or noise.is_mailbox_provider(host) or is_shared_suffix(above))
            above = above.partition(".")[2]
        return False

    def _against(self, reading: TokenCandidate, host: str, start: int, end: int, section: Section) -> list[Evidence]:
        around = self._around
        evidence: list[Evidence] = []
        if reading.objection and not (reading.objection == WORDS and around.sets_apart(start, end)):
            evidence.append(EVIDENCE.get(reading.objection) or (_OF_AN_OBJECTION, reading.objection))
        evidence += self._against_host(reading, host, start, end)
        if section == "references":
            evidence.append(_REFERENCES)
        if reading.type == "domain" and around.is_home_of_what_is_named(host, start):
            evidence.append(EVIDENCE["home page of what is named"])
        if reading.type == "domain" and (is_shared_suffix(host) or self._is_suffix(start)):
            evidence.append(EVIDENCE["suffix that many share"])
        evidence += self._against_in_text(reading.type, host, start)
        if reading.type == "email":
            evidence += self._against_mailbox(reading.value, host, start, end)
        return evidence

    def _against_host(self, reading: TokenCandidate, host: str, start: int, end: int) -> list[Evidence]:
        evidence: list[Evidence] = []
        if self._publisher and registered_domain(host) == self._publisher:
            evidence.append(EVIDENCE["the publisher's own site"])
        if reading.type == "url" and is_address(host) and noise.address_noise(host):
            is_listed = self._around.line(start, end).words == 0
            if not is_listed and not is_called_the_attackers(self._around.text, start):
                evidence.append(EVIDENCE["URL on an address that is no one's"])
        elif host in noise.REFERENCE_HOSTS or looks_up_a_file(reading, host) or is_a_licence(reading, host):
            evidence.append(EVIDENCE["reference work"])
        elif reading.type != "email" and noise.is_known_host(host) and not self._is_meant_host(start, end):
            evidence.append(self._at_a_known_host(reading, host, start, end))
        elif host.endswith(_HIDDEN):
            is_whole = _HIDDEN_SERVICE.fullmatch(host)
            evidence.append(EVIDENCE["hidden service" if is_whole else "short name of a hidden service"])
        return evidence

    def _is_meant_host(self, start: int, end: int) -> bool:
        """Tell whether a note names a well-known host for its own sake, and no brand: `Booking.com`."""
        if not self._takes_all or not self._is_bare(start, end) or self._is_blocked(start, end):
            return False
        line = self._around.line(start, end)
        return not self._around.text[line.start : start].strip().lower().endswith("host:")

    def _is_suffix(self, start: int) -> bool:
        """Tell whether only a dot stands before a name: `.kro.kr`, and no `*.evil.example`."""
        before = self._around.text[max(0, start - 2) : start]
        return before not in _ENDS_WITH and before.strip(" \t\n(\"'`\u201c,\u3001") == "."

    def _is_blocked(self, start: int, end: int) -> bool:
        """Tell whether the line sends whoever asks for a host to nowhere, as those of a file of hosts do."""
        first = self._around.line(start, end).start
        return self._around.text[first:start].strip() in BLOCKING

    def _is_bare(self, start: int, end: int) -> bool:
        return self._around.line(start, end).words <= MOST_WORDS_OF_A_BARE_LINE

    def _at_a_known_host(self, reading: TokenCandidate, host: str, start: int, end: int) -> Evidence:
        """Return what a well-known host adds: nothing against a URL from which an attack reads what anyone may put
        there.
        """
        if reading.type == "url":
            holds_anything = noise.holds_anything(host)
            if self._around.is_dead_drop(start) or (holds_anything and self._around.is_read_for_orders(start)):
                return EVIDENCE["dead drop"]
            if (holds_anything or is_under_a_shared_suffix(host)) and self._around.is_fetched(
                self._around.line(start, end), start
            ):
                return EVIDENCE["fetched from where anyone may put something"]
        return EVIDENCE["well-known host"]

    def _against_in_text(self, type: str, host: str, start: int) -> list[Evidence]:
        evidence: list[Evidence] = []
        place = self._around.place(start)
        if place == "furniture":
            evidence.append(EVIDENCE["page furniture"])
        if place == "link_text" or host in self._around.document.linked_hosts or self._around.in_markdown_link(start):
            evidence.append(EVIDENCE["link of the page"])
        if self._page_defangs and (type != "url" or not self._around.is_note):
            evidence.append(EVIDENCE["the text defangs what is dangerous"])
        return evidence

    def _against_mailbox(self, value: str, host: str, start: int, end: int) -> list[Evidence]:
        local, around = value.rpartition("@")[0], self._around
        is_contact, in_a_note = noise.is_contact_mailbox(local), around.is_note and not self._page_defangs
        if noise.is_known_host(host) and not noise.is_mailbox_provider(host):
            return [EVIDENCE["mailbox of a well-known organisation"]] if is_contact or not around.is_one_line else []
        is_desk = noise.is_desk(local) and not is_sender(around.text, around.line(start, end).start, start)
        if is_desk and not self._is_bare(start, end):
            return [EVIDENCE["mailbox of a desk"]]
        if not is_contact:
            return []
        return [EVIDENCE["mailbox for readers, in a note" if in_a_note else "mailbox for readers"]]

    def _wording(self, reading: TokenCandidate, start: int, end: int, line: Line) -> list[Evidence]:
        """Return what the words around add; asked last, when it can still change the verdict."""
        evidence: list[Evidence] = []
        if line.start == start and line.end == end:
            return evidence
        if reading.type == "url" and self._around.is_fetched(line, start):
            evidence.append(EVIDENCE["fetched by a command or request"])
        if self._around.is_of_a_registrar(line, start):
            evidence.append(EVIDENCE["pointer for the reader"])
        text, first, is_mailbox = self._around.text, line.start, reading.type == "email"
        for_victims = is_mailbox and is_for_victims(text, first, start, end)
        if for_victims or (is_mailbox and is_sender(text, first, start)):
            evidence.append(EVIDENCE["mailbox spoken of as part of an attack"])
        elif self._around.accuses(line, start, end):
            is_url = reading.type == "url"
            evidence.append(
                EVIDENCE["URL spoken of as part of an attack" if is_url else "spoken of as part of an attack"]
            )
        elif reading.type == "domain" and self._around.in_field_of_a_host(start, end):
            evidence.append(EVIDENCE["field that holds a host"])
        if self._around.invites(line, start):
            evidence.append(EVIDENCE["pointer for the reader"])
        elif not (for_victims or (self._around.is_note and line.words <= MOST_WORDS_OF_A_BARE_LINE)) and (
            self._around.refers(line, start)
        ):
            evidence.append(EVIDENCE["word of a pointer"])
        return evidence

    def _in_favour(self, reading: TokenCandidate, start: int, end: int, line: Line, section: Section) -> list[Evidence]:
        around = self._around
        evidence: list[Evidence] = []
        if around.is_note and not self._page_defangs and line.words <= MOST_WORDS_OF_A_BARE_LINE:
            evidence.append(EVIDENCE["a note of a few lines"])
        place = around.place(start)
        is_row = line.words < MOST_WORDS or line.has_cells
        if place == "ioc_section" or (section == "indicators" and is_row):
            evidence.append(_IN_SECTION)
        if line.words == 0 or around.in_cell(line, start, end):
            evidence.append(_ALONE)
            if reading.type == "email" and around.is_among_mailboxes(line):
                evidence.append(EVIDENCE["among mailboxes"])
        elif line.is_item and line.words <= 5:
            evidence.append(EVIDENCE["item of a list"])
        if place == "code" or around.quoted(start, end) or (reading.type == "url" and around.in_quotes(start, end)):
            evidence.append(EVIDENCE["set as code"])
        return evidence + of_its_own(reading)


def _sum(evidence: list[Evidence]) -> int:
    return sum([points for points, _ in evidence])


def _weighed(evidence: list[Evidence]) -> Verdict:
    """Return the verdict with the weightiest of the reasons that speak for it."""
    score = _sum(evidence)
    kept = score >= THRESHOLD
    reasons = [entry for entry in evidence if (entry[0] > 0) == kept]
    rule = max(reasons, key=_weight)[1] if reasons else "nothing speaks for it"
    return Verdict(kept, rule, score, tuple(evidence))


def _weight(entry: Evidence) -> int:
    return abs(entry[0])


def _is_listed(evidence: list[Evidence]) -> bool:
    """Tell whether a value is an item of its own among a text's indicators: then its name was not meant as an
    example.
    """
    return _IN_SECTION in evidence and _ALONE in evidence
