"""Tell the mailboxes of a text's authors from those that it is about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from ingest.indicators import noise
from ingest.indicators.late import late
from ingest.indicators.token_candidate import TokenCandidate
from ingest.indicators.vocabulary import pieces
from intel.suffixes import registered_domain

# A mailbox with more in its favour than this stands in a list of indicators.
MOST_OF_PROSE: Final = 2

# Looked for in lower case, and without a sign at the front that would keep the engine from skipping.
_INVITES: Final = late(
    r"(?:contact|questions?|feedback|corrections?|[ei]nquir(?:y|ies)|(?:write|reply|talk) to|write (?:us|me)"
    r"|(?:reach|mail|ping|tell) (?:us|me|out|the authors?)|in touch|report(?:ed)? [^.!?:\n]{0,40}?to"
    r"|(?:wrong|mistakes?|typos?|errata|missed something)|(?:jobs?|careers?|vacanc(?:y|ies)|cvs?|resumes?|apply|hiring)"
    r"|(?:press|media|advertis\w+|samples?|newsletter|subscribe)|dúvidas|fale com|envie"
    r"|escríbe(?:me|nos)|pídeme\w*|contácta\w*"
    r"|segnala\w*|scriv\w+|kontakt\w*|zgłosz\w*|piszcie|пишите|напишите|резюме|реклам\w*|почта|звертайтесь|пишіть"
    r"|疑问|疑問|ご不明|질문|发(?:到|给)?我"
    r"|(?:联系|聯絡|发邮件|連絡|問い合わせ|문의|연락|신고|제보)\w{0,6}"
    r"|wenden|melden|fragen|kontakt(?:ieren)?|hinweise|contactez|écri(?:re|vez)|contacter|signale[rz]|contacte"
    r"|hubungi|lapor(?:kan)?(?: ke)?|raportați|sesiza\w*|scrie\w*|hlás\w+|napište|obraťte|nahlas\w*|ihbar\w*"
    r"|bildir\w*|iletişim"
    r"|ilmoit\w+|yhtey\w+|kontakta|rapporter\w*|indberet\w*|meld(?:ing|ungen)?|jelent\w+|bejelent\w*|prijavi\w*"
    r"|jav[ií]te"
    r"|αναφ\w+|στείλτε|επικοινων\w+|notific\w+|denunci\w+|liên hệ|báo cáo|แจ้ง|อีเมล|來信"
    r"|来信|聯繫|通报|舉報|举报|تواصل|צרו קשר"
    r"|raw data|data for certs|how to cite|complaints"
    r"|escri(?:ba|bir)|póngase|вопрос(?:ы|ам|ов)|обращайтесь|contatt(?:are|ate))\b\??(?:[^.!?\n\u3002\uff1b]|[.](?=\S)){0,60}\Z"
)
_ASKED_AFTER: Final = late(
    r"[`'\")>]{0,3} (?:\w{1,20} ){0,2}(?:ilet\w+|bildir\w+|gönder\w+|melden|schreiben|wenden|senden|richten)\b"
)
# What nobody asks of victims.
_OF_READERS: Final = (
    "lapor", "raportați", "sesiza", "hlás", "nahlas", "ihbar", "bildir", "ilmoit", "rapporter", "indberet",
    "meld", "bejelent",
    "prijavi", "αναφ", "στείλτε", "notific", "denunci", "báo cáo", "แจ้ง", "通报", "舉報", "举报", "신고", "제보",
    "raw data", "complaints",
    "疑问", "疑問", "ご不明", "질문", "发",
    "report", "question", "feedback", "correction", "enquir", "inquir",
)  # fmt: skip
# Who attacks also wants to be reached. To look for one after the other is what is fastest.
_OF_AN_ATTACK: Final = (
    "ransom", "crypt", "unlock", "recover", "restor", " pay", "bitcoin", " btc", "monero", "wallet", "victim",
    "attacker", " actor", "operator", "affiliate", "extort", "leak", "phish", "spoof", "scam", "fraud", "malicious",
    "impersonat",
    "registrant", "registered", "whois", "telegram", " tox", "jabber", "xmpp", "seller", "forum", "exfiltrat", "stolen",
    "your files", "subject", "lösegeld", "rançon", "rescate", "выкуп",
    "解密", "勒索", "赎金", "受害", "攻击者", "身代金", "攻撃者", "복호화", "몸값", "공격자",
    "angreif", "erpress", "opfer", "entschlüssel", "attaquant", "chiffr", "atacante", "descifr", "злоумышл", "расшифр",
)  # fmt: skip
_SENT_BY: Final = late(
    r"(?i)(?:\b(?:e-?mails?|messages?|letters?|lures?|campaigns?|attachments?|files?|documents?|archives?"
    r"|phish(?:es|ing)?)\b[^.!?\n]{0,40}"
    r" (?:came|comes?|sent|arriv(?:ed|es)|originat(?:ed|es|ing)|received|deliver(?:ed|y))"
    r" (?:to \w{1,20} )?(?:from|by|via)(?: the (?:address|mailbox|account))?"
    rf"|{pieces('sent_by')}"
    r"|\bsenders?(?: address(?:es)?)? (?:is|was|were)|(?:^[ \t]{0,8}|[(;,] ?)(?:from|sender|reply-to|return-path"
    r"|von|absender|expéditeur|remitente|remetente|mittente|отправитель|от кого|nadawca|afzender|avsändare|avsender"
    r"|afsender|lähettäjä|gönderen|pengirim|odesílatel|feladó|expeditor|发件人|寄件者|差出人|送信者|보낸 ?사람|발신자)"
    r"[*_]{0,2} ?[:\uff1a]"
    r"(?:[^\n@:]{1,60}(?=[<(]))?)"
    r"[ \t\"'`<(:]{1,3}\Z",
    re.MULTILINE,
)
_SERVERS_OF_MAIL: Final = ("mail.", "smtp.", "mx.", "mx1.", "imap.", "pop.", "webmail.")
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
