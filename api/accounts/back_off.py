"""How often somebody may try a password or sign up, on all servers together. Only wrong passwords are counted.

| who tries | what is counted | wrong passwords |
|---|---|---|
| a browser that signed in to the account before, or is signed in to it | that browser | 10 in 5 minutes |
| anybody else | the account from their network | 10 in 5 minutes |
| | their network, whichever the accounts | 30 in 5 minutes |
| | the account from all networks, strangers only | 60 an hour; beyond that a network has 3 an hour |

So guesses from elsewhere never lock an owner out: neither a known browser nor a network that has not guessed itself. An
attacker with many networks gets three guesses an hour out of each.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from api.limits.bucket import Decision, Rate
from api.limits.client_address import network_of
from api.limits.port import Limiter

_MINUTES, _HOUR = 5 * 60, 60 * 60
_SIGN_IN = Rate(10, _MINUTES, "sign-in")
_NETWORK = Rate(30, _MINUTES, "sign-in")
_ACCOUNT = Rate(60, _HOUR, "sign-in")
_NETWORK_OF_ATTACKED_ACCOUNT = Rate(3, _HOUR, "sign-in")
_SIGN_UP = Rate(20, _HOUR, "sign-up")


@dataclass(frozen=True, slots=True)
class _Bucket:
    key: str
    rate: Rate


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try at a password; `refusal` is set where the password must not even be looked at."""

    limiter: Limiter
    paid: tuple[_Bucket, ...] = ()
    refusal: Decision | None = None

    async def was_right(self) -> None:
        """Give back what the try cost: the right password is free."""
        await asyncio.gather(*(self.limiter.give_back(bucket.key, bucket.rate) for bucket in self.paid))


@dataclass(frozen=True, slots=True)
class BackOff:
    """Pays for tries and sign-ups."""

    limiter: Limiter

    async def sign_in(self, account: str, address: str, known_as: str | None) -> Attempt:
        """Pay for a try at the password of an account, existing or not, from a client address.

        `known_as` names the browser where it is known to belong to the account.
        """
        if known_as is not None:
            return await self.known(known_as)
        network = network_of(address)
        attempt = await self._pay(
            [
                _Bucket(f"sign-in:network:{network}", _NETWORK),
                _Bucket(f"sign-in:account:{account}:{network}", _SIGN_IN),
            ]
        )
        if attempt.refusal is not None:
            return attempt
        everywhere = await self._pay([_Bucket(f"sign-in:account:{account}", _ACCOUNT)])
        if everywhere.refusal is not None:
            everywhere = await self._pay(
                [_Bucket(f"sign-in:attacked:{account}:{network}", _NETWORK_OF_ATTACKED_ACCOUNT)]
            )
        return Attempt(self.limiter, attempt.paid + everywhere.paid, everywhere.refusal)

    async def known(self, browser: str) -> Attempt:
        """Pay for a try at a password from a known browser."""
        return await self._pay([_Bucket(f"sign-in:known:{browser}", _SIGN_IN)])

    async def second_factor(self, account: str, known_as: str | None) -> Attempt:
        """Pay for a try at a two-factor code of an account whose password was right."""
        who = f"known:{known_as}" if known_as is not None else f"account:{account}"
        return await self._pay([_Bucket(f"two-factor:{who}", _SIGN_IN)])

    async def open_id(self, address: str) -> Decision:
        """Pay for a step of signing in through the provider, from a client address."""
        return await self.limiter.take(f"open-id:{network_of(address)}", _NETWORK)

    async def sign_up(self, address: str) -> Decision:
        """Pay for a new account from a client address."""
        return await self.limiter.take(f"sign-up:{address}", _SIGN_UP)

    async def _pay(self, buckets: Sequence[_Bucket]) -> Attempt:
        """Take from all of the buckets, or from none."""
        paid = Attempt(self.limiter)
        for bucket in buckets:
            decision = await self.limiter.take(bucket.key, bucket.rate)
            if not decision.allowed:
                await paid.was_right()
                return Attempt(self.limiter, refusal=decision)
            paid = Attempt(self.limiter, (*paid.paid, bucket))
        return paid
