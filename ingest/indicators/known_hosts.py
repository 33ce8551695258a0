"""Weigh URLs at well-known hosts, at some of which anyone may put something."""

from __future__ import annotations

from typing import Final

from ingest.indicators import noise
from ingest.indicators.evidence import EVIDENCE, Evidence
from ingest.indicators.late import late
from ingest.indicators.own_evidence import is_list_of_others
from ingest.indicators.stored import is_picture, is_stored
from ingest.indicators.text_context import Line, TextContext
from ingest.indicators.token_candidate import TokenCandidate
from ingest.indicators.vocabulary import pieces
from intel.suffixes import is_under_a_shared_suffix

MOST_STORED: Final = 500  # each costs some 30 microseconds
_PROGRAM: Final = late(
    r"\.(?:exe|dll|msi|ps1|vbs|hta|bat|scr|jar|apk|elf|sh|iso|lnk|bin|xll|php|py|js|txt)(?:$|[?#])|//[^/\s]++/raw/"
)
_ACCOUNTS: Final = late(pieces("accounts"))


class KnownHosts:
    """Weighs the candidates of one text whose host is well known."""

    def __init__(self, context: TextContext) -> None:
        self._around = context
        self._stored_left = MOST_STORED

    def row_of(self, reading: TokenCandidate, host: str, start: int, end: int) -> Evidence:
        """Return what a well-known host adds: nothing against a URL from which an attack reads what anyone may put
        there.
        """
        if reading.type == "url":
            holds_anything = noise.holds_anything(host)
            if self._around.is_dead_drop(start) or (holds_anything and self._around.is_read_for_orders(start, end)):
                return EVIDENCE["dead drop"]
            line = self._around.line(start, end)
            is_bare = holds_anything and not line.words
            if is_bare and _ACCOUNTS.search(self._around.heading(start).lower()):
                return EVIDENCE["account of an attacker"]
            if (holds_anything or is_under_a_shared_suffix(host)) and (
                self._around.is_fetched(line, start, end)
                or (_PROGRAM.search(reading.value.lower()) and self._around.is_downloaded(line, start))
            ):
                return EVIDENCE["fetched from where anyone may put something"]
            if is_stored(reading, host) and self._is_put_there(reading, line, start, end):
                return EVIDENCE["put where anyone may put something"]
        return EVIDENCE["well-known host"]

    def _is_put_there(self, reading: TokenCandidate, line: Line, start: int, end: int) -> bool:
        """Tell whether the words around what somebody stored speak of an attack, and send no reader there."""
        around = self._around
        if not self._stored_left or is_list_of_others(reading) or around.place(start) in ("link_text", "boilerplate"):
            return False
        self._stored_left -= 1
        is_for_readers = around.invites(line, start, end) or around.refers(line, start, end)
        return not is_for_readers and around.threatens(line, start, end, in_note=not is_picture(reading.value))
