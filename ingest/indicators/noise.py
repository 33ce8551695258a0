"""Know what is well known and harmless: hosts that reports link to, mailboxes for readers, addresses that are no
one's.
"""

from __future__ import annotations

import ipaddress
import json
from bisect import bisect_right
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

from ingest.indicators.late import late
from ingest.indicators.vocabulary import words
from intel.suffixes import registered_domain, site_domain

MAILBOX_PROVIDERS: Final = words("mailbox_providers")
REFERENCE_HOSTS: Final = frozenset(
    {
        "attack.mitre.org", "cve.mitre.org", "nvd.nist.gov", "www.cve.org", "cve.org", "cwe.mitre.org",
        "capec.mitre.org", "d3fend.mitre.org", "www.first.org", "torproject.org", "www.torproject.org",
        "any.run", "app.any.run",
        # They name the vocabulary of a document and lead nowhere.
        "schemas.openxmlformats.org", "schemas.microsoft.com", "schemas.android.com", "schemas.xmlsoap.org",
        "www.w3.org", "purl.org", "ns.adobe.com", "xmlns.com",
    }
)  # fmt: skip
LOOKUP_SERVICES: Final = frozenset(
    {
        "virustotal.com", "abuseipdb.com", "alienvault.com", "urlscan.io", "shodan.io", "censys.io", "abuse.ch",
        "greynoise.io", "threatfox.com", "hybrid-analysis.com", "any.run", "joesandbox.com", "tria.ge", "riskiq.net",
        "ipinfo.io", "domaintools.com", "whois.com", "otx.alienvault.com", "threatcrowd.org",
        "talosintelligence.com",
    }
)  # fmt: skip
# Anyone may keep files or messages there: a URL on them is an indicator, their host says nothing.
SHARING_SERVICES: Final = words("stores") | words("stores", "code") | words("stores", "others")
# Anyone may say something there, to people or to programs: the URL of what was said may be an indicator.
_PUBLISHING_SERVICES: Final = frozenset(
    {
        "bitbucket.org", "discord.com", "discord.gg", "gitlab.com", "mastodon.social", "medium.com", "notion.so",
        "reddit.com", "slack.com", "sourceforge.net", "steamcommunity.com", "trello.com", "tumblr.com", "twitter.com",
        "vimeo.com", "x.com", "youtu.be", "youtube.com",
    }
)  # fmt: skip
_RESERVED_DOMAINS: Final = frozenset({"example.com", "example.org", "example.net", "localhost"})
_RESERVED_ENDS: Final = tuple(_RESERVED_DOMAINS)
_RESERVED_TOPS: Final = frozenset({"example", "test", "invalid", "localhost", "local", "arpa"})
# What writers put where the reader is to think of a host.
_PLACEHOLDERS: Final = late(
    r"(?:(?:www|sub|cdn|api|mail|[a-z]|host|honeypot|server|evil|c2)\.)?(?:(?:your|my|some|any|the|legit|legitimate|target|victim|attacker|fake|c2"
    r"|our)-?_?"
    r"(?:domain|server|site|host|company|website|e?-?mail|firm|org|organi[sz]ation|c2|url|address|name|machine|box|controlled-?domain)s?"
    r"|domain|dominio|usuario|ejemplo|exemplo|subdomain|attacker|victim|c2domain|c2server|c2-?host|targetdomain|domain-?name|hostname|abcdefg?)"
    r"\.(?:com|net|org|tld|xyz|io|local|ru|co)"
)
_ENDS_OF_PLACEHOLDERS: Final = (".com", ".net", ".org", ".tld", ".xyz", ".io", ".local", ".ru", ".co")
# `82.xxx.xxx.xxx`, `xxxx@mail.example`: what a writer left out.
_MASKED: Final = late(r"(?:[\w-]+\.){0,3}x{2,}(?:\.x{2,})+")
_MASKED_NAME: Final = late(r"x{3,}")
# `www.xxxxxx.com`, `node-xxxx.gale.example`, `198.51.100.xxx`: nobody has such a name.
_MASKED_HOST: Final = late(
    r"(?:[\w-]{1,63}\.){0,5}(?:[\w-]{1,58}-)?x{4,}(?:-[\w-]{1,58})?\.[\w.-]{2,200}|(?:\d{1,3}\.){1,3}x{2,3}"
)
_LOOKS_EXCHANGED: Final = late(r"rn|vv|[01]")
_LOOK_ALIKE: Final = str.maketrans("01", "ol")
_SHORTEST_KNOWN_NAME: Final = 5
# Whoever reads an example: `victim@example.com`.
_ANYBODY: Final = frozenset(
    {
        "victim", "target", "recipient", "user", "username", "you", "your", "name", "someone", "somebody", "anyone",
        "john.doe", "johndoe", "jdoe", "jane.doe", "alice", "foo", "example", "employee", "opfer", "victime",
        "usuario", "utilisateur", "utente",
    }
)  # fmt: skip
_CONTACT_MAILBOXES: Final = frozenset(
    {
        "info", "press", "media", "contact", "support", "sales", "security", "cert", "soc", "psirt", "report",
        "reports", "help", "abuse", "privacy", "legal", "marketing", "pr", "newsletter", "feedback", "editor",
        "careers", "jobs", "hello", "noc", "ir", "csirt", "redaktion", "redaccion", "redazione", "redacao", "kontakt",
        "contacto", "contato", "contatti", "contatto", "prensa", "presse", "imprensa", "stampa", "hinweise", "tips",
        "threatintel", "intel", "research", "incident", "incidents", "disclosure",
        "vulnerability", "webmaster", "admin", "postmaster", "hostmaster", "git", "root",
    }
)  # fmt: skip
# By which those are reached who take reports; nobody writes lures from there.
_DESKS: Final = late(
    r"(?:(?:global|eu|net|mail|web)?abuse|noc|(?:[\w-]{1,20}[._-]|[a-z]{2})?c(?:si|e)rt[0-9]{0,4}(?:[._-][\w-]{1,20})?|1[0-9]{2}|psirt|pr"
    r"|press|presse|prensa|imprensa"
    r"|stampa|press(?:e|office|room|stelle)|newsroom|redaktion|redakc[jy]a|redaccion|redazione|meldestelle"
    r"|incident[oe]?s?|incidenci?as?"
    r"|incydent\w*|ihbar|phish\w*report|report(?:ing)?[._-]?(?:phish\w*|spam|abuse)|cyber-?alerts?|hotline|e=.{1,60}|dfir"
    r"|threat-?intel)"
)
_CONTACT_WORD: Final = late(
    r"threat|intel(?:ligence)?(?![a-z])|research|psirt|csirt|newsroom|editor|disclos|vulnerab|incident|(?:^"
    r"|[._-])cert(?:$|[._-])"
)
_BEHIND_PROVIDERS: Final = ipaddress.ip_network("100.64.0.0/10")
# `192.0.2.0/24`, `198.51.100.0/24`, `203.0.113.0/24` and `2001:db8::/32`, as canonical addresses begin.
_FIRST_OF_DOCUMENTATION: Final = ("192.0.2.", "198.51.100.", "203.0.113.", "2001:db8:")
# The first numbers of the IPv4 blocks in which all or some addresses are no one's; from 224 on all are.
_WHOLLY_SPECIAL: Final = frozenset({"0", "10", "127"})
_PARTLY_SPECIAL: Final = _WHOLLY_SPECIAL | {"100", "169", "172", "192", "198", "203"}
_FIRST_SPECIAL: Final = 224
# The first groups of the IPv6 blocks between which no address is set apart, as canonical addresses write them. In the
# first one only what stands below `2001:200::`, and `2001:db8::`, is.
_HOLDS_SPECIAL_ONES: Final = "2001"
_HOLDS_SPECIAL_ONES_TOO: Final = "2002"
_FIRST_BEYOND: Final = "3fff"
_DIGITS_OF_A_GROUP: Final = 4
RESOLVER: Final = "public resolver"
_RESOLVERS: Final = frozenset(
    {
        # Google, Cloudflare, Quad9, OpenDNS, Level 3, AdGuard, Control D, Yandex, CleanBrowsing, Verisign, Comodo
        "8.8.8.8", "8.8.4.4", "1.1.1.1", "1.0.0.1", "1.1.1.2", "1.0.0.2", "1.1.1.3", "1.0.0.3", "9.9.9.9", "9.9.9.10",
        "9.9.9.11", "149.112.112.112", "149.112.112.10", "208.67.222.222", "208.67.220.220", "208.67.222.123",
        "208.67.220.123", "4.2.2.1", "4.2.2.2", "4.2.2.3", "4.2.2.4", "4.2.2.5", "4.2.2.6", "94.140.14.14",
        "94.140.15.15", "94.140.14.15", "94.140.15.16", "76.76.2.0", "76.76.10.0", "77.88.8.8", "77.88.8.1",
        "77.88.8.2", "77.88.8.88", "77.88.8.7", "185.228.168.9", "185.228.169.9", "185.228.168.168", "64.6.64.6",
        "64.6.65.6", "8.26.56.26", "8.20.247.20", "195.46.39.39", "84.200.69.80", "84.200.70.40", "74.82.42.42",
        # AliDNS, DNSPod, 114DNS, Baidu, CNNIC; KT, SK, LG; HiNet
        "223.5.5.5", "223.6.6.6", "119.29.29.29", "119.28.28.28", "182.254.116.116", "114.114.114.114",
        "114.114.115.115", "180.76.76.76", "1.2.4.8", "210.2.4.8", "168.126.63.1", "168.126.63.2", "210.220.163.82",
        "219.250.36.130", "164.124.101.2", "203.248.252.2", "168.95.1.1", "168.95.192.1",
        "2001:4860:4860::8888", "2001:4860:4860::8844", "2606:4700:4700::1111", "2606:4700:4700::1001", "2620:fe::fe",
        "2620:fe::9", "2400:3200::1", "2400:3200:baba::1",
    }
)  # fmt: skip


