"""Connect to Redis by an address: to one server, or to whichever server the Sentinels call the master.

    redis://[[user]:password@]host[:6379][/0]         rediss:// with TLS; unix:///path of a socket
    redis+sentinel://[[user]:password@]host[:26379],host…/master[/0]      rediss+sentinel:// with TLS to both

`?ssl_ca_certs=FILE` names the certificate authority, `?sentinel_password=` the Sentinels' own password. A certificate
must bear the name or address that is connected to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import unquote, urlsplit, urlunsplit

from intel.imports import put_off

# The client needs it for tokens of Microsoft's directory alone, and with it comes all cryptography: 9 MB.
with put_off("jwt"):
    from redis.asyncio import Redis
    from redis.asyncio.connection import ConnectionPool, parse_url
    from redis.asyncio.sentinel import Sentinel, SentinelConnectionPool
    from redis.exceptions import RedisError

_SENTINEL: Final = "+sentinel"
_PORT: Final = 6_379
_SENTINEL_PORT: Final = 26_379
_ASKING_SECONDS: Final = 0.5
_SCHEMES: Final = ("redis", "rediss", "unix", f"redis{_SENTINEL}", f"rediss{_SENTINEL}")


def is_redis_address(address: str) -> bool:
    """Tell whether `connection_pool` can read an address."""
    try:
        parts = urlsplit(address)
        if parts.scheme.endswith(_SENTINEL):
            master, _, database = parts.path.strip("/").partition("/")
            return parts.scheme in _SCHEMES and bool(master) and bool(_hosts(parts.netloc)) and _is_number(database)
        has_place = bool(parts.path if parts.scheme == "unix" else parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return parts.scheme in _SCHEMES and has_place and (parts.scheme == "unix" or _is_number(parts.path.strip("/")))


def connection_pool(address: str, pool_class: type[ConnectionPool] = ConnectionPool, **options: Any) -> ConnectionPool:
    """Return connections to the Redis at an address; `pool_class` is that of connections to one server."""
    scheme = urlsplit(address).scheme
    if scheme.startswith("rediss"):
        options.setdefault("ssl_check_hostname", True)
    if scheme.endswith(_SENTINEL):
        return _pool_of_master(address, options)
    return pool_class.from_url(address, **options)


async def tls_places(address: str) -> list[tuple[str, int]]:
    """Return the hosts and ports of an address that speak TLS, that of the master too if the Sentinels name one."""
    parts = urlsplit(address)
    if not parts.scheme.startswith("rediss"):
        return []
    if not parts.scheme.endswith(_SENTINEL):
        return [(parts.hostname or "", parts.port or _PORT)]
    pool: Any = connection_pool(address)
    try:
        return [*_hosts(parts.netloc), await pool.get_master_address()]
    except (RedisError, OSError):
        return _hosts(parts.netloc)
    finally:
        await pool.disconnect()


def _pool_of_master(address: str, options: dict[str, Any]) -> ConnectionPool:
    parts = urlsplit(address)
    master, _, database = parts.path.strip("/").partition("/")
    scheme = parts.scheme.removesuffix(_SENTINEL)
    credentials = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
    one = urlunsplit((scheme, f"{credentials}master", f"/{database}", parts.query, ""))
    # What the address says of the master's host is a place holder: the Sentinels name it.
    given = {name: value for name, value in parse_url(one).items() if name not in ("host", "port", "connection_class")}
    asking = {name.removeprefix("sentinel_"): given.pop(name) for name in tuple(given) if name.startswith("sentinel_")}
    options |= given
    tls = {"ssl": True} if scheme == "rediss" else {}
    asking |= tls | {name: value for name, value in options.items() if name.startswith("ssl_")}
    asking |= {"socket_timeout": _ASKING_SECONDS, "socket_connect_timeout": _ASKING_SECONDS}
    # A pool's own time to wait for a connection is not a connection's.
    options.pop("timeout", None)
    sentinels = Sentinel(_hosts(parts.netloc), sentinel_kwargs=asking)  # type: ignore[no-untyped-call]  # redis-py's
    return _MasterPool(unquote(master), sentinels, **options, **tls)  # type: ignore[no-untyped-call]  # redis-py's


class _MasterPool(SentinelConnectionPool):
    """Connections to the master that give back those to the Sentinels too."""

    async def disconnect(self, inuse_connections: bool = True) -> None:
        await super().disconnect(inuse_connections)
        if inuse_connections:
            sentinels: Sequence[Redis] = self.sentinel_manager.sentinels
            for sentinel in sentinels:
                await sentinel.aclose()


def _hosts(netloc: str) -> list[tuple[str, int]]:
    """Return the hosts of an address with their ports. Raises ValueError."""
    found = []
    for part in netloc.rpartition("@")[2].split(","):
        one = urlsplit(f"//{part}")
        if not one.hostname or one.port == 0:
            raise ValueError(f"{part!r} is no host")
        found.append((one.hostname, one.port or _SENTINEL_PORT))
    return found


def _is_number(text: str) -> bool:
    return not text or text.isdecimal()
