"""Tell who sends the messages of which a text warns: also a forged sender is blocked and looked for."""

from __future__ import annotations

from typing import Final, Literal

from ingest.indicators.late import late
from ingest.indicators.mailboxes import invites_to
from ingest.indicators.vocabulary import pieces

Sender = Literal["warned of", "genuine", ""]

_QUOTES: Final = r"\"'`\u00ab\u201c\u201e\u300c"
_OPENS: Final = rf"[ \t\xa0]?[(\[\uff08:\uff1a{_QUOTES}][ \t<(*{_QUOTES}]{{0,3}}"
_IS: Final = rf"\s(?:{pieces('senders', 'copulas')})[ {_QUOTES}]{{1,3}}"
_NAMED_BEHIND: Final = late(rf"(?:[^.!?;\n@]{{0,60}}(?:{_OPENS}|{_IS})|[ <{_QUOTES}]{{1,3}})\Z")
_NOUNS: Final = late(pieces("senders", "nouns"))
_WAYS: Final = late(rf"(?:{pieces('senders', 'ways')})[ :(<{_QUOTES}]{{0,3}}\Z")
# Others that the same list names before it: `mittenti: a@gale.example, b@gale.example e `.
_ANOTHER: Final = late(
    r"[\w.+-]{1,64}@[\w.-]{1,80}[\s,;/)\]>\"'`\u00bb\u201c\u201d\u3001\uff0c]{1,4}"
    rf"(?:(?:{pieces('senders', 'joins')})\s)?[(<{_QUOTES}]{{0,2}}\Z"
)
_MOST_OTHERS: Final = 12
_GENUINE: Final = late(rf"(?i){pieces('senders', 'genuine')}")
_MAILBOXES: Final = late(rf"(?i){pieces('senders', 'mailboxes')}")
_END_OF_A_SENTENCE: Final = late(r"[.!?](?=\s)|[\u3002\uff01\uff1f\n]")
_BEFORE_A_DOMAIN: Final = frozenset(" \t\n\"'`*(\u201c\u201e\u00ab.\u2026")
_REACH: Final = 300
_REACH_OF_A_WORD: Final = 100
_REACH_OF_ANOTHER: Final = 160


def kind_of_sender(text: str, first: int, start: int, end: int) -> Sender:
    """Return whether the words before the mailbox `text[start:end]`, on a line from `first` on, say that messages come
    from there of which a text warns, or genuine ones.
    """
    place = _first_of_a_list(text, first, start)
    before = _END_OF_A_SENTENCE.split(text[max(first, place - _REACH) : place])[-1].lower()
    if not before.strip() or not _says_sent(before[-_REACH_OF_A_WORD:]) or invites_to(text, first, start, end):
        return ""
    return "genuine" if _GENUINE.search(before) else "warned of"


def _first_of_a_list(text: str, first: int, start: int) -> int:
    """Return where the first of the mailboxes begins that a list joins to the one at `start`."""
    for _ in range(_MOST_OTHERS):
        begin = max(first, start - _REACH_OF_ANOTHER)
        if "@" not in text[begin:start] or (another := _ANOTHER.search(text, begin, start)) is None:
            break
        start = another.start()
    return start


def _says_sent(before: str) -> bool:
    """Tell whether words end with those for the sender of a message."""
    nouns = list(_NOUNS.finditer(before))
    if nouns and _NAMED_BEHIND.match(before, nouns[-1].end()):
        return True
    return _WAYS.search(before) is not None


def ends_mailboxes(text: str, first: int, start: int, end: int) -> bool:
    """Tell whether a host stands behind a bare `@` beside a word for mails, so that it is what mailboxes end with:
    "mails from @gale.example".
    """
    if text[start - 1 : start] != "@" or (start > 1 and text[start - 2] not in _BEFORE_A_DOMAIN):
        return False
    before = _END_OF_A_SENTENCE.split(text[max(first, start - _REACH) : start])[-1]
    behind = _END_OF_A_SENTENCE.split(text[end : end + _REACH_OF_A_WORD], maxsplit=1)[0]
    return _MAILBOXES.search(f"{before} {behind}") is not None and _GENUINE.search(before) is None