# Registries give these to authorities and schools alone.
_OF_AUTHORITIES: Final = (
    ".gov",
    ".mil",
    ".edu",
    ".gc.ca",
    ".admin.ch",
    ".bund.de",
    ".go.jp",
    ".go.kr",
    ".police.uk",
    ".nhs.uk",
)
_OF_AUTHORITIES_ABROAD: Final = late(r"\.(?:gov|edu|gob|gouv)\.[a-z]{2}\Z")
# Whoever rents one names it: it is theirs, and not the provider's.
_BUCKET: Final = late(r"\.(?:s3[.-](?:[a-z0-9-]{1,20}\.){0,2}amazonaws\.com|(?:blob|web)\.core\.windows\.net)\Z")
_AT_A_PROVIDER_OF_BUCKETS: Final = (".amazonaws.com", ".windows.net")


@cache
def _groups_of_known_hosts() -> dict[str, list[str]]:
    groups: dict[str, list[str]] = json.loads(
        (files("ingest.indicators") / "known_hosts.json").read_text(encoding="utf-8")
    )
    return groups


@cache
def _known_hosts() -> frozenset[str]:
    return frozenset(host for hosts in _groups_of_known_hosts().values() for host in hosts)


@cache
def _publishers() -> frozenset[str]:
    return frozenset(_groups_of_known_hosts()["publishers of reports"])


