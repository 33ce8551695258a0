"""List the types of indicators: all that tells one from another, one row a type, in the order of pages and counts.

Whatever has to know every type reads this table; it imports nothing of the project. How a type is found in a text is
said by its reader in `ingest/indicators/readers.py`, a canonical form that no pattern tells by `intel/canonical.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

Defanging = Literal["none", "host", "mailbox", "url"]
Judgement = Literal["hash", "identifier", "address", "host", "name"]
BlockList = Literal["suricata", "rpz", "hosts"]


class IndicatorType(NamedTuple):
    """One type of indicator.

    Names: `name` in every filter, address and export, `label` on pages and in TAXII, `noun` in sentences, `hue` of its
    badge (degrees).
    Spelling: `example` is a canonical value; `form` is the pattern that such a value has after `case` was settled (""
    for types whose rule stands in `intel/canonical.py`); `defanging` is the part of it that could become a link;
    `lookup_rank` orders what one pasted value may mean, the most specific first.
    Meaning: `judgement` is the kind of verdict on a candidate (`identifier`: its shape says what it is);
    `is_subject` marks what articles write about, which takes no part in attacks itself; `includes` is what a search for
    it finds too; `references` are public registers, (name, address with `{value}` or `{path}`).
    Age: after `active_days` it is ageing, after `expires_days` expired; None is never.
    Exchange: `stix_type` of the object that stands for it, `stix_paths` of the properties that patterns compare (the
    first one is written), `misp` the type and category of its attribute (None: a tag), `misp_types` those that it is
    read from, `block_lists` the exports for blocking that can hold it.
    """

    name: str
    label: str
    noun: str
    hue: int
    example: str
    form: str = ""
    case: Literal["kept", "lower", "upper"] = "kept"
    defanging: Defanging = "none"
    lookup_rank: int = 5
    judgement: Judgement = "identifier"
    is_subject: bool = False
    includes: str = ""
    references: tuple[tuple[str, str], ...] = ()
    active_days: int | None = None
    expires_days: int | None = None
    stix_type: str = "indicator"
    stix_paths: tuple[str, ...] = ()
    misp: tuple[str, str] | None = None
    misp_types: tuple[str, ...] = ()
    block_lists: tuple[BlockList, ...] = ()


# Stores count by a type's place in this table: add new ones at its end.
INDICATOR_TYPES: Final = (
    IndicatorType(
        name="ip", label="IP", noun="IP address", hue=212, example="198.51.100.7",
        defanging="host", lookup_rank=6, judgement="address", includes="URLs on it",
        active_days=30, expires_days=90,
        stix_paths=("ipv4-addr:value", "ipv6-addr:value"),
        misp=("ip-dst", "Network activity"), misp_types=("ip-src", "ip-dst"),
        block_lists=("suricata", "rpz"),
    ),
    IndicatorType(
        name="domain", label="Domain", noun="domain", hue=172, example="evil.example",
        defanging="host", lookup_rank=9, judgement="host", includes="subdomains, URLs and email addresses",
        active_days=90, expires_days=365,
        stix_paths=("domain-name:value",),
        misp=("domain", "Network activity"), misp_types=("domain", "hostname"),
        block_lists=("suricata", "rpz", "hosts"),
    ),
    IndicatorType(
        name="hash_md5", label="MD5", noun="MD5 hash", hue=46, example="0cc175b9c0f1b6a831c399e269772661",
        form="[0-9a-f]{32}", case="lower", lookup_rank=3, judgement="hash",
        active_days=365,
        stix_paths=("file:hashes.MD5",), misp=("md5", "Payload delivery"), misp_types=("md5",),
    ),
    IndicatorType(
        name="hash_sha1", label="SHA-1", noun="SHA-1 hash", hue=70, example="86f7e437faa5a7fce15d1ddcb9eaeaea377667b8",
        form="[0-9a-f]{40}", case="lower", lookup_rank=4, judgement="hash",
        active_days=365,
        stix_paths=("file:hashes.'SHA-1'",), misp=("sha1", "Payload delivery"), misp_types=("sha1",),
    ),
    IndicatorType(
        name="hash_sha256", label="SHA-256", noun="SHA-256 hash", hue=105,
        example="ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
        form="[0-9a-f]{64}", case="lower", judgement="hash",
        active_days=365,
        stix_paths=("file:hashes.'SHA-256'",), misp=("sha256", "Payload delivery"), misp_types=("sha256",),
    ),
    IndicatorType(
        name="url", label="URL", noun="URL", hue=252, example="http://evil.example/gate.php",
        defanging="url", lookup_rank=7, judgement="host",
        active_days=90, expires_days=365,
        stix_paths=("url:value",), misp=("url", "Network activity"), misp_types=("url",),
        block_lists=("suricata",),
    ),
    IndicatorType(
        name="cve", label="CVE", noun="vulnerability", hue=2, example="CVE-2021-44228",
        lookup_rank=1, is_subject=True,
        references=(
            ("NVD", "https://nvd.nist.gov/vuln/detail/{value}"),
            ("CVE.org", "https://www.cve.org/CVERecord?id={value}"),
        ),
        stix_type="vulnerability", misp=("vulnerability", "External analysis"), misp_types=("vulnerability",),
    ),
    IndicatorType(
        name="mitre_attack", label="ATT&CK", noun="ATT&CK technique", hue=284, example="T1059.001",
        lookup_rank=2, is_subject=True, includes="sub-techniques",
        references=(("MITRE ATT&CK", "https://attack.mitre.org/techniques/{path}/"),),
        stix_type="attack-pattern",
    ),
    IndicatorType(
        name="email", label="E-mail", noun="email address", hue=325, example="billing@evil.example",
        defanging="mailbox", lookup_rank=8, judgement="host",
        active_days=180, expires_days=365,
        stix_paths=("email-addr:value",),
        misp=("email", "Network activity"), misp_types=("email", "email-src", "email-dst", "email-reply-to"),
    ),
    IndicatorType(
        name="malware", label="Malware", noun="malware", hue=22, example="Emotet",
        lookup_rank=10, judgement="name", is_subject=True, includes="associated indicators",
        active_days=365,
        stix_type="malware",
    ),
)  # fmt: skip
TYPES: Final[Mapping[str, IndicatorType]] = MappingProxyType({each.name: each for each in INDICATOR_TYPES})
NAMES: Final = tuple(TYPES)
# Stores have room for so many.
MOST_TYPES: Final = 16


def named(*, judgement: Judgement) -> frozenset[str]:
    """Return the names of the types that are judged in one way."""
    return frozenset(each.name for each in INDICATOR_TYPES if each.judgement == judgement)


def read_from_misp() -> Mapping[str, str]:
    """Return our type for each type of a MISP attribute that holds one value."""
    return {theirs: each.name for each in INDICATOR_TYPES for theirs in each.misp_types}


def read_from_stix() -> Mapping[str, str]:
    """Return our type for each STIX property, `domain-name:value`; the names of hashes without quotes."""
    return {path.replace("'", ""): each.name for each in INDICATOR_TYPES for path in each.stix_paths}
