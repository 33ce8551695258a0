"""Decide which URLs may be fetched, by their form alone; what their names resolve to is checked when dialling."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Final
from urllib.parse import quote, urljoin

import idna

from ingest.fetch.addresses import WEB_PORTS, Address, FetchAllow, blocked_port, check_address
from intel.errors import RefusedUrl

LONGEST_URL: Final = 2048
LONGEST_HOST: Final = 253

_URL: Final = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*+)://(?P<authority>[^/?#]*+)(?P<target>[^#]*+)(?:#.*)?", re.DOTALL
)
_AUTHORITY: Final = re.compile(r"(?:\[(?P<literal>[0-9A-Fa-f:.]*+)\]|(?P<name>[^:\[\]]*+))(?::(?P<port>[0-9]{0,5}))?")
_PORTS: Final = {"http": 80, "https": 443}
_PLAIN_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER: Final = re.compile(r"[0-9]+|0[xX][0-9A-Fa-f]*")
_ASCII_LOWER: Final = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
_SAFE_IN_TARGET: Final = "!\"#$%&'()*+,-./:;<=>?@[]^_`{|}~"  # everything visible: only what is not ASCII gets encoded
# Control, format (bidirectional marks among them), surrogate, private and unassigned characters; any separator.
_UNSEEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"})
# Names that no public DNS answers for, or that mean the machine or the network the service itself stands in.
_LOCAL_SUFFIXES: Final = tuple(
    f".{name}"
    for name in (
        "corp", "home", "home.arpa", "internal", "intranet", "lan", "local", "localdomain", "localhost", "private",
        "svc",
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SubmittableUrl:
    """A URL that may be tried: `host` in punycode (or an address without brackets), `target` path and query in ASCII.

    `literal` is the host where it is an address. These parts are what is dialled and sent: nothing reads the URL twice.
    """

    scheme: str
    host: str
    port: int
    target: str
    literal: Address | None

    @property
    def authority(self) -> str:
        """Host and, where it is not the scheme's own, port; as in a Host header."""
        host = f"[{self.host}]" if isinstance(self.literal, IPv6Address) else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"

    def join(self, location: str) -> str:
        """Return the URL that a redirect from here to `location` means; not checked yet."""
        return urljoin(str(self), location)


def check_url(url: str, allow: FetchAllow) -> SubmittableUrl:
    """Parse a URL strictly, or raise RefusedUrl with a reason.

    Reasons: `url_too_long forbidden_character malformed_url unsupported_scheme url_has_credentials bad_host local_name
    blocked_address blocked_port`.
    """
    _check_characters(url)
    parts = _URL.fullmatch(url)
    scheme = (parts["scheme"] if parts else url.partition(":")[0]).lower()
    if scheme not in _PORTS:
        raise RefusedUrl("unsupported_scheme", "Only addresses that begin with http:// or https:// are fetched.")
    if parts is None:
        raise RefusedUrl("malformed_url", "This is not a complete web address such as https://example.org/report.")
    host, literal, port = _read_authority(parts["authority"], _PORTS[scheme])
    _check_place(host, literal, port, allow)
    target = quote(parts["target"], safe=_SAFE_IN_TARGET)
    return SubmittableUrl(scheme, host, port, target if target.startswith("/") else f"/{target}", literal)


def _check_characters(url: str) -> None:
    if len(url) > LONGEST_URL:
        raise RefusedUrl("url_too_long", f"The address is longer than {LONGEST_URL} characters.")
    if "\\" in url or any(unicodedata.category(character) in _UNSEEN_CATEGORIES for character in url):
        raise RefusedUrl(
            "forbidden_character", "The address holds a space, a backslash, a control or an invisible character."
        )


def _read_authority(authority: str, default_port: int) -> tuple[str, Address | None, int]:
    if "@" in authority:
        raise RefusedUrl("url_has_credentials", "The address holds a user name or password; leave them out.")
    parts = _AUTHORITY.fullmatch(authority)
    if parts is None:
        raise _bad_host()
    port = int(parts["port"] or default_port)
    if not 0 < port < 65536:
        raise RefusedUrl("malformed_url", "The port is not a number between 1 and 65535.")
    if parts["literal"] is not None:
        six = _ipv6(parts["literal"])
        return str(six), six, port
    host = _host_name(parts["name"])
    four = _ipv4(host)
    return host, four, port


def _check_place(host: str, literal: Address | None, port: int, allow: FetchAllow) -> None:
    if literal is not None:
        check_address(literal, port, allow)
    elif _is_local(host) and not allow.local_names:
        raise RefusedUrl("local_name", "The host is a name of a local network, not of the public internet.")
    elif port not in WEB_PORTS and not allow.admits_port(port):
        raise blocked_port()


def is_public_name(name: str) -> bool:
    """Say whether a host is a name, well formed, that the public DNS can know."""
    try:
        host = _host_name(name)
        return _ipv4(host) is None and not _is_local(host)
    except RefusedUrl:
        return False


def _is_local(host: str) -> bool:
    return "." not in host or f".{host}".endswith(_LOCAL_SUFFIXES)


def _host_name(name: str) -> str:
    """Return the name in lower case and punycode, without a final dot."""
    host = name.translate(_ASCII_LOWER).removesuffix(".")
    labels = [_label(label) for label in host.split(".")]
    host = ".".join(labels)
    if len(host) > LONGEST_HOST:
        raise _bad_host()
    return host


def _label(label: str) -> str:
    if _PLAIN_LABEL.fullmatch(label) and not label.startswith("xn--"):
        return label
    if label.isascii() and not label.startswith("xn--"):
        raise _bad_host()
    try:
        return idna.alabel(label).decode("ascii")
    except (idna.IDNAError, UnicodeError):
        raise _bad_host() from None


def _ipv4(host: str) -> IPv4Address | None:
    """Return the address that a host with a numeric last label must be: resolvers also read `127.1` and `0x7f.1` so."""
    if not _NUMBER.fullmatch(host.rpartition(".")[2]):
        return None
    try:
        return IPv4Address(host)
    except AddressValueError:
        raise _bad_host() from None


def _ipv6(literal: str) -> IPv6Address:
    try:
        return IPv6Address(literal)
    except AddressValueError:
        raise _bad_host() from None


def _bad_host() -> RefusedUrl:
    return RefusedUrl("bad_host", "The host in the address is not a valid name or address of the internet.")