@lru_cache(maxsize=16384)
def is_known_host(host: str) -> bool:
    """Tell whether a host belongs to a well-known publisher, vendor, service or authority."""
    if host.endswith(_OF_AUTHORITIES) or (host[-3:-2] == "." and _OF_AUTHORITIES_ABROAD.search(host)):
        return True
    if host.endswith(_AT_A_PROVIDER_OF_BUCKETS) and _BUCKET.search(host):
        return False
    known = _known_hosts()
    while "." in host:
        if host in known:
            return True
        host = host.partition(".")[2]
    return False


@lru_cache(maxsize=4096)
def imitates_a_known_name(host: str) -> bool:
    """Tell whether a host bears a well-known name in which signs were exchanged for some that look like them:
    `rnicrosoft-portal.com`, `g00gle.com`.
    """
    name = site_domain(host).partition(".")[0]
    for part in (name, *name.split("-")) if "-" in name else (name,):
        # `rn` and digits for letters are what betrays it: `modern` becomes no name that anybody knows.
        if _LOOKS_EXCHANGED.search(part) and part not in _known_names() and _as_it_looks(part) in _known_names():
            return True
    return False


def _as_it_looks(name: str) -> str:
    return name.replace("rn", "m").replace("vv", "w").translate(_LOOK_ALIKE)


@cache
def _known_names() -> frozenset[str]:
    names = (site_domain(host).partition(".")[0] for host in _known_hosts())
    return frozenset(name for name in names if len(name) >= _SHORTEST_KNOWN_NAME)


def is_sharing_service(host: str) -> bool:
    """Tell whether anyone may put files or messages there under the very same host."""
    return host.removeprefix("www.") in SHARING_SERVICES


def holds_anything(host: str) -> bool:
    """Tell whether anyone may put files, messages or posts there."""
    return is_sharing_service(host) or registered_domain(host) in _PUBLISHING_SERVICES


def is_placeholder(host: str) -> bool:
    """Tell whether a name stands for any other: `domain.com`, `your-server.net`, `82.xxx.xxx.xxx`."""
    if host.endswith(_ENDS_OF_PLACEHOLDERS):
        return _PLACEHOLDERS.fullmatch(host) is not None
    return host.endswith("xx") and _MASKED.fullmatch(host) is not None


def is_masked_host(host: str) -> bool:
    """Tell whether a part of a host was left out: `www.xxxxxx.com`, `198.51.100.xxx`."""
    return ("xxxx" in host or host.endswith(".xxx")) and _MASKED_HOST.fullmatch(host) is not None


def is_masked(local: str) -> bool:
    """Tell whether the part of a mailbox before its host was left out: `xxxx`."""
    return _MASKED_NAME.fullmatch(local.lower()) is not None


def is_anybodys(mailbox: str) -> bool:
    """Tell whether the part of a mailbox before its host stands for whoever reads it: `victim@example.com`."""
    return mailbox.partition("@")[0].lower() in _ANYBODY


