"""Decompress an answer's body up to a bound: a few kilobytes may unfold to gigabytes."""

from __future__ import annotations

import zlib
from typing import Final

from intel.errors import FetchFailed

_GZIP_BITS: Final = zlib.MAX_WBITS | 16


def content_coding(fields: list[str]) -> str:
    """Return the one coding (`identity`, `gzip` or `deflate`) that the Content-Encoding fields name.

    Raises FetchFailed (`unsupported_encoding`) for any other and for several.
    """
    codings = [token.strip().lower() for field in fields for token in field.split(",")]
    codings = [coding.removeprefix("x-") for coding in codings if coding not in ("", "identity")]
    if not codings:
        return "identity"
    if len(codings) > 1 or codings[0] not in ("gzip", "deflate"):
        raise FetchFailed("unsupported_encoding", "The site sent the page in a compression that was not asked for.")
    return codings[0]


def body_too_large(limit: int) -> FetchFailed:
    """Return the failure of a page with more than `limit` bytes."""
    size = f"{limit // 1_000_000} MB" if limit >= 1_000_000 else f"{limit:,} bytes"
    return FetchFailed("body_too_large", f"The page is larger than {size}.")


class BoundedDecoder:
    """Decodes `identity`, `gzip` or `deflate` piece by piece, to at most `limit` bytes in all.

    Raises FetchFailed: `body_too_large`, `decode_failed`.
    """

    def __init__(self, coding: str, limit: int) -> None:
        self._coding = coding
        self._limit = self._room = limit
        self._held = b""
        self._inflate = zlib.decompressobj(_GZIP_BITS) if coding == "gzip" else None
        self._begun = False

    def feed(self, piece: bytes) -> bytes:
        """Return the decoded bytes of this piece of the wire body."""
        if self._coding != "identity":
            piece = self._unfold(piece)
        self._room -= len(piece)
        if self._room < 0:
            raise body_too_large(self._limit)
        return piece

    def finish(self) -> None:
        """Check that the stream came to its own end: half a gzip stream is not a page."""
        if self._begun and not (self._inflate and self._inflate.eof):
            raise FetchFailed("decode_failed", "The compressed page breaks off before its end.", retryable=True)

    def _unfold(self, piece: bytes) -> bytes:
        self._begun = self._begun or bool(piece)
        if self._inflate is None:
            piece = self._held = self._held + piece
            if len(piece) < 2:
                return b""
            self._inflate = zlib.decompressobj(_deflate_bits(piece))
        try:
            unfolded = self._inflate.decompress(piece, self._room + 1)
        except zlib.error:
            raise FetchFailed("decode_failed", "The compressed page is damaged.") from None
        if self._inflate.unused_data:
            raise FetchFailed("decode_failed", "Something follows the end of the compressed page.")
        return unfolded


def _deflate_bits(start: bytes) -> int:
    """Tell zlib's format from a raw stream, because servers call both `deflate`; the former begins with a checked
    header.
    """
    is_zlib = start[0] & 0x0F == 8 and int.from_bytes(start[:2], "big") % 31 == 0
    return zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS
