"""How often somebody may try to sign in or sign up, per account and per address, on all servers together."""

from __future__ import annotations

from dataclasses import dataclass

from api.limits.bucket import Decision, Rate
from api.limits.port import Limiter
from intel.ids import account_id

_SIGN_IN = Rate(10, 5 * 60, "sign-in")
_SIGN_UP = Rate(20, 60 * 60, "sign-up")


@dataclass(frozen=True, slots=True)
class BackOff:
    """Each method pays for one try and gives the decision that binds it."""

    limiter: Limiter

    async def sign_in(self, email: str, address: str) -> Decision:
        """A try at an account's password from a client address; an unknown account counts like a known one."""
        by_address = await self.limiter.take(f"sign-in:address:{address}", _SIGN_IN)
        if not by_address.allowed:
            return by_address
        return await self.password(account_id(email))

    async def password(self, account: str) -> Decision:
        """A try at the password of the account with that id, from wherever."""
        return await self.limiter.take(f"sign-in:account:{account}", _SIGN_IN)

    async def sign_up(self, address: str) -> Decision:
        """A new account from a client address."""
        return await self.limiter.take(f"sign-up:{address}", _SIGN_UP)
