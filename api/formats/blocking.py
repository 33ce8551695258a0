"""Indicators as what blocks or detects them: Suricata rules, a response policy zone, a hosts file.

Nothing that a stranger wrote can leave its place: names are letters, digits, hyphens and dots, anything else that a
rule looks for stands in it as hexadecimal bytes.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Sequence
from datetime import datetime
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from api.annotating import Annotations
from intel.canonical import defang
from intel.indicator_types import TYPES
from intel.records import Ioc
from intel.times import to_milliseconds

_SERVICE: Final = "IOC Intelligence"
# With room for `*.` before and a zone behind.
_NAME: Final = re.compile(
    r"(?=.{1,230}\Z)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
)
_NOT_PLAIN: Final = re.compile(r"[^A-Za-z0-9 ._/?=&%+~,@\[\]:-]")
_UNWRITTEN: Final = re.compile(rb"[^A-Za-z0-9._/?=&%+~,@-]")
_LONGEST_CONTENT: Final = 250
_LONGEST_MESSAGE: Final = 200
# Above what others number their rules by, and within 32 bits; as many as a bit each has room for.
_FIRST_SID, _SIDS = 1_000_000_000, 2**27


def domain_name(ioc: Ioc) -> str | None:
    """Return the name of a domain as hosts files and zones write it; None for what is none."""
    return ioc.value if ioc.type == "domain" and _NAME.fullmatch(ioc.value) else None


class SuricataRules:
    """Writes one rule for each address, domain and URL; what is seen otherwise is left out.

    A rule keeps its number as long as no other indicator of the export has the same.
    """

    def __init__(self, address: str, _now: datetime) -> None:
        self._address = address
        self._taken = bytearray(_SIDS // 8)

    def begin(self) -> bytes:
        # Without the time, so that a list in which nothing changed has the same `ETag`.
        return f"# {_SERVICE}\n".encode()

    def some(self, iocs: Sequence[Ioc], _noted: Annotations) -> bytes:
        return b"".join(self._rule(ioc, *seen) for ioc in iocs if (seen := _seen(ioc)) is not None)

    def end(self) -> Iterator[bytes]:
        return iter(())

    def _rule(self, ioc: Ioc, head: str, options: str) -> bytes:
        message = _NOT_PLAIN.sub("?", f"{_SERVICE}: {ioc.type} {defang(ioc.type, ioc.value)}")[:_LONGEST_MESSAGE]
        page = f"{_NOT_PLAIN.sub('?', self._address.partition('://')[2])}/api/v1/iocs/{ioc.id}"
        about = f"reference:url,{page}; classtype:trojan-activity; sid:{self._sid(ioc)}; rev:1;"
        return f'alert {head} (msg:"{message}"; {options}{about})\n'.encode()

    def _sid(self, ioc: Ioc) -> int:
        number = uuid.UUID(ioc.id).int % _SIDS
        while self._taken[number // 8] >> number % 8 & 1:
            number = (number + 1) % _SIDS
        self._taken[number // 8] |= 1 << number % 8
        return _FIRST_SID + number


def _seen(ioc: Ioc) -> tuple[str, str] | None:
    """Return protocol and addresses of a rule, and what it looks for; None for what no rule sees."""
    if "suricata" not in TYPES[ioc.type].block_lists:
        return None
    if ioc.type == "ip":
        return f"ip $HOME_NET any -> [{ip_address(ioc.value)}] any", ""
    if ioc.type == "domain" and (name := domain_name(ioc)):
        looks_for = f'dns.query; dotprefix; content:"{_content(f".{name}")}"; nocase; endswith; '
        return "dns $HOME_NET any -> any any", looks_for
    return _seen_url(ioc.value) if ioc.type == "url" else None


def _seen_url(url: str) -> tuple[str, str] | None:
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").encode("ascii")
    except ValueError:
        return None
    if not host or len(host) > _LONGEST_CONTENT:
        return None
    of_host = f'content:"{_content(host)}"; bsize:{len(host)}; '
    if parts.scheme == "https":
        return "tls $HOME_NET any -> any any", f"flow:established,to_server; tls.sni; {of_host}nocase; "
    if parts.scheme != "http":
        return None
    target = ((parts.path or "/") + (f"?{parts.query}" if parts.query else "")).encode(errors="replace")
    # What is percent-encoded stands so in the request alone.
    buffer = "http.uri.raw" if b"%" in target else "http.uri"
    whole = "endswith; " if len(target) <= _LONGEST_CONTENT else ""
    of_target = f'{buffer}; content:"{_content(target[:_LONGEST_CONTENT])}"; startswith; {whole}'
    return "http $HOME_NET any -> any any", f"flow:established,to_server; http.host; {of_host}{of_target}"


def _content(text: str | bytes) -> str:
    """Return what a rule looks for, every byte that might mean something in a rule as a number."""
    raw = text.encode(errors="replace") if isinstance(text, str) else text
    return _UNWRITTEN.sub(lambda byte: b"|%02X|" % byte.group()[0], raw).decode("ascii")


class PolicyZone:
    """Writes a response policy zone: a name, all below it and an address are answered as if they did not exist."""

    def __init__(self, _address: str, now: datetime) -> None:
        self._serial = to_milliseconds(now) // 1_000

    def begin(self) -> bytes:
        authority = f"@ IN SOA localhost. hostmaster.localhost. {self._serial} 3600 600 604800 300"
        return f"$TTL 300\n{authority}\n@ IN NS localhost.\n".encode()

    def some(self, iocs: Sequence[Ioc], _noted: Annotations) -> bytes:
        return "".join(map(_zone_lines, iocs)).encode()

    def end(self) -> Iterator[bytes]:
        return iter(())


def _zone_lines(ioc: Ioc) -> str:
    if name := domain_name(ioc):
        return f"{name} IN CNAME .\n*.{name} IN CNAME .\n"
    return f"{_address_trigger(ioc.value)} IN CNAME .\n" if ioc.type == "ip" else ""


def _address_trigger(value: str) -> str:
    """Return the owner name of an address: its length, then its parts from the last to the first."""
    address = ip_address(value)
    if address.version == 4:
        return ".".join(["32", *reversed(str(address).split(".")), "rpz-ip"])
    parts = re.sub("(?:^|:):(?:$|:)?", ":zz:", address.compressed).strip(":").split(":")
    return ".".join(["128", *reversed([part for part in parts if part]), "rpz-ip"])


class HostsFile:
    """Writes a hosts file: every domain leads nowhere."""

    def __init__(self, _address: str, _now: datetime) -> None:
        pass

    def begin(self) -> bytes:
        # Without the time, so that a list in which nothing changed has the same `ETag`.
        return f"# {_SERVICE}\n".encode()

    def some(self, iocs: Sequence[Ioc], _noted: Annotations) -> bytes:
        return "".join(f"0.0.0.0 {name}\n" for ioc in iocs if (name := domain_name(ioc))).encode()

    def end(self) -> Iterator[bytes]:
        return iter(())
