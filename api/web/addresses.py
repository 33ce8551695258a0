"""Addresses: of our own pages, of what lies outside, and where a visitor may be sent back to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote, urlencode, urlsplit

from starlette.requests import Request

from intel.settings import Settings

_HERE = re.compile(r"/(?![/\\])[^\x00-\x20\x7f-\x9f\\]{0,4000}")
_HOST = re.compile(r"[A-Za-z0-9.-]{1,253}(?::[0-9]{1,5})?|\[[0-9A-Fa-f:.]{2,45}\](?::[0-9]{1,5})?")


def ioc_path(type: str, value: str) -> str:
    """Return the stable address of an indicator's page; what means something in an address is encoded."""
    return f"/ioc/{type}/{quote(value, safe='', errors='replace')}"


def source_path(name: str) -> str:
    """Return the address of a source's page; what means something in an address is encoded."""
    return f"/sources/{quote(name, safe='', errors='replace')}"


def actor_path(name: str) -> str:
    """Return the address of a threat actor's page; what means something in an address is encoded."""
    return f"/actor/{quote(name, safe='', errors='replace')}"


def here(path: str | None) -> str:
    """Return `path` where it leads to this service, else `/`: no link of ours sends anybody elsewhere."""
    return path if path is not None and _HERE.fullmatch(path) else "/"


def here_of(request: Request) -> str:
    """Return path and query of a request as they came: decoded, an indicator's path could be read as another one."""
    raw = request.scope.get("raw_path") or quote(request.scope["path"]).encode()
    query = request.scope["query_string"]
    return (raw + b"?" + query if query else raw).decode("latin-1")


def with_query(path: str, parameters: Mapping[str, str | int | None]) -> str:
    """Return a path with those of the parameters that have a value."""
    query = urlencode({name: value for name, value in parameters.items() if value not in (None, "")}, errors="replace")
    return f"{path}?{query}" if query else path


def outside(url: str | None) -> str | None:
    """Return a foreign address that may be a link, else None: only the web, never a scheme that runs something."""
    try:
        parts = urlsplit(url or "")
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.netloc else None


def own_address(request: Request, settings: Settings) -> str:
    """Return the address under which this reader sees the service."""
    host = request.headers.get("host", "")
    if settings.ioc_base_url or not _HOST.fullmatch(host):
        return settings.base_url
    return f"{request.url.scheme}://{host}"
