"""Read the key and the address of the service from the environment."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

DEFAULT_BASE_URL = "http://127.0.0.1:8000"

_SENDABLE_KEY = re.compile(r"[0-9A-Za-z._~+/=-]{1,255}")
_LOCAL_SUFFIXES = (".localhost", ".local", ".internal", ".home.arpa")
_LOCAL_NETWORKS = ("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7")


class SettingsError(Exception):
    """The environment cannot be used; the text is one sentence for a person and never holds the key."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The address of the service (no trailing slash) and the API key."""

    base_url: str
    api_key: str = field(repr=False)


def settings_from(environment: Mapping[str, str]) -> Settings:
    """Read `SERVICE_API_KEY` and `SERVICE_BASE_URL`; raise SettingsError if they cannot be used."""
    return Settings(
        base_url=_base_url(environment.get("SERVICE_BASE_URL", "").strip() or DEFAULT_BASE_URL),
        api_key=_api_key(environment.get("SERVICE_API_KEY", "").strip()),
    )


def _api_key(text: str) -> str:
    if not text:
        raise SettingsError("SERVICE_API_KEY is not set: give it a key (Settings > API Keys, or `ioc key create`).")
    if not _SENDABLE_KEY.fullmatch(text):
        raise SettingsError("SERVICE_API_KEY is malformed: give it the key alone, as it was shown (`ioc_...`).")
    return text


def _base_url(text: str) -> str:
    parts = _split(text)
    if parts.scheme == "http" and not _is_local(parts.hostname or ""):
        # The key would cross the network readable.
        raise SettingsError("SERVICE_BASE_URL must be https:// (http:// only for loopback, private and local names).")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def _split(text: str) -> SplitResult:
    malformed = SettingsError(
        "SERVICE_BASE_URL is malformed: give it an address such as https://ioc.example.org (no user, no query)."
    )
    if not text.isascii() or not text.isprintable() or any(mark in text for mark in " \\@?#"):
        raise malformed
    try:
        parts = urlsplit(text)
        has_port = parts.port != 0
    except ValueError:
        raise malformed from None
    if parts.scheme not in ("http", "https") or not parts.hostname or not has_port:
        raise malformed
    return parts


def _is_local(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return _is_local_name(host)
    return any(address in ipaddress.ip_network(network) for network in _LOCAL_NETWORKS)


def _is_local_name(host: str) -> bool:
    # A last label of digits is an odd spelling of an address (127.1, 0x7f.1), not a name.
    last_label = host.rstrip(".").rpartition(".")[2]
    if last_label[:1].isdigit():
        return False
    return "." not in host or host.endswith(_LOCAL_SUFFIXES)
