"""Whose submission is read next: the rule, and how one process keeps it.

Nobody takes more of the slots than stay free for others: of 16 slots one account gets 8, a second one 4, and some are
left for whoever comes next. The same holds for each account's part of a host. What is free goes to the account that has
the fewest pages being read, in turn, and within it to the host that has the fewest. Whoever has just been read goes to
the end of the line.
"""

from __future__ import annotations

from collections import Counter
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from intel.records import Submission

SLOTS: Final = 16
MOST_OF_A_HOST: Final = 6


class Turn(NamedTuple):
    """A submission with what turns go by: its account and its host (and port)."""

    submission_id: str
    account_id: str
    host: str


def turn_of(submission: Submission) -> Turn:
    """Return the turn that a submission waits for."""
    return Turn(submission.id, submission.account_id, urlsplit(submission.url).netloc)


def leaves_room(own: int, taken: int, most: int) -> bool:
    """Tell whether somebody who holds `own` of the `taken` may take one more and leave as much to others."""
    return own < most - taken


class Turns:
    """The turns of one process: who waits, and who is being read."""

    def __init__(self, slots: int = SLOTS, of_a_host: int = MOST_OF_A_HOST) -> None:
        self._slots = slots
        self._of_a_host = of_a_host
        # By account, then by host: whoever had a turn goes to the end.
        self._waiting: dict[str, dict[str, dict[str, Turn]]] = {}
        self._running: dict[str, Turn] = {}

    def wait(self, turn: Turn) -> None:
        """Let a submission wait for its turn, unless it waits or is being read."""
        if turn.submission_id not in self._running:
            hosts = self._waiting.setdefault(turn.account_id, {})
            hosts.setdefault(turn.host, {}).setdefault(turn.submission_id, turn)

    def take(self) -> Turn | None:
        """Take the next turn; None where nobody who waits may be read now."""
        running = Counter(turn.account_id for turn in self._running.values())
        for account in sorted(self._waiting, key=running.__getitem__):
            if not leaves_room(running[account], len(self._running), self._slots):
                return None
            host = self._host_for(account)
            if host is not None:
                return self._taken(account, host)
        return None

    def end(self, turn: Turn) -> None:
        """Give a turn's slot back."""
        self._running.pop(turn.submission_id, None)
        if hosts := self._waiting.pop(turn.account_id, None):
            self._waiting[turn.account_id] = hosts

    def _host_for(self, account: str) -> str | None:
        of_all = Counter(turn.host for turn in self._running.values())
        own = Counter(turn.host for turn in self._running.values() if turn.account_id == account)
        may = (host for host in self._waiting[account] if leaves_room(own[host], of_all[host], self._of_a_host))
        return min(may, key=own.__getitem__, default=None)

    def _taken(self, account: str, host: str) -> Turn:
        hosts = self._waiting.pop(account)
        turns = hosts.pop(host)
        turn = turns.pop(next(iter(turns)))
        if turns:
            hosts[host] = turns
        if hosts:
            self._waiting[account] = hosts
        self._running[turn.submission_id] = turn
        return turn
