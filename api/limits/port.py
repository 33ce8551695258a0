"""The port through which requests are counted."""

from __future__ import annotations

from typing import Protocol

from api.limits.bucket import Decision, Rate


class LimiterUnavailable(Exception):
    """The place where buckets are shared did not answer in time; nothing is known about the request's bucket."""


class Limiter(Protocol):
    """Token buckets by key, the same for everybody who shares the adapter's store.

    - A bucket that nobody has used is full. It refills evenly, `rate.capacity` tokens in `rate.seconds`, never over its
      capacity; so a full bucket and its refill can pass within one window.
    - One allowed request costs one token. A refused one costs nothing and changes nothing.
    - Asking is atomic: of many requests at the same moment exactly as many pass as there are whole tokens.
    - A request made `retry_after_seconds` after a refusal passes, unless another one took that token first.
    - Time is the adapter's own (one clock for all who share a bucket), never the caller's; a clock set back neither
      gives tokens nor keeps them back.
    - A key always comes with the same rate; a rate that changed between two starts holds from the next request on.
    - Buckets that are full again are forgotten.
    - Keys are any text; they are never shown to a client.
    """

    async def take(self, key: str, rate: Rate) -> Decision:
        """Ask for one token of the bucket `key`.

        An adapter that shares its buckets may raise LimiterUnavailable, within about a second.
        """
        ...

    async def peek(self, key: str, rate: Rate) -> Decision:
        """Return what `take` would say now, `remaining` before its cost; changes nothing. Errors as for `take`."""
        ...

    async def give_back(self, key: str, rate: Rate) -> None:
        """Put one token back that `take` gave; the bucket never holds more than its capacity. Errors as for `take`."""
        ...

    async def answers(self) -> bool:
        """Say within about a second whether the place where buckets are shared is in reach; raises nothing."""
        ...

    async def close(self) -> None:
        """Give back connections; may be called twice."""
        ...
