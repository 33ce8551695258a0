"""Links to outside services that know more of an indicator. The service itself never follows them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final
from urllib.parse import quote, urlsplit

_HASHES: Final = ("hash_md5", "hash_sha1", "hash_sha256")
_EVERY: Final = "*"
# By service and type of indicator; `{value}` is the value as an address holds it, `{twice}` the same encoded twice.
SERVICES: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "virustotal": {
            "ip": "https://www.virustotal.com/gui/ip-address/{value}",
            "domain": "https://www.virustotal.com/gui/domain/{value}",
            "url": "https://www.virustotal.com/gui/search/{twice}",
            **dict.fromkeys(_HASHES, "https://www.virustotal.com/gui/file/{value}"),
        },
        "urlscan": {
            "ip": "https://urlscan.io/search/#ip%3A%22{value}%22",
            "domain": "https://urlscan.io/search/#domain%3A{value}",
            "url": "https://urlscan.io/search/#page.url%3A%22{value}%22",
            "hash_sha256": "https://urlscan.io/search/#hash%3A{value}",
        },
        "shodan": {
            "ip": "https://www.shodan.io/host/{value}",
            "domain": "https://www.shodan.io/domain/{value}",
            "cve": "https://www.shodan.io/search?query=vuln%3A{value}",
        },
        "censys": {
            "ip": "https://search.censys.io/hosts/{value}",
            "domain": "https://search.censys.io/search?resource=hosts&q={value}",
        },
        "abuseipdb": {"ip": "https://www.abuseipdb.com/check/{value}"},
    }
)
# Services that stand elsewhere for everybody: what follows their address.
_OWN: Final = {"misp": "/events/index/searchall:{value}", "opencti": "/dashboard/search/knowledge/{value}"}
_NAMES: Final = {
    "virustotal": "VirusTotal",
    "shodan": "Shodan",
    "censys": "Censys",
    "abuseipdb": "AbuseIPDB",
    "misp": "MISP",
    "opencti": "OpenCTI",
}
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,39}")


def is_pivot(written: str) -> bool:
    """Tell whether a setting names a service, or one of its own with its address: `misp=https://misp.example.org`."""
    name, sign, address = written.partition("=")
    if not sign:
        return written in SERVICES
    parts = urlsplit(address)
    whole = name in _OWN or "{value}" in address
    return bool(whole and _NAME.fullmatch(name) and parts.scheme in ("http", "https") and parts.netloc)


def pivots(settings: Iterable[str], type: str, value: str) -> list[tuple[str, str]]:
    """Return (name, address) of each service that knows indicators of a type."""
    encoded = quote(value, safe="")
    found = []
    for written in settings:
        name, _, address = written.partition("=")
        template = _template(name, address, type)
        if template:
            link = template.replace("{value}", encoded).replace("{twice}", quote(encoded, safe=""))
            found.append((_NAMES.get(name, name), link))
    return found


def _template(name: str, address: str, type: str) -> str | None:
    if not address:
        return SERVICES[name].get(type)
    return address if "{value}" in address else address.rstrip("/") + _OWN[name]
