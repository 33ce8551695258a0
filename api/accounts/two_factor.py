"""Two-factor codes: TOTP (RFC 6238) with six digits each 30 seconds, and ten recovery codes.

The secret is kept sealed under the installation's own secret, the recovery codes as hashes of 80 random bits. A code
passes once: what was used is told to all servers by a bucket of one token, and its step is kept with the account.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from api.accounts.boxes import Box
from api.limits.bucket import Rate
from api.limits.port import Limiter
from intel.records import Account

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.twofactor.totp import TOTP

RECOVERY_CODES = 10
_ISSUER = "IOC Intelligence"
_SECRET_BYTES, _RECOVERY_BYTES = 20, 10
_STEP_SECONDS = 30
# Clocks of telephones are off by seconds, and typing takes some.
_STEPS_AROUND = (0, -1, 1)
_ONCE = Rate(1, 24 * 60 * 60, "two-factor")
_CODE = re.compile(r"[0-9]{6}")


@dataclass(frozen=True, slots=True)
class Enrolment:
    """A secret that is shown this once; `pending` brings it back with the form that confirms it."""

    uri: str
    typed: str
    pending: str

    def __repr__(self) -> str:
        return "Enrolment(***)"


@dataclass(frozen=True, slots=True)
class TwoFactor:
    """Makes and checks the codes of accounts."""

    box: Box
    limiter: Limiter

    def offer(self, account: Account, pending: str = "") -> Enrolment:
        """Return a new secret for an account, or the one that is pending already."""
        secret = self.box.open(pending, f"pending:{account.id}") or secrets.token_bytes(_SECRET_BYTES)
        typed = base64.b32encode(secret).decode()
        again = self.box.seal(secret, f"pending:{account.id}")
        return Enrolment(_totp(secret).get_provisioning_uri(account.email, _ISSUER), typed, again)

    async def begin(
        self, account: Account, pending: str, code: str, now: datetime
    ) -> tuple[Account, tuple[str, ...]] | None:
        """Return the account with two-factor codes on, and its recovery codes; None where the code is wrong."""
        secret = self.box.open(pending, f"pending:{account.id}")
        step = _step_of(secret, code, now) if secret else None
        if secret is None or step is None or not await self._first_use(account, f"step:{step}"):
            return None
        codes = tuple(_recovery_code() for _ in range(RECOVERY_CODES))
        kept = {
            "secret": self.box.seal(secret, f"totp:{account.id}"),
            "step": step,
            "recovery": [_hash(account, code) for code in codes],
        }
        return replace(account, two_factor=kept), codes

    async def passed(self, account: Account, code: str, now: datetime) -> Account | None:
        """Return the account as it is to be kept after a code was used; None where the code is wrong or was used."""
        held, code = account.two_factor, code.strip().replace(" ", "")
        if _CODE.fullmatch(code):
            secret = self.box.open(str(held.get("secret", "")), f"totp:{account.id}")
            step = _step_of(secret, code, now) if secret else None
            if step is None or step <= int(held.get("step", 0)) or not await self._first_use(account, f"step:{step}"):
                return None
            return replace(account, two_factor=held | {"step": step})
        used = _hash(account, code)
        left = [one for one in held.get("recovery", ()) if not hmac.compare_digest(one, used)]
        if len(left) == len(held.get("recovery", ())) or not await self._first_use(account, used):
            return None
        return replace(account, two_factor=held | {"recovery": left})

    async def _first_use(self, account: Account, what: str) -> bool:
        """Tell whether no other request, on any server, used that before."""
        return (await self.limiter.take(f"two-factor:used:{account.id}:{what}", _ONCE)).allowed


def _step_of(secret: bytes, code: str, now: datetime) -> int | None:
    """Return the step whose code this is; None where it is none of these moments."""
    here = int(now.timestamp()) // _STEP_SECONDS
    for step in (here + around for around in _STEPS_AROUND):
        if hmac.compare_digest(_totp(secret).generate(step * _STEP_SECONDS), code.strip().encode()):
            return step
    return None


def _totp(secret: bytes) -> TOTP:
    from cryptography.hazmat.primitives.hashes import SHA1
    from cryptography.hazmat.primitives.twofactor.totp import TOTP

    # Authenticator apps know SHA-1 alone; what is feared of it does not touch HMAC.
    return TOTP(secret, 6, SHA1(), _STEP_SECONDS)  # noqa: S303


def _recovery_code() -> str:
    text = base64.b32encode(secrets.token_bytes(_RECOVERY_BYTES)).decode().lower()
    return "-".join(text[start : start + 4] for start in range(0, len(text), 4))


def _hash(account: Account, code: str) -> str:
    plain = code.strip().lower().replace("-", "")
    return hashlib.sha256(f"{account.id}:{plain}".encode(errors="replace")).hexdigest()
