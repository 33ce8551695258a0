"""Decide which candidates are indicators, by rules that each have a name and can be explained to an analyst."""

from __future__ import annotations

from functools import cached_property
from typing import Final

from ingest.indicators import noise
from ingest.indicators.addresses import (
    MOST_WORDS_OF_A_BARE_LINE,
    counts_up,
    is_answer_of_a_known_host,
    is_asked_about,
    is_called_the_attackers,
    is_reached_from_outside,
    stands_beside_its_known_host,
)
from ingest.indicators.around import said_around
from ingest.indicators.clauses import said_in_its_clause
from ingest.indicators.contexts import context_of, said_of
from ingest.indicators.evidence import Evidence
from ingest.indicators.harmless_lists import HARMLESS_LIST, HarmlessLists
from ingest.indicators.hash_kinds import HARMLESS, is_an_item, kind_of_other, says_harmless
from ingest.indicators.host_evidence import HostEvidence
from ingest.indicators.hosts import is_address
from ingest.indicators.late import late
from ingest.indicators.list_context import ListContext
from ingest.indicators.mailboxes import invites_to, signs_a_text
from ingest.indicators.not_a_host import FILE, may_name_an_archive
from ingest.indicators.notes import said_of_all
from ingest.indicators.own_evidence import NUMBER, numbers_something, part_of_something
from ingest.indicators.pointing import PointedRows
from ingest.indicators.sightings import Sighting
from ingest.indicators.taught import TAUGHT, TaughtHosts
from ingest.indicators.text_context import Line, TextContext
from ingest.indicators.token_candidate import TokenCandidate
from ingest.indicators.unlikely_addresses import is_too_small, stands_in_an_example
from ingest.indicators.verdict import Verdict, weighed
from ingest.indicators.versions import is_version, may_be_a_version
from intel.indicator_types import named
from intel.suffixes import is_shared_suffix, is_under_a_shared_suffix

# Each costs some 50 microseconds: no text is worth more than a part of a second.
MOST_CONTEXTS: Final = 2_000
# After so many places where a number is a version, it is not asked about again.
MOST_VERSIONS: Final = 4

_BEFORE_AN_ITEM: Final = ' \t-*`"\u2022>#0123456789.)'
_PART_CELLS: Final = ",;|\t"
# A row that a name server answers: `gale-post.github.io. 3600 IN A `.
_OF_A_NAME_SERVER: Final = late(r"\bIN[ \t]+A{1,4}[ \t]+\Z")
# What the line of a log of requests goes on with behind an address: `66.249.66.1 - - [21/Apr/2025:03:14:31 +0000]`.
_OF_A_REQUEST: Final = late(r" [^\s\[]{1,40} [^\s\[]{1,40} \[\d")
_REACH_OF_A_PATH: Final = 5_000
_REACH_OF_A_LINE: Final = 120
_SHORTEST_PROSE: Final = 20
_SEPARATORS_OF_A_ROW: Final = 2
_HASHES: Final = named(judgement="hash")
_IDENTIFIERS: Final = named(judgement="identifier")

_ADDRESS: Final = Verdict(True, "address", 5)
OF_A_KNOWN_HOST: Final = "address of a well-known host"
_SHARED_FRONT: Final = Verdict(False, "address that very many share", 0)
_NETWORK: Final = Verdict(False, "network", 0)
_REACHED: Final = Verdict(False, "reached from outside", 0)
_MADE_UP: Final = Verdict(False, "address made up by counting", 0)
_FURNITURE: Final = Verdict(False, "boilerplate", 0)
_TAUGHT: Final = Verdict(False, TAUGHT, 0)
_SPELLED: Final = frozenset({"ip", "domain", "url", "email"})
_HOSTS: Final = frozenset({"domain", "url"})
_NAMED: Final = frozenset({"domain", "url", "email"})
_MASKED: Final = Verdict(False, "name with a part left out", 0)
_LISTED_AS_HARMLESS: Final = Verdict(False, HARMLESS_LIST, 0)
_IDENTIFIER: Final = Verdict(True, "identifier", 10)
_WHOLE_HASH: Final = Verdict(True, "hash", 9)
_DEFANGED: Final = Verdict(True, "defanged", 8)
_OF_NO_HARM: Final = Verdict(False, "named in a note that speaks of no harm", 0)
_OF_AN_ORGANISATION: Final = Verdict(False, "mailbox of a well-known organisation", 0)
_SIGNED: Final = Verdict(False, "byline", 0)
_PLACEHOLDER: Final = Verdict(False, "name reserved for examples", 0)
_SHARED: Final = Verdict(False, "suffix that many share", 0)
HOST_OF_AN_INDICATOR: Final = "host of an indicator"
_HOST: Final = Verdict(True, HOST_OF_AN_INDICATOR, 2)
_HOST_OF_MAILBOX: Final = Verdict(False, "host of a mailbox", 0)
_REFERENCE: Final = Verdict(False, "host that readers are sent to", 0)
_SERVICE: Final = Verdict(False, "host of a service that anyone may use", 0)


