"""Encrypt a file with a passphrase: AES-256-GCM in blocks, so that neither side holds more than one of them.

Each block is bound to the file's name, its own place and whether it is the last one: none can be changed, moved,
exchanged or cut off unnoticed. The key comes from the passphrase by scrypt.
"""

from __future__ import annotations

import secrets
from io import BufferedReader, RawIOBase
from types import TracebackType
from typing import BinaryIO, cast

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

_BLOCK_BYTES = 1 << 20
_TAG_BYTES = 16
_SALT_BYTES = 16
_NONCE_BYTES = 12


class SealBroken(Exception):
    """The passphrase is another one, or the file was changed."""


def new_salt() -> str:
    """Return what makes the key of one backup differ from that of all others."""
    return secrets.token_hex(_SALT_BYTES)


class _Cipher:
    """Encrypts or decrypts the blocks of one file, in order."""

    def __init__(self, passphrase: str, salt: str, name: str) -> None:
        # The name is part of the salt: each file has a key of its own, so that places may be counted as nonces.
        key = Scrypt(salt=f"{salt}/{name}".encode(), length=32, n=1 << 15, r=8, p=1).derive(passphrase.encode())
        self._aead = AESGCM(key)
        self._place = 0

    def _next(self) -> bytes:
        self._place += 1
        return self._place.to_bytes(_NONCE_BYTES, "big")

    def encrypt(self, block: bytes, *, last: bool) -> bytes:
        return self._aead.encrypt(self._next(), block, bytes([last]))

    def decrypt(self, block: bytes, *, last: bool) -> bytes:
        try:
            return self._aead.decrypt(self._next(), block, bytes([last]))
        except InvalidTag:
            raise SealBroken from None


class Sealed(RawIOBase):
    """A file that encrypts what is written to it; closing it writes the last block."""

    def __init__(self, file: BinaryIO, passphrase: str, salt: str, name: str) -> None:
        self._file = file
        self._cipher = _Cipher(passphrase, salt, name)
        self._held = bytearray()

    def __enter__(self) -> BinaryIO:  # type: ignore[override]  # what writes bytes knows it as any file
        return cast(BinaryIO, self)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._file.write(self._cipher.encrypt(bytes(self._held), last=True))
        super().close()

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self._held += data
        while len(self._held) > _BLOCK_BYTES:
            self._file.write(self._cipher.encrypt(bytes(self._held[:_BLOCK_BYTES]), last=False))
            del self._held[:_BLOCK_BYTES]
        return len(data)


class _Blocks(RawIOBase):
    def __init__(self, file: BinaryIO, cipher: _Cipher) -> None:
        self._file = file
        self._cipher = cipher
        self._ahead = file.read(_BLOCK_BYTES + _TAG_BYTES)
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        if not self._ready and self._ahead:
            block, self._ahead = self._ahead, self._file.read(_BLOCK_BYTES + _TAG_BYTES)
            self._ready = memoryview(self._cipher.decrypt(block, last=not self._ahead))
        taken = min(len(buffer), len(self._ready))
        buffer[:taken] = self._ready[:taken]
        self._ready = self._ready[taken:]
        return taken


def Unsealed(file: BinaryIO, passphrase: str, salt: str, name: str) -> BinaryIO:
    """Return a file that decrypts what it reads. Its reads raise SealBroken."""
    return cast(BinaryIO, BufferedReader(_Blocks(file, _Cipher(passphrase, salt, name)), _BLOCK_BYTES))
