"""Say what each rule means, in a sentence for the person who asks why an indicator was kept or dropped."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from ingest.indicators.clauses import clause_roles
from ingest.indicators.contexts import context_rules
from ingest.indicators.evidence import EVIDENCE_ROWS
from ingest.indicators.name_rows import reasons_of_names
from ingest.indicators.notes import note_rows

_KEEPS: Final = MappingProxyType(
    {
        "identifier": "A CVE or ATT&CK identifier means the same wherever it stands.",
        "hash": "A whole MD5, SHA-1 or SHA-256 stands by itself.",
        "defanged": "Defanged by the author.",
        "address": "An address, and no version number.",
        "host of an indicator": "It is the host of a URL or mailbox that is an indicator.",
        "name of malware": "A name that only malware has.",
        "everyday word that the text calls malware": "An everyday word, but the words beside it say malware.",
        "everyday word that the text calls malware elsewhere": "The text calls it malware in another place.",
        "name that the text gives to malware": "The text itself gives this name to malware; no list has it.",
        "spoken of again": "The text speaks of it again, as part of an attack, and little speaks against it.",
        "in a series with indicators": "Others of its series are indicators, and little speaks against it.",
        "read by iocextract": "Defanged in a way that only iocextract reads; no rule speaks against it.",
    }
)
_DROPS: Final = MappingProxyType(
    {
        "named by the title of a link alone": "Only the titles of others' articles name it, to which the text links.",
        "another kind of hash": "The words before it say that it is an import hash, a fingerprint or a serial number.",
        "key or identifier": "The words before it call it a key, a token or the identifier of something.",
        "name with a part left out": "The writer put signs where a part of the name stood.",
        "part of a pattern of names": "It is the end that many names share, written as a pattern.",
        "decimal number": "It holds decimal digits only.",
        "number of something else": "It reads as a technique, but the words beside it count rooms, tickets or goods.",
        "network": "A whole network and no single machine; its addresses are not listed.",
        "version number": "The words around it say that it is a version.",
        "reserved address": "A private, local or reserved address is no one's on the internet.",
        "address for documentation": "Set apart for documentation, in a text that has other addresses.",
        "address made up by counting": "Writers count up where they need any address: 1.2.3.4.",
        "address of a well-known host": "The row says that a well-known host resolves to it.",
        "address that very many share": "Its network delivers for very many, searches, scans or is a sinkhole.",
        "reached from outside": "The row of a log calls it the destination of what a public address sent.",
        "public resolver": "Everybody asks this resolver.",
        "host of a mailbox": "The mailbox is the indicator; its host serves many others.",
        "host of a service that anyone may use": "The URL is the indicator; its host serves many others.",
        "host that readers are sent to": "Readers look something up there, or get what they need.",
        "its rest is left out": "Dots stand for the rest of the URL, which nobody can search for so.",
        "host of something that is no indicator": "Its URL or mailbox was dropped.",
        "mailbox at a host that is no indicator": "The text names its host elsewhere, where it is no indicator.",
        "name of a group": "The words beside it say that it names people, and no malware.",
        "said not to have been found": "The text says that it was looked for and not found.",
        "hash of an empty file": "Every empty file has this hash.",
        "file called harmless": "The text calls the file with this hash harmless.",
        "listed as no indicator": "The label above its list or column says that what stands there is no indicator.",
        "shown to teach defanging": "Its line shows it with and without its defanging, where the text teaches that.",
        "named in a note that speaks of no harm": "Nothing in the note speaks of an attack, of malware or of fraud.",
        "everyday word": "An everyday word that nothing here calls malware.",
        "could not be weighed": "A fault of this service, for none of its rules could tell: please report it.",
        "nothing speaks for it": "Nothing around it says that it is part of an attack.",
    }
)
_WEIGHED: Final = tuple(row for row in EVIDENCE_ROWS if row.reason)
# By rule: what alone settles, and what is weighed with other evidence.
KEEPS: Final[Mapping[str, str]] = _KEEPS | {row.rule: row.reason for row in _WEIGHED if row.points > 0}
DROPS: Final[Mapping[str, str]] = _DROPS | {row.rule: row.reason for row in _WEIGHED if row.points < 0}


def reason(rule: str, *, kept: bool) -> str:
    """Return the sentence for a rule; the rule itself if there is none."""
    return (KEEPS if kept else DROPS).get(rule) or _weighed_reasons().get(rule, rule)


@cache
def _weighed_reasons() -> dict[str, str]:
    """Return the sentences for what is weighed and never decides alone."""
    tables = (clause_roles(), context_rules(), note_rows())
    return {**{row.id: row.reason for table in tables for row in table}, **reasons_of_names()}
