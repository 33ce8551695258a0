"""Compress the texts of articles, which no statement looks into."""

from __future__ import annotations

import zlib

from intel.errors import StoreDamaged

# A text has at most a million characters; whatever else a damaged row unfolds to ends here.
_LARGEST_BYTES = 64 * 2**20
# The fastest: the best level takes three times as long, for texts smaller by a tenth.
_LEVEL = 1


def pack_text(text: str | None) -> bytes | None:
    """Return a text as a column holds it."""
    return None if text is None else pack_utf8(text.encode())


def pack_utf8(text: bytes | None) -> bytes | None:
    """Return the UTF-8 of a text as a column holds it, whether it is valid or not."""
    return None if text is None else zlib.compress(text, _LEVEL)


def unpack_text(packed: bytes | None) -> str | None:
    """Return the text that was packed. Raises StoreDamaged where a column holds anything else."""
    if packed is None:
        return None
    inflate = zlib.decompressobj()
    try:
        text = inflate.decompress(packed, _LARGEST_BYTES).decode()
    except (zlib.error, UnicodeDecodeError) as error:
        raise StoreDamaged(f"the store is damaged: a text cannot be read ({error})") from error
    if not inflate.eof:
        raise StoreDamaged("the store is damaged: a text is cut off or too long")
    return text
