"""Decide which candidates are indicators, by rules that each have a name and can be explained to an analyst."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Final, NamedTuple

from ingest.indicators import noise
from ingest.indicators.company import Company
from ingest.indicators.contexts import context_of, said_of
from ingest.indicators.hash_kinds import kind_of_other
from ingest.indicators.hosts import is_address
from ingest.indicators.mailboxes import invites_to, is_for_readers, is_for_victims, is_sender
from ingest.indicators.reading import Reading
from ingest.indicators.remarks import FILE, WEIGHT, WORDS, may_name_a_file
from ingest.indicators.sightings import Sighting
from ingest.indicators.surroundings import MOST_WORDS, Line, Section, Surroundings
from ingest.indicators.versions import is_version, may_be_a_version
from intel.refanging import ANY_DOT
from intel.suffixes import is_shared_suffix, registered_domain

THRESHOLD: Final = 1
# The most that section, line, type, value and wording together can say for a candidate, and what a note adds.
MOST_IN_FAVOUR: Final[Mapping[str, int]] = MappingProxyType({"domain": 9, "url": 14, "email": 11})
MOST_IN_WORDING: Final[Mapping[str, int]] = MappingProxyType({"domain": 2, "url": 4, "email": 3})
NOTE_IN_FAVOUR: Final = 2
# A line of more words is prose, and prose has to say what it means.
MOST_WORDS_OF_A_BARE_LINE: Final = 2
# Each costs some 50 microseconds: no text is worth more than a part of a second.
MOST_IN_CONTEXT: Final = 2
MOST_CONTEXTS: Final = 2_000

_HIDDEN: Final = (".onion", ".i2p")
_HIDDEN_SERVICE: Final = re.compile(r"(?:[a-z0-9-]{1,63}\.)?(?:[a-z2-7]{56}\.onion|[a-z2-7]{52}\.b32\.i2p)")
# `0.0.0.0 evil.example` of a file of hosts, `nslookup evil.example 8.8.8.8`.
_BLOCKING: Final = frozenset({"0.0.0.0", "127.0.0.1", "::1"})  # noqa: S104
_OF_A_HOME_NETWORK: Final = re.compile(r"(?:10|192\.168|172\.(?:1[6-9]|2[0-9]|3[01]))\.")
_NAME_AFTER: Final = re.compile(rf"[ \t]+[\w-]{{1,63}}+{ANY_DOT}\w")
_LOOKS_UP: Final = re.compile(r"(?i)\b(?:nslookup|dig|drill|nameservers?|resolvers?)\b")
LONGEST_COMMAND: Final = 300
_HASHES: Final = frozenset({"hash_md5", "hash_sha1", "hash_sha256"})
_HASH_IN_A_PATH: Final = re.compile(r"[/=](?:[0-9a-fA-F]{64}|[0-9a-fA-F]{40}|[0-9a-fA-F]{32})(?![0-9A-Za-z])")
_IDENTIFIERS: Final = frozenset({"cve", "mitre_attack"})


class Verdict(NamedTuple):
    """Whether a candidate is kept, the rule that decided, and how strongly (above 0 is kept).

    `evidence`: (points, rule) of every rule that spoke, where several were weighed.
    """

    kept: bool
    rule: str
    score: int
    evidence: tuple[tuple[int, str], ...] = ()


_PAYLOAD: Final = re.compile(
    r"\.(?:exe|dll|msi|ps1|vbs|vbe|jse?|hta|bat|cmd|scr|jar|apk|elf|bin|dat|iso|img|lnk|zip|rar|7z|sh|xll|docm?|dot[mx]?"
    r"|xls[mb]?|xla[mx]?|pp[ts][mx]?|one|chm|wsf|sct|cpl|vhdx?|iqy|cab|gz|tgz|tar|mips(?:el)?|arm[4-8]?|x86(?:_64)?|rtf|php|txt)(?:$|[?#])"
)
# It begins with a class of two signs, which the engine skips to at full speed.
_READING_MATTER: Final = re.compile(
    r"[/.](?:(?<=/)(?:blogs?|news|articles?|posts?|research|docs?|wiki|reports?|papers?|advisor(?:y|ies)|alerts?|en-us"
    r"|20[0-3][0-9]/[01]?[0-9])/|(?<=/)(?:[a-z0-9]{1,30}-){3,12}[a-z0-9]{1,30}/?(?:$|[?#])"
    r"|(?<=\.)(?:pdf|html?|aspx)(?:$|[?#]))"
)
# A title as the path of an article, under the date or the section of a site.
_SLUG: Final = re.compile(
    r"/(?:blogs?|news|articles?|posts?|research|reports?|advisor(?:y|ies)|insights?|threats?|labs?|20[0-3][0-9](?:/[01]?[0-9]){0,2}(?:/[0-3]?[0-9])?)"
    r"(?:/[a-z0-9-]{1,40}){0,3}/(?=[a-z])(?:[a-z0-9]{1,30}-){2,20}[a-z0-9]{1,30}/?(?:\.html?)?(?:$|[?#])"
)
_PORT_OF_A_URL: Final = re.compile(r"://[^/?#]{1,260}:[0-9]{2,5}(?:[/?#]|$)")
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
_IN_COMPANY: Final[Mapping[Company, tuple[int, str]]] = MappingProxyType(
    {"hosts": (3, "among its like"), "packages": (-4, "among names of packages")}
)
_RESERVED: Final = (-5, "name reserved for examples")
_RESERVED_BUT_LISTED: Final = (-1, "name reserved for examples")
_REFERENCES: Final = (-4, "list of references")
_IN_SECTION: Final = (2, "section of indicators")
_ALONE: Final = (2, "alone on its line")


class Judge:
    """Judges the candidates of one text."""

    def __init__(self, surroundings: Surroundings, disarmed: frozenset[str]) -> None:
        """`disarmed`: the hosts and addresses that the text defangs somewhere."""
        self._around = surroundings
        self._page_defangs = page_defangs = bool(disarmed)
        # In a note of a few lines that defangs nothing, also a well-known host was written down for a reason.
        self._takes_all = surroundings.is_note and not page_defangs
        self._contexts_left = MOST_CONTEXTS
        self._disarmed = disarmed
        self._publisher = registered_domain(surroundings.document.publisher_host)

    def verdict(self, sighting: Sighting, company: Company = "") -> Verdict:
        """Return the verdict on one sighting of a candidate; `company`: what else its list holds."""
        reading, start, end = sighting
        type = reading.type
        if reading.source:
            return self._host_of_another(reading)
        if type in _HASHES:
            return self._hash(reading, start)
        if type in _IDENTIFIERS:
            return _FURNITURE if self._around.in_template(start) else _IDENTIFIER
        if reading.defanged:
            if reading.remark:
                return Verdict(False, reading.remark, 0)
            if type == "email" and self._is_of_an_organisation(reading, start, end):
                return _OF_AN_ORGANISATION
            if noise.is_placeholder(reading.host or reading.value) and not self._is_listed_alone(start, end):
                return _PLACEHOLDER
            return _SHARED if type == "domain" and is_shared_suffix(reading.value) else _DEFANGED
        if type == "ip":
            return self._address(reading, start, end)
        return self._named(reading, start, end, company)

    def _is_listed_alone(self, start: int, end: int) -> bool:
        line = self._around.line(start, end)
        return line.words == 0 and self._around.section(start) == "indicators"

    def _is_of_an_organisation(self, reading: Reading, start: int, end: int) -> bool:
        """Tell whether a mailbox is one by which a well-known organisation asks to be reached."""
        if not noise.is_known_host(reading.host) or noise.is_mailbox_provider(reading.host):
            return False
        return invites_to(self._around.text, self._around.line(start, end).start, start, end)

    @cached_property
    def _disarms_addresses(self) -> bool:
        return any(map(is_address, self._disarmed))

    def is_furniture(self, position: int) -> bool:
        """Tell whether what stands at a place belongs to the page around the article."""
        return self._around.place(position) == "furniture"

    def _hash(self, reading: Reading, start: int) -> Verdict:
        if reading.remark:
            return Verdict(False, reading.remark, 0)
        kind = kind_of_other(self._around.text, reading.type, start)
        return Verdict(False, kind, 0) if kind else _WHOLE_HASH

    def _host_of_another(self, reading: Reading) -> Verdict:
        """Keep the host of a URL or mailbox that is an indicator, unless anyone may use that host."""
        if reading.type == "domain" and "@" in reading.source and "://" not in reading.source:
            common = noise.is_mailbox_provider(reading.value) or noise.is_known_host(reading.value)
            # Who lists a mailbox in an article lists the mailbox; its host may well serve many others.
            return _HOST if self._around.is_note and not common else _HOST_OF_MAILBOX
        if reading.type != "domain":
            return _HOST
        if noise.is_sharing_service(reading.value):
            return _SERVICE
        weighed = not reading.defanged and not self._takes_all
        return _SERVICE if weighed and noise.is_known_host(reading.value) else _HOST

    def _address(self, reading: Reading, start: int, end: int) -> Verdict:
        if reading.remark:
            return Verdict(False, reading.remark, 0)
        if self._around.in_template(start):
            return _FURNITURE
        kind = noise.address_noise(reading.value)
        is_noise = kind and not (self._around.is_note and self._is_meant(kind, start, end))
        may_be_one = ":" not in reading.value and (not is_noise or self._around.is_note)
        if may_be_one and self._is_version(reading.value, start, end):
            return Verdict(False, "version number", 0)
        return Verdict(False, kind, 0) if is_noise else Verdict(True, "address", 5)

    def _is_version(self, address: str, start: int, end: int) -> bool:
        around = self._around
        if is_version(around.text, address, start, end):
            return True
        # An author who defangs addresses does not leave one of them as it is in the middle of a sentence.
        if not self._disarms_addresses or not may_be_a_version(around.text, address, start, end):
            return False
        if address in self._disarmed or noise.address_noise(address) or around.section(start) == "indicators":
            return False
        line = around.line(start, end)
        return around.place(start) == "main" and line.words > 1 and not around.in_cell(line, start, end)

    def _is_meant(self, kind: str, start: int, end: int) -> bool:
        """Tell whether a note may be about an address that is no attacker's; where a name is looked up or blocked,
        no.
        """
        line = self._around.line(start, end)
        before = self._around.text[line.start : start]
        if _OF_A_HOME_NETWORK.match(self._around.text, start) and not self._is_bare(start, end):
            return self._around.accuses(line, start, end)
        if kind == noise.RESOLVER:
            return _LOOKS_UP.search(before[-LONGEST_COMMAND:]) is None
        blocks = self._around.text[start:end] in _BLOCKING and not before.strip()
        return not blocks or _NAME_AFTER.match(self._around.text, end, line.end) is None

    def _named(self, reading: Reading, start: int, end: int, company: Company) -> Verdict:
        """Weigh the evidence around a host, URL or e-mail address that nobody defanged."""
        host = reading.host or reading.value
        section = self._around.section(start)
        evidence = self._against(reading, host, start, end, section)
        if company:
            evidence.append(_IN_COMPANY[company])
        if self._disarmed and self._is_disarmed_elsewhere(host):
            evidence.append((5, "disarmed elsewhere in the text"))
        if _sum(evidence) + self._most_in_favour(reading.type, section) < THRESHOLD:
            return _weighed(evidence)
        line = self._around.line(start, end)
        evidence += self._in_favour(reading, start, end, line, section)
        if noise.is_reserved_host(host) or noise.is_placeholder(host):
            evidence.append(_RESERVED_BUT_LISTED if _is_listed(evidence) else _RESERVED)
        is_file = reading.remark == FILE or (reading.type == "domain" and may_name_a_file(host))
        if is_file and self._around.holds_hash(line):
            evidence.append((-4, "name of the file with a hash beside it"))
        evidence += self._said(reading, start, end, line, evidence)
        if _sum(evidence) >= THRESHOLD and self._around.in_hex_dump(line):
            evidence.append((-8, "column of a hex dump"))
        return _weighed(evidence)

    def _said(
        self, reading: Reading, start: int, end: int, line: Line, evidence: list[tuple[int, str]]
    ) -> list[tuple[int, str]]:
        """Return what the words around a candidate add to the `evidence`, as far as they can change the verdict."""
        score, text = _sum(evidence), self._around.text
        lowest = THRESHOLD - MOST_IN_WORDING[reading.type]
        is_asked = reading.type == "email" and score >= lowest and line.words > 0
        if is_asked and is_for_readers(text, line.start, start, end):
            if self._around.is_note and _REFERENCES in evidence:  # `Contact: a@b.c` is said once
                return []
            return [(-2 if self._around.is_note else -5, "mailbox for readers")]
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

    def _is_disarmed_elsewhere(self, host: str) -> bool:
        """Tell whether the text defangs the host, or one above it; for a service that anyone may use that says
        nothing.
        """
        above = host
        while "." in above:
            if above in self._disarmed:
                return not noise.is_known_host(host) and not is_shared_suffix(above)
            above = above.partition(".")[2]
        return False

    def _against(self, reading: Reading, host: str, start: int, end: int, section: Section) -> list[tuple[int, str]]:
        around = self._around
        evidence: list[tuple[int, str]] = []
        if reading.remark and not (reading.remark == WORDS and around.sets_apart(start, end)):
            evidence.append((-WEIGHT.get(reading.remark, 7), reading.remark))
        if self._publisher and registered_domain(host) == self._publisher:
            evidence.append((-8, "the publisher's own site"))
        if host in noise.REFERENCE_HOSTS or _looks_up_a_file(reading, host) or _is_a_licence(reading, host):
            evidence.append((-8, "reference work"))
        elif reading.type != "email" and noise.is_known_host(host) and not self._is_meant_host(start, end):
            evidence.append(self._at_a_known_host(reading, host, start, end))
        elif host.endswith(_HIDDEN):
            evidence.append((4 if _HIDDEN_SERVICE.fullmatch(host) else 2, "hidden service"))
        if section == "references":
            evidence.append(_REFERENCES)
        if reading.type == "domain" and around.is_home_of_what_is_named(host, start):
            evidence.append((-4, "home page of what is named"))
        if reading.type == "domain" and (is_shared_suffix(host) or self._is_suffix(start)):
            evidence.append((-4, "suffix that many share"))
        evidence += self._against_in_text(reading.type, host, start)
        if reading.type == "email":
            evidence += self._against_mailbox(reading.value, host)
        return evidence

    def _is_meant_host(self, start: int, end: int) -> bool:
        """Tell whether a note names a well-known host for its own sake, and no brand: `Booking.com`."""
        if not self._takes_all or not self._is_bare(start, end) or self._is_blocked(start, end):
            return False
        line = self._around.line(start, end)
        return not self._around.text[line.start : start].strip().lower().endswith("host:")

    def _is_suffix(self, start: int) -> bool:
        """Tell whether only a dot stands before a name: `.kro.kr`, and no `*.evil.example`."""
        return self._around.text[max(0, start - 2) : start].strip(" \t\n(\"'`\u201c,\u3001") == "."

    def _is_blocked(self, start: int, end: int) -> bool:
        """Tell whether the line sends whoever asks for a host to nowhere, as those of a file of hosts do."""
        first = self._around.line(start, end).start
        return self._around.text[first:start].strip() in _BLOCKING

    def _is_bare(self, start: int, end: int) -> bool:
        return self._around.line(start, end).words <= MOST_WORDS_OF_A_BARE_LINE

    def _at_a_known_host(self, reading: Reading, host: str, start: int, end: int) -> tuple[int, str]:
        """Return what a well-known host adds: nothing against a URL from which an attack reads what anyone may put
        there.
        """
        if reading.type == "url":
            if self._around.is_dead_drop(start):
                return 4, "dead drop"
            if noise.holds_anything(host) and self._around.is_fetched(self._around.line(start, end), start):
                return 2, "fetched by a command or request"
        return -6, "well-known host"

    def _against_in_text(self, type: str, host: str, start: int) -> list[tuple[int, str]]:
        evidence: list[tuple[int, str]] = []
        place = self._around.place(start)
        if place == "furniture":
            evidence.append((-6, "page furniture"))
        if place == "link_text" or host in self._around.document.linked_hosts or self._around.in_markdown_link(start):
            evidence.append((-3, "link of the page"))
        if self._page_defangs and (type == "domain" or not self._around.is_note):
            evidence.append((-2, "the text disarms what is dangerous"))
        return evidence

    def _against_mailbox(self, value: str, host: str) -> list[tuple[int, str]]:
        local = value.rpartition("@")[0]
        is_contact, is_note = noise.is_contact_mailbox(local), self._around.is_note
        if noise.is_known_host(host) and not noise.is_mailbox_provider(host):
            return [(-6, "mailbox of a well-known organisation")] if is_contact or not is_note else []
        return [(-3, "mailbox for readers")] if is_contact and not is_note else []

    def _wording(self, reading: Reading, start: int, end: int, line: Line) -> list[tuple[int, str]]:
        """Return what the words around add; asked last, when it can still change the verdict."""
        evidence: list[tuple[int, str]] = []
        if line.start == start and line.end == end:
            return evidence
        if reading.type == "url" and self._around.is_fetched(line, start):
            evidence.append((3, "fetched by a command or request"))
        if self._around.is_of_a_registrar(line, start):
            evidence.append((-5, "pointer for the reader"))
        text, first, is_mailbox = self._around.text, line.start, reading.type == "email"
        for_victims = is_mailbox and is_for_victims(text, first, start, end)
        if for_victims or (is_mailbox and is_sender(text, first, start)):
            evidence.append((3, "spoken of as part of an attack"))
        elif self._around.accuses(line, start, end):
            evidence.append((1 if reading.type == "url" else 2, "spoken of as part of an attack"))
        elif reading.type == "domain" and self._around.in_field_of_a_host(start, end):
            evidence.append((1, "field that holds a host"))
        if self._around.invites(line, start):
            evidence.append((-5, "pointer for the reader"))
        elif not (for_victims or (self._around.is_note and line.words <= MOST_WORDS_OF_A_BARE_LINE)) and (
            self._around.refers(line, start)
        ):
            evidence.append((-2, "pointer for the reader"))
        return evidence

    def _in_favour(self, reading: Reading, start: int, end: int, line: Line, section: Section) -> list[tuple[int, str]]:
        around = self._around
        evidence: list[tuple[int, str]] = []
        if around.is_note and line.words <= MOST_WORDS_OF_A_BARE_LINE:
            evidence.append((2, "a note of a few lines"))
        place = around.place(start)
        is_row = line.words < MOST_WORDS or line.has_cells
        if place == "ioc_section" or (section == "indicators" and is_row):
            evidence.append(_IN_SECTION)
        if line.words == 0 or around.in_cell(line, start, end):
            evidence.append(_ALONE)
            if reading.type == "email" and around.is_among_mailboxes(line):
                evidence.append((2, "among its like"))
        elif line.is_item and line.words <= 5:
            evidence.append((1, "item of a list"))
        if place == "code" or around.quoted(start, end) or (reading.type == "url" and around.in_quotes(start, end)):
            evidence.append((1, "set as code"))
        return evidence + _of_its_own(reading)


def _looks_up_a_file(reading: Reading, host: str) -> bool:
    """Tell whether a URL asks a look-up service about a hash: then the hash is the indicator."""
    asks = reading.type == "url" and registered_domain(host) in noise.LOOKUP_SERVICES
    return asks and _HASH_IN_A_PATH.search(reading.value) is not None


def _is_a_licence(reading: Reading, host: str) -> bool:
    if reading.type != "url" or "/licenses/" not in reading.value:
        return False
    return noise.is_known_host(host) and not noise.holds_anything(host)


def _sum(evidence: list[tuple[int, str]]) -> int:
    return sum([points for points, _ in evidence])


def _weighed(evidence: list[tuple[int, str]]) -> Verdict:
    """Return the verdict with the weightiest of the reasons that speak for it."""
    score = _sum(evidence)
    kept = score >= THRESHOLD
    reasons = [entry for entry in evidence if (entry[0] > 0) == kept]
    rule = max(reasons, key=_weight)[1] if reasons else "nothing speaks for it"
    return Verdict(kept, rule, score, tuple(evidence))


def _weight(entry: tuple[int, str]) -> int:
    return abs(entry[0])


def _is_listed(evidence: list[tuple[int, str]]) -> bool:
    """Tell whether a value is an item of its own among a text's indicators: then its name was not meant as an
    example.
    """
    return _IN_SECTION in evidence and _ALONE in evidence


def _of_its_own(reading: Reading) -> list[tuple[int, str]]:
    """Return the evidence that a value carries by itself."""
    if reading.type == "email":
        return [(3, "mailbox that anyone may have")] if noise.is_mailbox_provider(reading.host) else [(1, "mailbox")]
    if reading.type != "url":
        return []
    evidence: list[tuple[int, str]] = []
    if is_address(reading.host) and not noise.address_noise(reading.host):
        evidence.append((3, "URL on a bare address"))
    url = reading.value.lower()
    if _PORT_OF_A_URL.search(url):
        evidence.append((1, "URL with a port"))
    if _PAYLOAD.search(url):
        evidence.append((1, "path of a program or archive"))
    elif _SLUG.search(url):
        evidence.append((-6, "address of something to read"))
    elif _READING_MATTER.search(url):
        evidence.append((-2, "address of something to read"))
    return evidence
