"""What can be told before serving begins: a store that cannot be used, an engine that refuses our credentials."""

from __future__ import annotations

import asyncio
import contextlib

from redis.asyncio import Redis
from redis.exceptions import AuthenticationError, RedisError

from intel.errors import ConfigurationError, CredentialsRefused, StoreDamaged, StoreUnavailable
from intel.redis_client import connection_pool
from intel.settings import Settings
from intel.store import Store, open_store

_PATIENCE_SECONDS = 2.0
# A cluster that is just starting may know no users yet.
_TRIES = 8


def check_parts(settings: Settings) -> None:
    """Raise an error with a sentence where starting is in vain. Engines that do not answer yet may come later."""
    asyncio.run(_check(settings))


async def _check(settings: Settings) -> None:
    store = open_store(settings)
    try:
        if settings.redis_address is None:
            with contextlib.suppress(StoreDamaged):  # the service itself tells it
                await store.setup()
        else:
            await _check_redis(settings.redis_address)
            await _check_credentials(store)
    finally:
        await store.close()


async def _check_redis(address: str) -> None:
    pool = connection_pool(address, socket_timeout=_PATIENCE_SECONDS, socket_connect_timeout=_PATIENCE_SECONDS)
    redis = Redis.from_pool(pool)
    try:
        await redis.ping()
    except AuthenticationError:
        raise ConfigurationError(
            "Redis does not accept this service's password: correct REDIS_PASSWORD, or the password in REDIS_URL"
        ) from None
    except (RedisError, OSError):
        return
    finally:
        with contextlib.suppress(RedisError, OSError):
            await redis.aclose()


async def _check_credentials(store: Store) -> None:
    for attempt in range(_TRIES):
        try:
            await store.ping()
        except CredentialsRefused:
            if attempt == _TRIES - 1:
                raise
            await asyncio.sleep(1)
        except StoreUnavailable:
            return
        else:
            return