def is_shared_front(address: str) -> bool:
    """Tell whether an IPv4 address belongs to a network that everybody meets: of one that delivers the pages or mail of
    very many, of a search engine, a scanner of researchers, a sinkhole.
    """
    if ":" in address:
        return False
    number = int(ipaddress.IPv4Address(address))
    firsts, lasts = _shared_fronts()
    place = bisect_right(firsts, number) - 1
    return place >= 0 and number <= lasts[place]


@cache
def _shared_fronts() -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the first and the last address of each network, in order."""
    networks = list(ipaddress.collapse_addresses(map(ipaddress.IPv4Network, words("shared_fronts"))))
    return (
        tuple(int(network.network_address) for network in networks),
        tuple(int(network.broadcast_address) for network in networks),
    )


def is_reserved_host(host: str) -> bool:
    """Tell whether a name is set apart for examples and tests (RFC 2606, RFC 6761)."""
    return host.rpartition(".")[2] in _RESERVED_TOPS or (
        host.endswith(_RESERVED_ENDS) and registered_domain(host) in _RESERVED_DOMAINS
    )


def is_mailbox_provider(host: str) -> bool:
    """Tell whether anyone may have a mailbox there, so that the host says nothing about its user."""
    return host in MAILBOX_PROVIDERS or registered_domain(host) in MAILBOX_PROVIDERS


def is_contact_mailbox(local: str) -> bool:
    """Tell whether a mailbox is one by which an organisation is reached (`press@`, `abuse@`)."""
    return local.lower() in _CONTACT_MAILBOXES or _CONTACT_WORD.search(local.lower()) is not None


def is_desk(local: str) -> bool:
    """Tell whether a mailbox is one that takes reports or speaks for an organisation, and sends nothing else."""
    return _DESKS.fullmatch(local.lower()) is not None


def is_reference_host(host: str) -> bool:
    """Tell whether readers are sent to a host, to look something up or to get what they need, however it is spelled."""
    domain = registered_domain(host)
    return (
        host in REFERENCE_HOSTS or domain in LOOKUP_SERVICES or (domain in _publishers() and not holds_anything(host))
    )


def address_noise(address: str) -> str:
    """Return why an address says nothing about an attacker, or nothing; addresses for documentation count as public."""
    if address in _RESOLVERS:
        return RESOLVER
    first = address.partition(".")[0]
    if first.isdecimal() and int(first) < _FIRST_SPECIAL and first not in _PARTLY_SPECIAL:
        return ""
    if first in _WHOLLY_SPECIAL:
        return "reserved address"
    if _is_ordinary_ipv6(address):
        return ""
    if is_for_documentation(address):
        return ""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return ""
    if ip in _BEHIND_PROVIDERS:
        return "reserved address"
    if ip.is_multicast or ip.is_unspecified or ip.is_loopback or ip.is_link_local or ip.is_reserved or ip.is_private:
        return "reserved address"
    return ""


def _is_ordinary_ipv6(address: str) -> bool:
    """Tell by its first two groups that an address is of those that are given to networks, as nearly all are."""
    first, _, rest = address.partition(":")
    if not rest or len(first) != _DIGITS_OF_A_GROUP:
        return False
    if first == _HOLDS_SPECIAL_ONES:
        second = rest.partition(":")[0]
        return len(second) == _DIGITS_OF_A_GROUP or (len(second) == 3 and second[0] > "1" and second != "db8")
    return _HOLDS_SPECIAL_ONES_TOO < first < _FIRST_BEYOND


def is_for_documentation(address: str) -> bool:
    """Tell whether an address is set apart for documentation (RFC 5737, RFC 3849)."""
    return address.startswith(_FIRST_OF_DOCUMENTATION)


def warnings(type: str, value: str) -> tuple[tuple[str, str], ...]:
    """Return (list, reason) of every list of harmless things that holds an indicator; for showing beside it."""
    if type == "ip":
        kind = address_noise(value)
        return (("addresses", f"{kind}: says nothing about an attacker"),) if kind else ()
    host = _host(type, value)
    if not host:
        return ()
    found: list[tuple[str, str]] = []
    if is_reserved_host(host):
        found.append(("reserved names", "set apart for examples and tests"))
    if type == "email" and is_mailbox_provider(host):
        found.append(("mailbox providers", "anyone may have a mailbox there: block the address, not the host"))
    elif is_known_host(host):
        found.append(("well-known hosts", "used by many for lawful ends: look at the whole value before blocking"))
    return tuple(found)


def _host(type: str, value: str) -> str:
    if type == "url":
        ahead = value.partition("://")[2].partition("/")[0].partition("?")[0].partition("#")[0]
        return ahead.rpartition("@")[2].partition(":")[0]
    return value.rpartition("@")[2] if type in ("domain", "email") else ""
