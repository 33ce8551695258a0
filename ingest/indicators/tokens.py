"""Reads one token (a piece of text without white space) into what it may hold; knows nothing of its surroundings."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from ingest.indicators import noise
from ingest.indicators.hosts import domain_of, hosts_in, ipv6_in, mailboxes_in
from ingest.indicators.marks import AT, COLON, DOT, SEPARATOR, SLASH
from ingest.indicators.reading import Reading
from ingest.indicators.suffixes import is_top_level, registered_domain
from ingest.indicators.urls import bare_urls_in, spans_blanked, urls_in
from intel.canonical import canonical_ipv4
from intel.names import is_technique

_DASH: Final = "[-_\u2010-\u2015\u2212]"
_HASH: Final = re.compile(r"(?<![0-9A-Za-z])(?:[0-9a-fA-F]{64}|[0-9a-fA-F]{40}|[0-9a-fA-F]{32})(?![0-9A-Za-z])")
_CVE: Final = re.compile(
    rf"(?:(?<![a-zA-Z0-9])[Cc][Vv][Ee]|CVE){_DASH}([0-9]{{4}}){_DASH}([0-9]{{4,7}})(?![0-9])((?:/[0-9]{{4,6}}(?![0-9]))*+)"
)
_TECHNIQUE: Final = re.compile(r"(?<![A-Za-z0-9_.-])T([0-9]{4})(?:[./]([0-9]{3}))?(?![0-9A-Za-z_])(?!\.[0-9])")
_ADDRESS_SEGMENT: Final = re.compile(r"(?<=[/=])((?:[0-9]{1,3}\.){3}[0-9]{1,3})(?=[/?&#]|$)")
_WHOLE_HOST: Final = re.compile(
    rf"[`'\"(\[|*+]{{0,4}}+([a-z0-9-]++(?:(?:\.|{DOT}{{3}})[a-z0-9-]++)++)(?:[`'\"\]|*+,;:]|\)[.,]?|\.$){{0,4}}+"
)
_HAS_NAME: Final = re.compile(r"[^\W_]")
_HASH_TYPES: Final = {32: "hash_md5", 40: "hash_sha1", 64: "hash_sha256"}


@lru_cache(maxsize=1 << 13)
def read_word(token: str) -> tuple[Reading, ...]:
    """`read_token` for the tokens that many reports share."""
    return tuple(read_token(token))


def read_token(token: str) -> list[Reading]:
    """Everything that `token` may hold, in order of appearance."""
    found = _whole_hash(token) or _whole_host(token)
    if found:
        return found
    rest = token
    if "//" in token or SEPARATOR in token or ":\\" in token or "__" in token or "%3" in token or COLON in token:
        found = urls_in(token)
        if found:
            found += _addresses_looked_up(token, found)
            rest = spans_blanked(token, found)
            if not _HAS_NAME.search(rest):
                rest = ""
    if "@" in rest or AT in rest:
        mailboxes = mailboxes_in(rest)
        found += mailboxes
        found += [_host_of_mailbox(rest, mailbox) for mailbox in mailboxes]
        rest = spans_blanked(rest, mailboxes)
    if "." in rest or DOT in rest:
        hosts = hosts_in(rest)
        bare = bare_urls_in(rest, hosts) if "/" in rest or SLASH in rest else []
        found += _outside(hosts, bare)
    if rest.count(":") + rest.count(COLON) > 1:
        found += ipv6_in(rest)
    found += _named(token)
    if len(found) > 1:
        found.sort(key=lambda reading: (reading.start, -reading.end))
    return found


def _whole_hash(token: str) -> list[Reading]:
    """The commonest case first: the token is a hash, maybe in quotes or brackets."""
    if len(token) < 32:
        return []
    bare = token.strip("`'\"()[],;|*+-")
    type = _HASH_TYPES.get(len(bare))
    if type is None or not bare.isalnum() or _HASH.fullmatch(bare) is None or bare.isdigit():
        return []
    start = token.index(bare)
    return [Reading(type, bare.lower(), start, start + len(bare))]


def _whole_host(token: str) -> list[Reading]:
    """The next commonest: the token is a disarmed domain or an IPv4 address, maybe in quotes or brackets."""
    match = _WHOLE_HOST.fullmatch(token)
    if match is None:
        return []
    spelled = match[1]
    value = spelled.replace(DOT * 3, ".")
    defanged = len(value) < len(spelled)
    if value[-1].isdigit():
        return [Reading("ip", value, *match.span(1), defanged)] if canonical_ipv4(value) else []
    if not defanged or value.endswith(".py") or domain_of(value) is None or not is_top_level(value.rpartition(".")[2]):
        return []
    return [Reading("domain", value, *match.span(1), True)]


def _named(token: str) -> list[Reading]:
    """What has a shape of its own, wherever it stands: a hash or a CVE in a URL is one all the same."""
    found: list[Reading] = []
    if len(token) >= 32:
        found += [_hash(token, match) for match in _HASH.finditer(token)]
    if "CVE" in token or "cve" in token or "Cve" in token:
        for match in _CVE.finditer(token):
            numbers = [match[2], *match[3].split("/")[1:]]
            found += (Reading("cve", f"CVE-{match[1]}-{number}", *match.span()) for number in numbers)
    if "T" in token:
        for match in _TECHNIQUE.finditer(token):
            value = f"T{match[1]}.{match[2]}" if match[2] else f"T{match[1]}"
            if is_technique(value):
                found.append(Reading("mitre_attack", value, *match.span()))
    return found


def _hash(token: str, match: re.Match[str]) -> Reading:
    before = token[max(0, match.start() - 2) : match.start()]
    remark = ""
    if before in ("0x", "0X"):
        remark = "wallet or number in hexadecimal"
    elif match[0].isdigit():
        remark = "decimal number"
    return Reading(_HASH_TYPES[len(match[0])], match[0].lower(), *match.span(), remark=remark)


def _host_of_mailbox(token: str, mailbox: Reading) -> Reading:
    start = 1 + max(token.rfind("@", mailbox.start, mailbox.end), token.rfind(AT, mailbox.start, mailbox.end))
    return Reading("domain", mailbox.host, start, mailbox.end, mailbox.defanged, source=mailbox.value)


def _outside(hosts: list[Reading], bare: list[Reading]) -> list[Reading]:
    """The URLs without a scheme, and of the hosts those that stand in no URL's path."""
    kept = [host for host in hosts if not any(url.start < host.start < url.end for url in bare)]
    return [*bare, *kept]


def _addresses_looked_up(token: str, urls: list[Reading]) -> list[Reading]:
    """Addresses that a link to a look-up service asks about."""
    found: list[Reading] = []
    for url in urls:
        if url.type == "url" and registered_domain(url.host) in noise.LOOKUP_SERVICES:
            for match in _ADDRESS_SEGMENT.finditer(token, url.start, url.end):
                if all(int(octet) < 256 for octet in match[1].split(".")):
                    found.append(Reading("ip", match[1], *match.span(1), source=f"looked up at {url.host}"))
    return found
