"""Tell the mailboxes of a text's authors from those that it is about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from ingest.indicators import noise
from ingest.indicators.late import late
from ingest.indicators.token_candidate import TokenCandidate
from ingest.indicators.vocabulary import pieces
from intel.refanging import AT
from intel.suffixes import registered_domain

# A mailbox with more in its favour than this stands in a list of indicators.
MOST_OF_PROSE: Final = 2

# Looked for in lower case, and without a sign at the front that would keep the engine from skipping.
_INVITES: Final = late(rf"(?:{pieces('invites_to_write')})\b\??(?:[^.!?\n\u3002\uff1b]|[.](?=\S)){{0,60}}\Z")
_ASKED_AFTER: Final = late(rf"[`'\")>]{{0,3}} (?:\w{{1,20}} ){{0,2}}(?:{pieces('invites_to_write_behind')})\b")
# What nobody asks of victims.
_OF_READERS: Final = tuple(pieces("asked_of_readers").split("|"))
# Who attacks also wants to be reached. To look for one after the other is what is fastest.
_OF_AN_ATTACK: Final = tuple(pieces("around_mail_of_an_attack").split("|"))
_SENT_BY: Final = late(
    rf"(?i)(?:{pieces('sent_by')}|(?:^[ \t]{{0,8}}|[(;,] ?)(?:{pieces('sender_fields')})[*_]{{0,2}} ?[:\uff1a]"
    r"(?:[^\n@:]{1,60}(?=[<(]))?)[ \t\"'`<(:]{1,3}\Z",
    re.MULTILINE,
)
_SERVERS_OF_MAIL: Final = ("mail.", "smtp.", "mx.", "mx1.", "imap.", "pop.", "webmail.")
# `Brad Gale` above `brad [at] gale-labs.example`.
_SIGNED: Final = late(
    r"(?:\A|\n)[ \t*_-]{0,8}([A-Z][\w.'\u2019-]{1,20}(?: [A-Z][\w.'\u2019-]{0,20}){1,3})[ \t*_,]{0,8}\r?\n\s{0,3}\Z"
)
_BEFORE_A_SIGNATURE: Final = " \t-*_<(\u2013"
_INITIALS: Final = 2
_REACH: Final = 80
_REACH_OF_AN_ATTACK: Final = 200


def is_for_readers(text: str, first: int, start: int, end: int) -> bool:
    """Tell whether the words around the mailbox `text[start:end]`, on a line from `first` on, invite the reader to
    write.
    """
    invitation = _invitation(text, first, start, end)
    return bool(invitation) and (invitation.startswith(_OF_READERS) or not _speaks_of_an_attack(text, start, end))


def is_for_victims(text: str, first: int, start: int, end: int) -> bool:
    """Tell whether the words around a mailbox ask the victim of an attack to write: `contact us to decrypt your
    files`.
    """
    invitation = _invitation(text, first, start, end)
    return bool(invitation) and not invitation.startswith(_OF_READERS) and _speaks_of_an_attack(text, start, end)


def invites_to(text: str, first: int, start: int, end: int) -> bool:
    """Tell whether the words around a mailbox invite anyone to write."""
    return bool(_invitation(text, first, start, end))


def _invitation(text: str, first: int, start: int, end: int) -> str:
    """Return the words before or after a mailbox that invite to write there, or nothing."""
    found = _INVITES.search(text[max(first, start - _REACH) : start].lower()) or _ASKED_AFTER.match(text, end)
    return found[0] if found else ""


def signs_a_text(text: str, first: int, start: int, end: int) -> bool:
    """Tell whether a mailbox, alone on its line, stands below the name of whom it belongs to, as authors sign."""
    if text[first:start].strip(_BEFORE_A_SIGNATURE) or text[end : end + 1] not in ("", "\n", "\r", ">", ")"):
        return False
    above = _SIGNED.search(text, max(0, first - _REACH), first)
    local = text[start:end].lower().split(AT)[0].partition("@")[0]
    return above is not None and any(word.lower() in local for word in above[1].split() if len(word) > _INITIALS)


def is_sender(text: str, first: int, start: int) -> bool:
    """Tell whether the words before a mailbox, on a line from `first` on, say that a message came from there."""
    return _SENT_BY.search(text, max(first, start - _REACH), start) is not None


def _speaks_of_an_attack(text: str, start: int, end: int) -> bool:
    around = text[max(0, start - _REACH_OF_AN_ATTACK) : end + _REACH_OF_AN_ATTACK].lower()
    return any(map(around.__contains__, _OF_AN_ATTACK))


def _is_of_mail(reading: TokenCandidate) -> bool:
    """Tell whether a host is a server of mail, as stands beside a mailbox: `logs@evil.example (mail.evil.example)`."""
    return reading.type == "domain" and reading.value.startswith(_SERVERS_OF_MAIL)


def of_refused_hosts(mailboxes: Mapping[str, int], refused: Iterable[TokenCandidate], kept: frozenset[str]) -> set[str]:
    """Return the `mailboxes` (with their scores) at hosts that the text names elsewhere without their being indicators.

    `refused` is what is no indicator; `kept` are the domains that are.
    """
    asked: dict[str, list[str]] = {}
    for mailbox, score in mailboxes.items():
        host = mailbox.rpartition("@")[2]
        if score <= MOST_OF_PROSE and host not in kept and not noise.is_mailbox_provider(host):
            asked.setdefault(registered_domain(host), []).append(mailbox)
    found: set[str] = set()
    if not asked:
        return found
    for reading in refused:
        if reading.type in ("domain", "url") and "@" not in reading.source and not _is_of_mail(reading):
            found.update(asked.get(registered_domain(reading.host or reading.value), ()))
    return found
