"""Say what each rule means, in a sentence for the person who asks why an indicator was kept or dropped."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ingest.indicators.contexts import context_rules

KEEPS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "identifier": "A CVE or ATT&CK identifier means the same wherever it stands.",
        "hash": "A whole MD5, SHA-1 or SHA-256 stands by itself.",
        "defanged": "Defanged by the author.",
        "address": "An address, and no version number.",
        "host of an indicator": "It is the host of a URL or mailbox that is an indicator.",
        "a note of a few lines": "What stands in a note of a few lines was written down on purpose.",
        "section of indicators": "It stands under a heading that announces indicators.",
        "alone on its line": "Nothing else stands on its line or in its cell.",
        "item of a list": "It is an item of a list.",
        "set as code": "It is set as code.",
        "among its like": "Hosts beyond doubt stand above or below it in the same list.",
        "spoken of as part of an attack": "The words around it speak of an attack.",
        "fetched by a command or request": "A command or a logged request right before it fetches it.",
        "field that holds a host": "The field right before it holds the host that was asked for.",
        "hidden service": "Hardly anybody but attackers has a hidden service that reports write of.",
        "dead drop": "The words before it call it a dead drop: what an attack reads there, somebody left for it.",
        "disarmed elsewhere in the text": "The author defanged the same host, or one above it, elsewhere.",
        "host named as an indicator": "The text names its host as an indicator in another place.",
        "mailbox that anyone may have": "A mailbox at a provider where anyone may have one.",
        "mailbox": "Not a mailbox of a well-known organisation.",
        "URL with a port": "The URL names a port, which hardly any link for readers does.",
        "URL on a bare address": "The URL stands on an address instead of a name.",
        "path of a program or archive": "The URL leads to a program, script or archive.",
        "name of malware": "A name that only malware has.",
        "everyday word that the text calls malware": "An everyday word, but the words beside it say malware.",
        "everyday word that the text calls malware elsewhere": "The text calls it malware in another place.",
        "name that the text gives to malware": "The text itself gives this name to malware; no list has it.",
        "read by iocextract": "Defanged in a way that only iocextract reads; no rule speaks against it.",
    }
)
DROPS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "another kind of hash": "The words before it say that it is an import hash, a fingerprint or a serial number.",
        "key or identifier": "The words before it call it a key, a token or the identifier of something.",
        "decimal number": "It holds decimal digits only.",
        "network": "A whole network; its addresses are not listed.",
        "version number": "The words around it say that it is a version.",
        "reserved address": "A private, local or reserved address is no one's on the internet.",
        "public resolver": "Everybody asks this resolver.",
        "name reserved for examples": "The name is set apart for examples and tests.",
        "suffix that many share": "Anyone may have a name under this suffix; the suffix itself accuses nobody.",
        "host of a mailbox": "The mailbox is the indicator; its host serves many others.",
        "host of a service that anyone may use": "The URL is the indicator; its host serves many others.",
        "host of something that is no indicator": "Its URL or mailbox was dropped.",
        "name of a file": "It is the name of a file.",
        "name of the file with a hash beside it": "It ends as a script or archive does, and the row has its hash.",
        "words around a full stop": "Two words with a full stop and no blank between them.",
        "member of an object": "It reads as an object of a program and what it has.",
        "part of a path or name": "It is a part of a path or of a longer name.",
        "code": "It is a piece of code.",
        "reversed name of a package": "It is a package's name, written from the top level down.",
        "name of a class or detection": "It is the name of a class or a detection.",
        "the publisher's own site": "It belongs to whoever published the text.",
        "home page of what is named": "The name right before it is its own: it is the home page of that.",
        "reference work": "A reference work for its readers.",
        "well-known host": "A well-known publisher, vendor, service or authority.",
        "among names of packages": "The row above or below begins with the name of a package.",
        "column of a hex dump": "The column of signs of a hex dump, where names are cut anywhere.",
        "list of references": "It stands under a heading that announces references.",
        "page furniture": "It stands in a part of the page around the article.",
        "link of the page": "The page links to it, which nobody does to something dangerous.",
        "the text disarms what is dangerous": "The text defangs what is dangerous, and did not defang this.",
        "pointer for the reader": "The words before it point the reader there.",
        "address of something to read": "The URL looks like that of an article or document.",
        "mailbox of a well-known organisation": "A mailbox of a well-known organisation.",
        "mailbox for readers": "A mailbox by which readers reach an organisation.",
        "mailbox at a host that is no indicator": "The text names its host elsewhere, where it is no indicator.",
        "name of a group": "The words beside it say that it names people, and no malware.",
        "hash of an empty file": "Every empty file has this hash.",
        "file called harmless": "The text calls the file with this hash harmless.",
        "everyday word": "An everyday word that nothing here calls malware.",
        "could not be weighed": "A fault of this service, for none of its rules could tell: please report it.",
        "nothing speaks for it": "Nothing around it says that it is part of an attack.",
    }
)


def reason(rule: str, *, kept: bool) -> str:
    """Return the sentence for a rule; the rule itself if there is none."""
    return (KEEPS if kept else DROPS).get(rule) or {row.id: row.reason for row in context_rules()}.get(rule, rule)
