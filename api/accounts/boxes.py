"""Seal short secrets under the installation's own: the one file of accounts that knows AES-GCM.

What is sealed for one purpose, such as an account's two-factor secret, opens for that purpose alone.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_NONCE_BYTES = 12


@dataclass(frozen=True, slots=True)
class Box:
    """Seals and opens under one secret."""

    secret: bytes

    def __repr__(self) -> str:
        return "Box(***)"

    def seal(self, data: bytes, purpose: str) -> str:
        """Return the data encrypted for a purpose, as URL-safe text."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return base64.urlsafe_b64encode(nonce + self._aead.encrypt(nonce, data, purpose.encode())).decode()

    def open(self, sealed: str, purpose: str) -> bytes | None:
        """Return what was sealed for that purpose; None where it was not, or under another secret."""
        from cryptography.exceptions import InvalidTag

        try:
            held = base64.b64decode(sealed, altchars=b"-_", validate=True)
            return self._aead.decrypt(held[:_NONCE_BYTES], held[_NONCE_BYTES:], purpose.encode())
        except (InvalidTag, ValueError, binascii.Error):
            return None

    @property
    def _aead(self) -> AESGCM:
        # Takes memory that a service without two-factor codes and provider never needs.
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        return AESGCM(hmac.new(self.secret, b"box\n", hashlib.sha256).digest())
