"""Refuses requests that are meant for another host, so that DNS rebinding cannot read a local install."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from intel.settings import Settings

# A name or an address, maybe with a port.
_HOST = re.compile(r"(\[[0-9a-f:.]+(?:%[\w.-]+)?\]|[^\s\[\]:/?#@]+)(?::[0-9]{0,5})?")
_LOOPBACK_NAMES = ("localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback")
_LOOPBACK_SUFFIX = ".localhost"

MALFORMED = "The Host header is empty, malformed or repeated: send the host of the address once."
UNKNOWN = (
    "The service does not answer under this host name: use its address in IOC_BASE_URL, localhost or an IP address, "
    "or have its operator add the name to IOC_ALLOWED_HOSTS."
)


class HostMiddleware:
    """ASGI middleware that lets requests to the service's own hosts pass; `refuse(status, detail)` answers the others.

    An IP address passes, whichever it is: rebinding needs a name that its owner can point elsewhere.
    """

    def __init__(self, app: ASGIApp, settings: Settings, refuse: Callable[[int, str], ASGIApp]) -> None:
        self._app = app
        self._names = own_names(settings)
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        answer = self._app if refusal is None else self._refuse(*refusal)
        await answer(scope, receive, send)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        if not hosts:
            # No browser leaves it out.
            return None
        name = _host_name(hosts[0])
        if len(hosts) > 1 or name is None:
            return 400, MALFORMED
        listening = (scope.get("server") or ("",))[0]
        if name in self._names or name.endswith(_LOOPBACK_SUFFIX) or name == listening or _is_address(name):
            return None
        return 421, UNKNOWN


@lru_cache(maxsize=256)
def _host_name(host: bytes) -> str | None:
    return host_name(host.decode("latin-1"))


def own_names(settings: Settings) -> frozenset[str]:
    """Return the names under which the service answers, as `host_name` writes them."""
    public = urlsplit(settings.ioc_base_url or "").hostname
    written = (*_LOOPBACK_NAMES, public, settings.ioc_host, socket.gethostname(), *settings.ioc_allowed_hosts)
    return frozenset(_encoded(name.lower().removesuffix(".")) for name in written if name)


def host_name(host: str) -> str | None:
    """Return the host of a Host header in lower case, without its port, brackets and a final dot; None if malformed."""
    match = _HOST.fullmatch(host.strip().lower())
    return match[1].strip("[]").removesuffix(".") or None if match else None


def _encoded(name: str) -> str:
    """Write a name of another script as browsers send it."""
    try:
        return name.encode("idna").decode("ascii")
    except UnicodeError:
        return name


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
