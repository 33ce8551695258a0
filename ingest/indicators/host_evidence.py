"""Weigh what speaks for and against a host, URL or mailbox that nobody defanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Final

from ingest.indicators import noise
from ingest.indicators.addresses import BLOCKING, MOST_WORDS_OF_A_BARE_LINE, is_called_the_attackers
from ingest.indicators.clauses import ids_of_roles
from ingest.indicators.columns import said_in_its_column
from ingest.indicators.contexts import joined_host
from ingest.indicators.evidence import EVIDENCE, Evidence
from ingest.indicators.file_names import FileNames
from ingest.indicators.hosts import is_address
from ingest.indicators.known_hosts import KnownHosts
from ingest.indicators.late import late
from ingest.indicators.learned import MOST_FOR as LEARNED_FOR
from ingest.indicators.learned import TextWords, of_what_was_learned
from ingest.indicators.list_context import ListContext
from ingest.indicators.lookalikes import Lookalikes
from ingest.indicators.looks import MOST_AGAINST, MOST_FOR, of_its_looks
from ingest.indicators.lures import ends_a_lure, speaks_of_fraud
from ingest.indicators.mailboxes import is_for_readers, is_for_victims, is_sender
from ingest.indicators.not_a_host import FILE, PART_OF_A_PATH, WORDS, may_name_a_file
from ingest.indicators.own_evidence import is_a_licence, looks_up_a_file, of_its_own, whom_it_is_about
from ingest.indicators.sections import Section
from ingest.indicators.senders import ends_mailboxes, kind_of_sender
from ingest.indicators.sightings import Sighting
from ingest.indicators.stored import is_stored
from ingest.indicators.tables import ValueTables
from ingest.indicators.text_context import MOST_WORDS, Line, TextContext
from ingest.indicators.token_candidate import TokenCandidate
from ingest.indicators.typed_rows import is_head_of, is_something_else, is_typed, stands_with_an_address
from ingest.indicators.verdict import THRESHOLD, Verdict, sum_of, weighed
from ingest.indicators.vocabulary import words
from intel.refanging import without_marks
from intel.suffixes import is_shared_suffix, registered_domain

# The most that section, line, type, value, looks and wording together can say for a candidate, and what a note adds.
MOST_IN_FAVOUR: Final[Mapping[str, int]] = MappingProxyType({"domain": 14, "url": 19, "email": 16})
MOST_IN_WORDING: Final[Mapping[str, int]] = MappingProxyType({"domain": 2, "url": 4, "email": 3})
NOTE_IN_FAVOUR: Final = 2
# What an objection on a spelling counts that has no row of its own.
_OF_AN_OBJECTION: Final = -7
MOST_IN_CONTEXT: Final = 3

# Each costs some 30 microseconds.
MOST_TABLES: Final = 1_000
MOST_SENDERS: Final = 1_000  # each costs some 200
_PORT: Final = late(r":[0-9]{2,5}(?![\w:.]\w)")
_HIDDEN: Final = (".onion", ".i2p")
_HIDDEN_SERVICE: Final = late(r"(?:[a-z0-9-]{1,63}\.)?(?:[a-z2-7]{56}\.onion|[a-z2-7]{52}\.b32\.i2p)")
_INSIDE: Final = tuple(f".{label}." for label in words("inside"))
_KEEP_OFF: Final = "readers are told to keep off"
# What such words say of a value elsewhere, and not there.
_POINTING: Final = frozenset(
    {"where others wrote about it", "pointer for the reader", "field for the reader", "not this but another"}
)
_ENDS_WITH: Final = ("'.", '".')  # of a detection rule
_IN_LIST: Final[Mapping[ListContext, Evidence]] = MappingProxyType(
    {"hosts": EVIDENCE["among its like"], "packages": EVIDENCE["among names of packages"]}
)
_REFERENCES: Final = EVIDENCE["list of references"]
_IN_SECTION: Final = EVIDENCE["section of indicators"]
_ALONE: Final = EVIDENCE["alone on its line"]
_WARNED_OF: Final = EVIDENCE["sender of what is warned of"]
_OF_A_DEFANGED: Final = EVIDENCE["imitated by what the text defangs"]
_LISTED: Final = frozenset((_IN_SECTION, _ALONE, _IN_LIST["hosts"], EVIDENCE["item of a list"]))
# What shows that a value was set apart on purpose, whatever it is called.
_SET_APART: Final = frozenset(
    (
        _IN_SECTION,
        _ALONE,
        _IN_LIST["hosts"],
        *map(
            EVIDENCE.__getitem__,
            ("item of a list", "set as code", "defanged elsewhere in the text", "its row says what it is"),
        ),
    )
)

# (points, rule) of every row of contexts.toml that speaks of a candidate of that type on its line, while there is time.
SaidBeside = Callable[[str, Line, int, int], list[Evidence]]


class HostEvidence:
    """Weighs the evidence of one text's hosts, URLs and mailboxes, as far as nobody defanged them."""

    def __init__(
        self, context: TextContext, seen: list[Sighting], defanged: frozenset[str], said_beside: SaidBeside
    ) -> None:
        """`seen`: all candidates of the text; `defanged`: the hosts and addresses that it defangs somewhere."""
        self._value_tables = ValueTables(context.text)
        self._hosts = frozenset(_hosts_of(seen))
        self._lookalikes = Lookalikes(_hosts_of(seen), defanged)
        self._file_names = FileNames(context.text, seen)
        self._known_hosts = KnownHosts(context)
        self._around = context
        self._page_defangs = bool(defanged)
        # In a text of one line that defangs nothing, also a well-known host was written down for a reason.
        self._takes_all = context.is_one_line and not defanged
        self._defanged = defanged
        self._tables_left = MOST_TABLES
        self._senders_left = MOST_SENDERS
        self._said_beside = said_beside
        self._publisher = registered_domain(context.document.publisher_host)

    def verdict(self, reading: TokenCandidate, start: int, end: int, list_context: ListContext) -> Verdict:
        """Weigh the evidence around a host, URL or e-mail address that nobody defanged."""
        host = reading.host or reading.value
        section = self._around.section(start)
        typed = is_typed(self._around.text, reading.type, start, end) or is_head_of(
            reading.type, self._value_tables.head_of_cell(start)
        )
        evidence = self._against(reading, host, start, end, section, typed=typed)
        if reading.type == "domain" and self._defanged and self._is_joined_to_a_defanged(start, end):
            evidence.append(EVIDENCE["joined to a defanged host"])
        if list_context and section != "references":
            evidence.append(_IN_LIST[list_context])
        if self._defanged and self._is_defanged_elsewhere(host):
            evidence.append(EVIDENCE["defanged elsewhere in the text"])
        score = sum_of(evidence)
        if score + self._most_in_favour(reading.type, section) < THRESHOLD:
            return weighed(evidence)
        line = self._around.line(start, end)
        evidence += self._in_favour(reading, start, end, line, section)
        if noise.is_reserved_host(host) or noise.is_placeholder(host):
            is_listed = _is_listed(evidence) and not (reading.type == "email" and noise.is_anybodys(reading.value))
            evidence.append(EVIDENCE["reserved name that is listed" if is_listed else "name reserved for examples"])
        is_file = reading.objection == FILE or (reading.type == "domain" and may_name_a_file(host))
        if is_file and (self._around.holds_hash(line) or self._around.hash_below(line)):
            evidence.append(EVIDENCE["name of the file with a hash beside it"])
        evidence += self._file_names.of(reading, start)
        evidence += self._said(reading, start, end, line, evidence, sum_of(evidence))
        evidence += self._of_its_looks(reading, host, evidence, sum_of(evidence))
        evidence += self._of_its_lookalikes(host, evidence, sum_of(evidence))
        score = sum_of(evidence)
        if score >= THRESHOLD and line.has_cells and (column := self._column_against(reading.type, start)):
            evidence.append(column)
            score = sum_of(evidence)
        if score >= THRESHOLD and self._around.in_hex_dump(line):
            evidence.append(EVIDENCE["column of a hex dump"])
        evidence += of_what_was_learned(self._words, (reading, start, end), evidence)
        return weighed(evidence)

    def _said(
        self, reading: TokenCandidate, start: int, end: int, line: Line, evidence: list[Evidence], score: int
    ) -> list[Evidence]:
        """Return what the words around a candidate add to the `evidence`, whose sum is `score`, as far as they can
        change the verdict.
        """
        text = self._around.text
        if reading.type != "email" and ends_a_lure(text, line.start, start, end) and self._speaks_of_fraud:
            return [EVIDENCE["quoted from a lure"]]  # what its words say is said to those who believe them
        lowest = THRESHOLD - MOST_IN_WORDING[reading.type]
        is_asked = reading.type == "email" and score >= lowest and line.words > 0
        is_asked = is_asked and _WARNED_OF not in evidence
        if is_asked and is_for_readers(text, line.start, start, end) and not is_sender(text, line.start, start):
            if self._around.is_note and _REFERENCES in evidence:  # `Contact: a@b.c` is said once
                return []
            is_said_once = self._around.is_note and not self._page_defangs
            offered = "mailbox for readers, in a note" if is_said_once else "mailbox that a line offers to readers"
            if self._around.is_one_line:
                return [EVIDENCE[offered]]
            return [EVIDENCE[offered], *self._said_beside("email", line, start, end)]
        may_change = lowest - MOST_IN_CONTEXT <= score <= THRESHOLD + 1
        said = self._wording(reading, start, end, line) if may_change else []
        is_whole_line = line.start == start and line.end == end
        if score + sum_of(said) >= THRESHOLD - MOST_IN_CONTEXT and not is_whole_line:
            said += self._said_beside(reading.type, line, start, end)
        # `Visit …onion and enter the code`, `Klickt nicht auf …`: nobody sends readers there, or means another.
        if EVIDENCE["hidden service"] in evidence or any(rule == _KEEP_OFF for _, rule in said):
            return [entry for entry in said if entry[1] not in _POINTING and entry[1] not in ids_of_roles()]
        return said

    def _of_its_looks(self, reading: TokenCandidate, host: str, evidence: list[Evidence], score: int) -> list[Evidence]:
        """Return what its name says for or against what nothing sets apart, where that can change the verdict."""
        can_change = THRESHOLD - MOST_FOR <= score < THRESHOLD + MOST_AGAINST
        if not can_change or not _SET_APART.isdisjoint(evidence) or noise.is_mailbox_provider(host):
            return []
        row = of_its_looks(host, reading.value.rpartition("@")[0] if reading.type == "email" else "")
        return [row] if row else []

    def _of_its_lookalikes(self, host: str, evidence: list[Evidence], score: int) -> list[Evidence]:
        """Return what hosts that imitate one say against it, where that can change the verdict."""
        is_defanged = EVIDENCE["defanged elsewhere in the text"] in evidence
        if is_defanged or _is_listed(evidence) or score < THRESHOLD - LEARNED_FOR:
            return []
        row = self._lookalikes.against(host)
        return [row] if row and (row == _OF_A_DEFANGED or _LISTED.isdisjoint(evidence)) else []

    @cached_property
    def _words(self) -> TextWords:
        return TextWords(self._around.text)

    @cached_property
    def _speaks_of_fraud(self) -> bool:
        return speaks_of_fraud(self._around.text)

    def _column_against(self, type: str, start: int) -> Evidence | None:
        """Return what the head of the table says against a value: that it names victims, or references in its
        column.
        """
        if not self._tables_left:
            return None
        self._tables_left -= 1
        return said_in_its_column(self._around.text, type, start)

    def _is_joined_to_a_defanged(self, start: int, end: int) -> bool:
        """Tell whether `and`, `or` or a comma joins a host to one before it that the text defangs."""
        line = self._around.line(start, end)
        if line.words == 0 or start - line.start < 4:
            return False
        other = joined_host(self._around.text, line.start, start)
        return bool(other) and without_marks(other).lower() in self._defanged

    def _most_in_favour(self, type: str, section: Section) -> int:
        """Return the most that the remaining evidence can still add for a candidate."""
        elsewhere = section != "indicators" and not self._around.document.structured
        return MOST_IN_FAVOUR[type] + NOTE_IN_FAVOUR * self._around.is_note - elsewhere * _IN_SECTION[0]

    def _is_defanged_elsewhere(self, host: str) -> bool:
        """Tell whether the text defangs the host, or one above it; for a service that anyone may use that says
        nothing.
        """
        above = f"www.{host}"
        while "." in above:
            if above in self._defanged:
                return not (noise.is_known_host(host) or noise.is_mailbox_provider(host) or is_shared_suffix(above))
            above = above.partition(".")[2]
        return False

    def _against(
        self, reading: TokenCandidate, host: str, start: int, end: int, section: Section, *, typed: bool
    ) -> list[Evidence]:
        around = self._around
        evidence: list[Evidence] = []
        if row := self._of_its_objection(reading, host, start, end, typed=typed):
            evidence.append(row)
        of_the_host = self._against_host(reading, host, start, end)
        evidence += of_the_host
        if row := self._of_its_row(reading, start, end, typed=typed, is_known=bool(of_the_host)):
            evidence.append(row)
        if section == "references":
            evidence.append(_REFERENCES)
        if reading.type == "domain":
            if around.is_home_of_what_is_named(host, start):
                evidence.append(EVIDENCE["home page of what is named"])
            if is_shared_suffix(host) or self._is_suffix(start):
                evidence.append(EVIDENCE["suffix that many share"])
        if any(map(host.__contains__, _INSIDE)):
            evidence.append(EVIDENCE["name inside an organisation"])
        if (
            reading.type == "domain"
            and not reading.objection
            and around.text.startswith(":", end)
            and _PORT.match(around.text, end)
        ):
            evidence.append(EVIDENCE["host with a port"])
        evidence += self._against_in_text(reading.type, host, start, end)
        if reading.type == "email":
            evidence += self._against_mailbox(reading.value, host, start, end)
        return evidence

    def _of_its_objection(
        self, reading: TokenCandidate, host: str, start: int, end: int, *, typed: bool
    ) -> Evidence | None:
        """Return what speaks against a value because of its form, unless it is said to be what it looks like."""
        if not reading.objection:
            return None
        if reading.objection == PART_OF_A_PATH and self._ends_mailboxes(host, start, end):
            return _WARNED_OF
        if typed or (reading.objection == WORDS and self._around.sets_apart(start, end)):
            return None
        return EVIDENCE.get(reading.objection) or (_OF_AN_OBJECTION, reading.objection)

    def _ends_mailboxes(self, host: str, start: int, end: int) -> bool:
        """Tell whether mailboxes of those whose messages are warned of end with a host."""
        if self._around.text[start - 1 : start] != "@" or not self._speaks_of_fraud:
            return False
        if noise.is_mailbox_provider(host) or noise.is_placeholder(host):
            return False
        return ends_mailboxes(self._around.text, self._around.line(start, end).start, start, end)

    def _of_its_row(
        self, reading: TokenCandidate, start: int, end: int, *, typed: bool, is_known: bool
    ) -> Evidence | None:
        """Return what the cell or label beside a value adds; `is_known`: something speaks against its host already."""
        if typed:
            return None if is_known else EVIDENCE["its row says what it is"]
        if reading.type == "url" or not is_something_else(self._around.text, reading.type, start, end):
            return None
        return EVIDENCE["its row says that it is something else"]

    def _against_host(self, reading: TokenCandidate, host: str, start: int, end: int) -> list[Evidence]:
        evidence: list[Evidence] = []
        if self._publisher and registered_domain(host) == self._publisher:
            evidence.append(EVIDENCE["the publisher's own site"])
        if reading.type == "url" and is_address(host) and noise.address_noise(host):
            # Whatever asks a public resolver, nobody blocks it.
            is_listed = self._around.line(start, end).words == 0 and noise.address_noise(host) != noise.RESOLVER
            if not is_listed and not is_called_the_attackers(self._around.text, start):
                evidence.append(EVIDENCE["URL on an address that is no one's"])
        elif whom_it_is_about(reading) in self._hosts and not is_address(host):
            evidence.append(EVIDENCE["page about another host"])
        elif host in noise.REFERENCE_HOSTS or looks_up_a_file(reading, host) or is_a_licence(reading, host):
            evidence.append(EVIDENCE["reference work"])
        elif (
            reading.type != "email"
            and (noise.is_known_host(host) or (reading.type == "domain" and noise.is_mailbox_provider(host)))
            and not self._is_meant_host(start, end)
        ):
            evidence.append(self._known_hosts.row_of(reading, host, start, end))
        elif is_stored(reading, host) and (row := self._known_hosts.row_of(reading, host, start, end))[0] > 0:
            evidence.append(row)  # for being unknown nothing speaks against it
        elif host.endswith(_HIDDEN):
            is_whole = _HIDDEN_SERVICE.fullmatch(host)
            evidence.append(EVIDENCE["hidden service" if is_whole else "short name of a hidden service"])
        return evidence

    def _is_meant_host(self, start: int, end: int) -> bool:
        """Tell whether a note names a well-known host for its own sake, and no brand: `Booking.com`."""
        if (
            not self._takes_all
            or not self._around.line(start, end).words <= MOST_WORDS_OF_A_BARE_LINE
            or self._is_blocked(start, end)
        ):
            return False
        line = self._around.line(start, end)
        return not self._around.text[line.start : start].strip().lower().endswith("host:")

    def _is_suffix(self, start: int) -> bool:
        """Tell whether only a dot stands before a name: `.kro.kr`, and no `*.evil.example`."""
        before = self._around.text[max(0, start - 2) : start]
        return before.endswith(".") and before not in _ENDS_WITH and before.strip(" \t\n(\"'`\u201c,\u3001") == "."

    def _is_blocked(self, start: int, end: int) -> bool:
        """Tell whether the line sends whoever asks for a host to nowhere, as those of a file of hosts do."""
        first = self._around.line(start, end).start
        return self._around.text[first:start].strip() in BLOCKING

    def _against_in_text(self, type: str, host: str, start: int, end: int) -> list[Evidence]:
        evidence: list[Evidence] = []
        place = self._around.place(start)
        if place == "boilerplate":
            evidence.append(EVIDENCE["boilerplate"])
        if self._around.is_of_a_registrar(self._around.line(start, end), start, end):
            evidence.append(EVIDENCE["field of a registrar"])
        if place == "link_text" or host in self._around.document.linked_hosts or self._around.in_markdown_link(start):
            evidence.append(EVIDENCE["link of the page"])
        is_like_a_file = type == "domain" and (host.endswith(".app") or may_name_a_file(host))
        if is_like_a_file and self._around.goes_on_in_a_path(start):
            evidence.append(EVIDENCE["part of a path or name"])
        if not self._page_defangs and self._around.is_of_no_harm:
            line = self._around.line(start, end)
            is_a_row = self._around.begins_a_row(line, start, end)
            evidence += [] if is_a_row else [EVIDENCE["the note speaks of no harm"]]
        if self._page_defangs and (type != "url" or not self._around.is_note):
            evidence.append(EVIDENCE["the text defangs what is dangerous"])
        return evidence

    def _against_mailbox(self, value: str, host: str, start: int, end: int) -> list[Evidence]:
        local, around = value.rpartition("@")[0], self._around
        if noise.is_masked(local):
            return [EVIDENCE["name reserved for examples"]]
        if self._senders_left and self._speaks_of_fraud and not noise.holds_anything(host):
            self._senders_left -= 1
            first = around.line(start, end).start
            if kind := kind_of_sender(around.text, first, start, end):
                return [_WARNED_OF if kind == "warned of" else EVIDENCE["sender called genuine"]]
        is_contact, in_a_note = noise.is_contact_mailbox(local), around.is_note and not self._page_defangs
        if noise.is_known_host(host) and not noise.is_mailbox_provider(host):
            return [EVIDENCE["mailbox of a well-known organisation"]] if is_contact or not around.is_one_line else []
        is_desk = noise.is_desk(local) and not is_sender(around.text, around.line(start, end).start, start)
        if is_desk and self._around.line(start, end).words > MOST_WORDS_OF_A_BARE_LINE:
            return [EVIDENCE["mailbox of a desk"]]
        if not is_contact:
            return []
        if in_a_note and around.is_of_no_harm and around.text.strip().count("\n") > 1:
            return [EVIDENCE["the note speaks of no harm"]]
        return [EVIDENCE["mailbox for readers, in a note" if in_a_note else "mailbox for readers"]]

    def _wording(self, reading: TokenCandidate, start: int, end: int, line: Line) -> list[Evidence]:
        """Return what the words around add; asked last, when it can still change the verdict."""
        evidence: list[Evidence] = []
        if line.start == start and line.end == end:
            return evidence
        if reading.type == "url" and self._around.is_fetched(line, start, end):
            evidence.append(EVIDENCE["fetched by a command or request"])
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
        if self._around.invites(line, start, end):
            evidence.append(EVIDENCE["pointer for the reader"])
        elif not (for_victims or (self._around.is_note and line.words <= MOST_WORDS_OF_A_BARE_LINE)) and (
            self._around.refers(line, start, end)
        ):
            evidence.append(EVIDENCE["word of a pointer"])
        return evidence

    def _is_titled(self, line: Line, start: int, end: int) -> bool:
        """Tell whether an item gives a title and then its link, and says nothing of an attack: `- Gale Editor, https://...`."""
        if self._around.text[end : line.end].strip(" )>.") or self._around.accuses(line, start, end):
            return False
        return any(sign.isalpha() for sign in self._around.text[line.start : start])

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
        elif reading.type == "domain" and stands_with_an_address(around.text, start, end):
            evidence.append(EVIDENCE["with its address"])
        elif line.is_item and line.words <= 5 and not (reading.type == "url" and self._is_titled(line, start, end)):
            evidence.append(EVIDENCE["item of a list"])
        if place == "code" or around.quoted(start, end) or (reading.type == "url" and around.in_quotes(start, end)):
            evidence.append(EVIDENCE["set as code"])
        if noise.imitates_a_known_name(reading.host or reading.value.rpartition("@")[2]):
            evidence.append(EVIDENCE["name that imitates a well-known one"])
        return evidence + of_its_own(reading)


def _hosts_of(seen: list[Sighting]) -> Iterator[str]:
    return (reading.host or reading.value for reading, _, _ in seen if reading.type in ("domain", "url"))


def _is_listed(evidence: list[Evidence]) -> bool:
    """Tell whether a value is an item of its own among a text's indicators: then its name was not meant as an
    example.
    """
    return _IN_SECTION in evidence and _ALONE in evidence
