"""Decides which candidates are indicators, by rules that each have a name and can be explained to an analyst."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from ingest.indicators import noise
from ingest.indicators.hosts import is_address
from ingest.indicators.reading import Reading
from ingest.indicators.remarks import FILE, WEIGHT
from ingest.indicators.sightings import Sighting
from ingest.indicators.suffixes import is_shared_suffix, registered_domain
from ingest.indicators.surroundings import Line, Surroundings

THRESHOLD: Final = 1

_OTHER_HASH: Final = re.compile(
    r"(?i)(?:imp[- ]?hash|import[- _]hash|authenti[- ]?hash|ja[34]s?|jarm|pe[- ]?hash"
    r"|rich[- _](?:pe[- ]?)?(?:header[- _])?hash|v-?hash"
    r"|telf-?hash|icon[- ]?(?:d-?)?hash|d-?hash|serial(?: (?:number|no\.?))?|machoc|symhash|permhash|gimphash"
    r"|tlsh|ssdeep|sdhash)"
    r"(?: hash| fingerprint| value| sha-?1| sha-?256| md5)?(?: is| was| of)?\W{0,12}$"
)
_HASH_WORDS: Final = ("hash", "ja3", "ja4", "jarm", "serial", "machoc", "ssdeep", "tlsh")
_VERSION_LEAD: Final = re.compile(
    r"(?i)(?:\b(?:versions?|ver|v|builds?|firmware|releases?|released|revision|rev|patch(?:ed)?(?: in)?"
    r"|update[ds]?(?: to)?|sp\d?|before|prior to"
    r"|up to|through|earlier than|later than|fixed in|upgrade to|chrome|firefox|safari|openssl|office|oid|section"
    r"|chapter|and)"
    r"[\s:=(\"']{0,3}|[a-z]/)$"
)
_VERSION_TAIL: Final = re.compile(
    r"(?i)^[\s)]{0,2}(?:\(?(?:and|or) (?:earlier|later|below|above|newer|older|prior)|before the|\(?version"
    r"|\(?build|or (?:later|newer))"
)
_VERSION_WORD: Final = re.compile(r"(?i)\b(?:version|firmware|build|release)s?\b")


class Verdict(NamedTuple):
    """Whether a candidate is kept, the rule that decided, and how strongly (above 0 is kept)."""

    kept: bool
    rule: str
    score: int


_PAYLOAD: Final = re.compile(
    r"(?i)\.(?:exe|dll|msi|ps1|vbs|vbe|jse?|hta|bat|cmd|scr|jar|apk|elf|bin|dat|iso|img|lnk|zip|rar|7z|sh|xll"
    r"|docm?|xlsm?|rtf"
    r"|php|txt)(?:$|[?#])"
)
_READING_MATTER: Final = re.compile(
    r"(?i)/(?:blogs?|news|articles?|posts?|research|docs?|wiki|reports?|papers?|advisor(?:y|ies)|alerts?|en-us"
    r"|20[0-3][0-9]/[01]?[0-9])/"
    r"|/(?:[a-z0-9]{1,30}-){3,12}[a-z0-9]{1,30}/?(?:$|[?#])|\.(?:pdf|html?|aspx)(?:$|[?#])"
)
_IDENTIFIER: Final = Verdict(True, "identifier", 10)
_WHOLE_HASH: Final = Verdict(True, "hash", 9)
_OTHER_HASH_KIND: Final = Verdict(False, "another kind of hash", 0)
_DEFANGED: Final = Verdict(True, "defanged", 8)
_SHARED: Final = Verdict(False, "suffix that many share", 0)
_HOST: Final = Verdict(True, "host of an indicator", 2)
_HOST_OF_MAILBOX: Final = Verdict(False, "host of a mailbox", 0)
_SERVICE: Final = Verdict(False, "host of a service that anyone may use", 0)
_RESERVED: Final = (-5, "name reserved for examples")
_RESERVED_BUT_LISTED: Final = (-1, "name reserved for examples")
_IN_SECTION: Final = (2, "section of indicators")
_ALONE: Final = (2, "alone on its line")


class Judge:
    """Judges the candidates of one text."""

    def __init__(self, surroundings: Surroundings, page_defangs: bool) -> None:
        self._around = surroundings
        self._page_defangs = page_defangs
        # In a note of a few lines that disarms nothing, also a well-known host was written down for a reason.
        self._takes_all = surroundings.is_note and not page_defangs
        self._publisher = registered_domain(surroundings.document.publisher_host)

    def verdict(self, sighting: Sighting, company: bool = False) -> Verdict:
        """The verdict on one sighting of a candidate; `company`: hosts beyond doubt stand beside it."""
        reading = sighting.reading
        if reading.type.startswith("hash_"):
            return self._hash(sighting)
        if reading.type in ("cve", "mitre_attack"):
            return _IDENTIFIER
        if reading.source:
            return self._host_of_another(reading)
        if reading.defanged:
            if reading.remark:
                return Verdict(False, reading.remark, 0)
            shared = reading.type == "domain" and is_shared_suffix(reading.value)
            return _SHARED if shared else _DEFANGED
        if reading.type == "ip":
            return self._address(sighting)
        return self._named(sighting, company)

    def is_furniture(self, position: int) -> bool:
        """Whether what stands at a place belongs to the page around the article."""
        return self._around.place(position) == "furniture"

    def _hash(self, sighting: Sighting) -> Verdict:
        if sighting.reading.remark:
            return Verdict(False, sighting.reading.remark, 0)
        before = self._around.text[max(0, sighting.start - 60) : sighting.start]
        named = any(map(before.lower().__contains__, _HASH_WORDS))
        return _OTHER_HASH_KIND if named and _OTHER_HASH.search(before) else _WHOLE_HASH

    def _host_of_another(self, reading: Reading) -> Verdict:
        """The host of a URL or mailbox that is an indicator is one too, unless anyone may use it."""
        if reading.type == "domain" and "@" in reading.source:
            common = noise.is_mailbox_provider(reading.value) or noise.is_known_host(reading.value)
            # Who lists a mailbox in an article lists the mailbox; its host may well serve many others.
            return _HOST if self._around.is_note and not common else _HOST_OF_MAILBOX
        if (
            reading.type == "domain"
            and not reading.defanged
            and not self._takes_all
            and noise.is_known_host(reading.value)
        ):
            return _SERVICE
        return _HOST

    def _address(self, sighting: Sighting) -> Verdict:
        reading = sighting.reading
        if reading.remark == "network":
            return Verdict(False, "network", 0)
        if reading.remark:
            return Verdict(False, reading.remark, 0)
        kind = noise.address_noise(reading.value)
        if kind and not self._around.is_note:
            return Verdict(False, kind, 0)
        if "." in reading.value and self._is_version(sighting):
            return Verdict(False, "version number", 0)
        return Verdict(True, "address", 5)

    def _is_version(self, sighting: Sighting) -> bool:
        text = self._around.text
        before, after = text[max(0, sighting.start - 60) : sighting.start], text[sighting.end : sighting.end + 30]
        octets = [int(octet) for octet in sighting.reading.value.split(".")]
        if _VERSION_TAIL.match(after):
            return True
        if _VERSION_LEAD.search(before) and (
            max(octets) < 100 or re.search(r"(?i)(?:version|build|firmware|v|/)\W*$", before)
        ):
            return not before.lower().endswith(("and ", "through ")) or bool(_VERSION_WORD.search(before))
        product = re.search(r"(?:^|\s)([A-Z][A-Za-z]+)\s$", before)
        return (
            bool(product)
            and max(octets) < 40
            and product is not None
            and product[1].lower() not in ("ip", "ips", "address", "server", "host", "c2", "the")
        )

    def _named(self, sighting: Sighting, company: bool) -> Verdict:
        """A host, URL or e-mail address that nobody disarmed: the evidence around it decides."""
        reading = sighting.reading
        host = reading.host or reading.value
        line = self._around.line(sighting.start, sighting.end)
        evidence = [*self._against(sighting, host), *self._in_favour(sighting, line)]
        if noise.is_reserved_host(host):
            evidence.append(_RESERVED_BUT_LISTED if _is_listed(evidence) else _RESERVED)
        if reading.remark == FILE and self._around.holds_hash(line):
            evidence.append((-4, "name of the file with a hash beside it"))
        if company:
            evidence.append((3, "among its like"))
        score = sum(points for points, _ in evidence)
        if THRESHOLD - 2 <= score <= THRESHOLD + 1:
            evidence += self._wording(sighting, line)
            score = sum(points for points, _ in evidence)
        kept = score >= THRESHOLD
        reasons = [entry for entry in evidence if (entry[0] > 0) == kept]
        rule = max(reasons, key=lambda entry: abs(entry[0]))[1] if reasons else "nothing speaks for it"
        return Verdict(kept, rule, score)

    def _against(self, sighting: Sighting, host: str) -> list[tuple[int, str]]:
        reading, around = sighting.reading, self._around
        evidence: list[tuple[int, str]] = []
        if reading.remark:
            evidence.append((-WEIGHT.get(reading.remark, 7), reading.remark))
        if self._publisher and registered_domain(host) == self._publisher:
            evidence.append((-8, "the publisher's own site"))
        if host in noise.REFERENCE_HOSTS:
            evidence.append((-8, "reference work"))
        elif reading.type != "email" and not self._takes_all and noise.is_known_host(host):
            evidence.append((-6, "well-known host"))
        if around.section(sighting.start) == "references":
            evidence.append((-4, "list of references"))
        if reading.type == "domain" and is_shared_suffix(host):
            evidence.append((-4, "suffix that many share"))
        if not around.is_note:
            evidence += self._against_in_article(sighting, host)
        if reading.type == "email":
            evidence += self._against_mailbox(reading.value, host)
        return evidence

    def _against_in_article(self, sighting: Sighting, host: str) -> list[tuple[int, str]]:
        evidence: list[tuple[int, str]] = []
        place = self._around.place(sighting.start)
        if place == "furniture":
            evidence.append((-6, "page furniture"))
        if (
            place == "link_text"
            or host in self._around.document.linked_hosts
            or self._around.in_markdown_link(sighting.start)
        ):
            evidence.append((-3, "link of the page"))
        if self._page_defangs:
            evidence.append((-2, "the text disarms what is dangerous"))
        return evidence

    def _against_mailbox(self, value: str, host: str) -> list[tuple[int, str]]:
        local = value.rpartition("@")[0]
        if noise.is_known_host(host) and not noise.is_mailbox_provider(host):
            return [(-6, "mailbox of a well-known organisation")] if not self._around.is_note or local == "git" else []
        return [(-2, "mailbox for readers")] if noise.is_contact_mailbox(local) and not self._around.is_note else []

    def _wording(self, sighting: Sighting, line: Line) -> list[tuple[int, str]]:
        """What the words around say; looked at last, where it can still change the verdict."""
        evidence: list[tuple[int, str]] = []
        if self._around.accuses(line, sighting.start, sighting.end):
            evidence.append((1 if sighting.reading.type == "url" else 2, "spoken of as part of an attack"))
        if not self._around.is_note and self._around.refers(line, sighting.start):
            evidence.append((-2, "pointer for the reader"))
        return evidence

    def _in_favour(self, sighting: Sighting, line: Line) -> list[tuple[int, str]]:
        around = self._around
        evidence: list[tuple[int, str]] = []
        if around.is_note:
            evidence.append((2, "a note of a few lines"))
        section = around.section(sighting.start)
        place = around.place(sighting.start)
        if section == "indicators" or place == "ioc_section":
            evidence.append(_IN_SECTION)
        if line.words == 0 or around.in_cell(line, sighting.start, sighting.end):
            evidence.append(_ALONE)
        elif line.is_item and line.words <= 5:
            evidence.append((1, "item of a list"))
        if around.quoted(sighting.start, sighting.end) or place == "code":
            evidence.append((1, "set as code"))
        return [*evidence, *_of_its_own(sighting.reading, around.is_note)]


def _is_listed(evidence: list[tuple[int, str]]) -> bool:
    """Whether a value is an item of its own among a text's indicators: then its name was not meant as an example."""
    return _IN_SECTION in evidence and _ALONE in evidence


def _of_its_own(reading: Reading, in_a_note: bool) -> list[tuple[int, str]]:
    """What a value tells by itself."""
    if reading.type == "email":
        return [(3, "mailbox that anyone may have")] if noise.is_mailbox_provider(reading.host) else [(1, "mailbox")]
    if reading.type != "url":
        return []
    evidence: list[tuple[int, str]] = []
    if is_address(reading.host) and not noise.address_noise(reading.host):
        evidence.append((3, "URL on a bare address"))
    if _PAYLOAD.search(reading.value):
        evidence.append((1, "path of a program or archive"))
    elif not in_a_note and _READING_MATTER.search(reading.value):
        evidence.append((-2, "address of something to read"))
    return evidence