class Judge:
    """Judges the candidates of one text."""

    def __init__(
        self,
        context: TextContext,
        seen: list[Sighting],
        defanged: frozenset[str],
        *,
        names_public_addresses: bool = False,
    ) -> None:
        """`seen`: all candidates of the text; `defanged`: the hosts and addresses that it defangs somewhere;
        `names_public_addresses`: whether it has an address that may be somebody's.
        """
        self._names_public_addresses = names_public_addresses
        self._around = context
        self._page_defangs = page_defangs = bool(defanged)
        # In a text of one line that defangs nothing, also a well-known host was written down for a reason.
        self._takes_all = context.is_one_line and not page_defangs
        self._contexts_left = MOST_CONTEXTS
        self._versions: dict[str, int] = {}
        self._defanged = defanged
        self._taught = TaughtHosts(context)
        self._hosts = HostEvidence(context, seen, defanged, self._said_beside)

    def verdict(self, sighting: Sighting, list_context: ListContext = "") -> Verdict:
        """Return the verdict on one sighting of a candidate; `list_context`: what else its list holds."""
        reading, start, end = sighting
        type = reading.type
        if self._sets_aside and type not in _IDENTIFIERS and (aside := self._set_aside(reading, start, end)):
            return aside
        if type in _NAMED and noise.is_masked_host(reading.host or reading.value):
            return _MASKED
        if reading.source:
            return self._host_of_another(reading, start, end)
        if type in _HASHES:
            return self._unless_of_no_harm(self._hash(reading, start, end), type, start, end)
        if type in _HOSTS and (of_something := part_of_something(self._around.text, reading.value, start)):
            return Verdict(False, of_something, 0)
        if type in _IDENTIFIERS:
            if reading.objection or numbers_something(self._around.text, type, start, end):
                return Verdict(False, reading.objection or NUMBER, 0)
            return _FURNITURE if self._around.in_template(start) else _IDENTIFIER
        if reading.defanged:
            return self._defanged_verdict(reading, start, end)
        if type == "ip":
            return self._unless_of_no_harm(self._address(reading, start, end), type, start, end)
        return self._hosts.verdict(reading, start, end, list_context)

    def _set_aside(self, reading: TokenCandidate, start: int, end: int) -> Verdict | None:
        """Return the verdict on what the text names and says to be no indicator, whatever stands beside it."""
        if self._harmless_lists.hold(start, is_file=reading.type in _HASHES):
            return _LISTED_AS_HARMLESS
        if reading.type in _SPELLED and self._taught.hold(reading.value, start, end):
            return _TAUGHT
        return self._of_the_note if self._of_the_note and not reading.defanged and not reading.source else None

    def _unless_of_no_harm(self, verdict: Verdict, type: str, start: int, end: int) -> Verdict:
        """Take back the verdict on a hash or address that a note without a word of harm names."""
        is_taken_back = (
            verdict.kept
            and not self._page_defangs
            and self._around.is_of_no_harm
            and self._is_said_of(type, start, end)
        )
        return _OF_NO_HARM if is_taken_back else verdict

    def _is_said_of(self, type: str, start: int, end: int) -> bool:
        """Tell whether a hash is not alone in its row, or an address stands among words that do not call it the
        attacker's.
        """
        line = self._around.line(start, end)
        if self._around.begins_a_row(line, start, end):
            return False
        return type in _HASHES or (
            line.words > MOST_WORDS_OF_A_BARE_LINE and not is_called_the_attackers(self._around.text, start)
        )

    def _defanged_verdict(self, reading: TokenCandidate, start: int, end: int) -> Verdict:
        if reading.objection:
            return Verdict(False, reading.objection, 0)
        if reading.type == "domain" and may_name_an_archive(reading.value):
            line = self._around.line(start, end)
            if (not line.words and self._around.holds_hash(line)) or self._is_in_a_path(start, end):
                return Verdict(False, FILE, 0)
        if reading.type == "email":
            if self._is_of_an_organisation(reading, start, end):
                return _OF_AN_ORGANISATION
            if signs_a_text(self._around.text, self._around.line(start, end).start, start, end):
                return _SIGNED
        if (
            reading.type == "ip"
            and (kind := noise.address_noise(reading.value))
            and self._around.line(start, end).words
        ):
            return Verdict(False, kind, 0)
        if reading.type != "email" and noise.is_reference_host(reading.host or reading.value) and not self._takes_all:
            return _REFERENCE
        if noise.is_placeholder(reading.host or reading.value) and not self._is_listed_alone(start, end):
            return _PLACEHOLDER
        return _SHARED if reading.type == "domain" and is_shared_suffix(reading.value) else _DEFANGED

    def _is_in_a_path(self, start: int, end: int) -> bool:
        """Tell whether a name stands behind a folder, here or somewhere before: `%TEMP%\\gale[.]zip`."""
        text = self._around.text
        return (
            text[start - 1 : start] == "\\" or f"\\{text[start:end]}" in text[max(0, start - _REACH_OF_A_PATH) : start]
        )

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

    @cached_property
    def _of_the_note(self) -> Verdict | None:
        """Return the verdict on all that a note names, if it says that this is no threat, and defangs nothing."""
        if not self._around.is_note or self._page_defangs:
            return None
        said = said_of_all(self._around.text, names_malware=self._around.names_malware)
        return weighed([*said]) if said else None

    @cached_property
    def _sets_aside(self) -> bool:
        """Whether the text says of anything at all that it is no indicator, whatever stands beside it."""
        return self._harmless_lists.are_any or self._taught.are_any or self._of_the_note is not None

    @cached_property
    def _harmless_lists(self) -> HarmlessLists:
        return HarmlessLists(self._around.text)

    def _hash(self, reading: TokenCandidate, start: int, end: int) -> Verdict:
        if reading.objection:
            return Verdict(False, reading.objection, 0)
        kind = kind_of_other(self._around.text, reading.type, start)
        if not kind and self._around.section(start) == "references" and says_harmless(self._around.heading(start)):
            kind = HARMLESS
        if kind:
            return Verdict(False, kind, 0)
        said = self._said_of_a_hash(reading.type, start, end)
        return weighed([(_WHOLE_HASH.score, _WHOLE_HASH.rule), *said]) if said else _WHOLE_HASH

    def _said_of_a_hash(self, type: str, start: int, end: int) -> list[Evidence]:
        if not self._contexts_left:
            return []
        if is_an_item(self._around.text, start, end):
            self._contexts_left -= 1
            return self._said_elsewhere(type, start)
        line = self._around.line(start, end)
        if (line.start, line.end) == (start, end):
            return []
        self._contexts_left -= 1
        return self._said_in_its_clause(type, line, start, end)

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
        if not is_known or is_under_a_shared_suffix(reading.value):
            return _HOST
        is_listed = (self._takes_all and not holds_anything) or (reading.defanged and self._is_bare(start, end))
        return _HOST if is_listed else _SERVICE

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
        if may_be_one and self._is_often_a_version(reading.value, start, end):
            return Verdict(False, "version number", 0)
        # No machine has the address of a network.
        if may_be_one and reading.value.endswith((".0.0", ".255.255")) and self._around.text[end : end + 1] != "/":
            return _NETWORK
        if is_noise or self._is_for_documentation(reading.value, start, end):
            return Verdict(False, kind or "address for documentation", 0)
        text = self._around.text
        if counts_up(reading.value) and not self._is_pointed_at(start, end):
            return _MADE_UP
        if is_answer_of_a_known_host(text, start) or stands_beside_its_known_host(text, start, end):
            return Verdict(False, OF_A_KNOWN_HOST, 0)
        if is_reached_from_outside(text, start):
            return _REACHED
        if noise.is_shared_front(reading.value) and not self._is_named_for_itself(start, end):
            return _SHARED_FRONT
        said = self._said_of_an_address(start, end)
        return weighed([(5, "address"), *said]) if said else _ADDRESS

    def _is_named_for_itself(self, start: int, end: int) -> bool:
        """Tell whether an address begins a row or item that is no line of a log, stands in a section of indicators, or
        is the attacker's.
        """
        line = self._around.line(start, end)
        before = self._around.text[line.start : start]
        if _OF_A_NAME_SERVER.search(before):
            return is_called_the_attackers(self._around.text, start)
        before = before.strip(_BEFORE_AN_ITEM)
        is_a_row = before[-1] in _PART_CELLS if before else _OF_A_REQUEST.match(self._around.text, end) is None
        if is_a_row or self._around.section(start) == "indicators":
            return True
        return is_called_the_attackers(self._around.text, start)

    def _is_pointed_at(self, start: int, end: int) -> bool:
        """Tell whether hardly more than an address stands on its line, or the words around it speak of an attack."""
        line = self._around.line(start, end)
        return line.words <= MOST_WORDS_OF_A_BARE_LINE or self._around.accuses(line, start, end)

    def _said_of_an_address(self, start: int, end: int) -> list[Evidence]:
        """Return what the words around an address say of it, in a line of prose."""
        line = self._around.line(start, end)
        if line.start == start and line.end == end:
            return []
        said = self._around.text[max(line.start, start - _REACH_OF_A_LINE) : min(line.end, end + _REACH_OF_A_LINE)]
        is_quoted = self._around.text[start - 1 : start] == '"'
        is_bare = line.words <= MOST_WORDS_OF_A_BARE_LINE and said.isascii() and "(" not in said and not is_quoted
        is_bare = is_bare and not line.has_cells and said.count(";") + said.count(",") < _SEPARATORS_OF_A_ROW
        if is_bare or len(said) < _SHORTEST_PROSE:
            return self._said_elsewhere("ip", start)
        return self._said_beside("ip", line, start, end)

    def _said_beside(self, type: str, line: Line, start: int, end: int) -> list[Evidence]:
        """Return what the words of the sentence say of what stands there, while there is time to ask."""
        if not self._contexts_left:
            return []
        self._contexts_left -= 1
        said = said_of(type, context_of(self._around.text, line.start, start, end, line.end))
        return said + self._said_in_its_clause(type, line, start, end)

    def _said_in_its_clause(self, type: str, line: Line, start: int, end: int) -> list[Evidence]:
        said = said_in_its_clause(self._around.text, type, line.start, start, end, line.end)
        if not said and not line.has_cells and self._around.section(start) != "indicators":
            said = said_around(self._around.text, type, line.start, start, end, line.end)
        return said or self._said_elsewhere(type, start)

    def _said_elsewhere(self, type: str, start: int) -> list[Evidence]:
        """Return what another line of a note says of the row of what stands there."""
        return self._pointed_rows.said_of(type, start) if self._around.is_note else []

    @cached_property
    def _pointed_rows(self) -> PointedRows:
        return PointedRows(self._around.text)

    def _is_often_a_version(self, address: str, start: int, end: int) -> bool:
        """Tell whether a number is a version, as it is for good when it was one several times."""
        times = self._versions.get(address, 0)
        if times < MOST_VERSIONS and self._is_version(address, start, end):
            self._versions[address] = times = times + 1
            return True
        return times >= MOST_VERSIONS

    def _is_version(self, address: str, start: int, end: int) -> bool:
        around = self._around
        if is_version(around.text, address, start, end):
            return True
        # An author who defangs addresses does not leave one of them as it is in the middle of a sentence.
        is_left = self._defangs_addresses and may_be_a_version(around.text, address, start, end)
        if not is_left and not is_too_small(around.text, address, start, end):
            return False
        if address in self._defanged or noise.address_noise(address) or around.section(start) == "indicators":
            return False
        line = around.line(start, end)
        return around.place(start) == "main" and line.words > 1 and not around.in_cell(line, start, end)

    def _is_for_documentation(self, address: str, start: int, end: int) -> bool:
        """Tell whether an address is set apart for documentation, and the text has others, defangs what it means, or
        shows an example.
        """
        if not noise.is_for_documentation(address):
            return False
        if self._names_public_addresses or self._around.line(start, end).words == 0:
            return self._names_public_addresses
        left_as_it_is = self._page_defangs and address not in self._defanged
        return left_as_it_is or stands_in_an_example(self._around.text, start, end)

    def _is_bare(self, start: int, end: int) -> bool:
        return self._around.line(start, end).words <= MOST_WORDS_OF_A_BARE_LINE
