"""What a connection may cost and how many may be open at once."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from intel.settings import Settings

with contextlib.suppress(ImportError):  # Windows has no such limit to ask for.
    import resource

_MOST_CONNECTIONS = 2_048
# The store, the queue, pages that are fetched and the processes that read them take files of their own.
_FILES_OF_THE_SERVICE = 64
_ENOUGH_FILES = 2 * _MOST_CONNECTIONS
_FEWEST_CONNECTIONS = 8


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """The limits of one process.

    A client must read at least `unread_bytes` of a waiting answer in any `unread_seconds`.
    """

    connections: int = _MOST_CONNECTIONS
    connections_per_address: int = _MOST_CONNECTIONS // 2
    head_bytes: int = 64 * 1024
    head_fields: int = 1_000
    head_seconds: float = 10
    body_seconds: float = 15
    idle_seconds: float = 15
    unread_seconds: float = 30
    unread_bytes: int = 32 * 1024
    discarded_bytes: int = 16 * 1024 * 1024
    closing_seconds: float = 2


def connection_limits(settings: Settings, open_files: int) -> ConnectionLimits:
    """Return the limits for a process that may have `open_files` files open.

    Connections that would leave too few files for the service itself are not allowed, whatever the settings say.
    """
    room = max(_FEWEST_CONNECTIONS, open_files - max(_FILES_OF_THE_SERVICE, open_files // 4))
    most = min(settings.ioc_most_connections or _MOST_CONNECTIONS, room)
    return ConnectionLimits(
        connections=most,
        connections_per_address=min(settings.ioc_most_connections_per_address or max(1, most // 2), most),
    )


def raise_open_files() -> int:
    """Raise the limit of open files to what full use needs, as far as this process may, and return it."""
    try:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    except NameError:
        return _ENOUGH_FILES
    if soft == resource.RLIM_INFINITY:
        return _ENOUGH_FILES
    wanted = _ENOUGH_FILES if hard == resource.RLIM_INFINITY else min(hard, _ENOUGH_FILES)
    if soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    return soft
