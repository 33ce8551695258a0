"""Who makes a request, as the handlers see it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from api.limits.bucket import Decision
from api.limits.tiers import Tier, results_limit
from intel.records import Role, Scope

CALLER = "ioc.caller"
# The name of the tier that a request to a limited path is charged to, for whoever counts; also where it is refused.
TIER = "ioc.tier"


class KeyIdentity(Protocol):
    """Whom an API key stands for."""

    @property
    def key_id(self) -> str: ...

    @property
    def account_id(self) -> str: ...

    @property
    def role(self) -> Role: ...

    @property
    def scopes(self) -> tuple[Scope, ...]: ...

    @property
    def expires_at(self) -> datetime | None: ...


@dataclass(frozen=True, slots=True)
class Caller:
    """Stands in an admitted request's ASGI scope under `CALLER`; `identity` is None without a key.

    `decision` is what the charged bucket said (for `/usage`, which costs nothing: what it says now).
    """

    identity: KeyIdentity | None
    tier: Tier
    decision: Decision
    address: str

    def results_limit(self, requested: int | None) -> int:
        """Return how many results this caller gets when asking for `requested`; below 1 raises ValueError."""
        return results_limit(requested, self.tier.results_cap)
