"""A text of each of several processes, in memory that all of them share."""

from __future__ import annotations

import mmap
from struct import Struct
from zlib import crc32

# The length of the text, and its checksum: who reads while it is written takes it for none.
_HEAD = Struct("QQ")
_MOST_BYTES = 1 << 20


class SharedTexts:
    """Room for `count` texts of up to a megabyte, made before the processes that share it are forked."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._memory = mmap.mmap(-1, count * _MOST_BYTES)

    def put(self, number: int, text: bytes) -> None:
        """Replace a text; one that is too long is left as it was."""
        start, end = number * _MOST_BYTES, number * _MOST_BYTES + _HEAD.size + len(text)
        if _HEAD.size + len(text) <= _MOST_BYTES:
            self._memory[start + _HEAD.size : end] = text
            _HEAD.pack_into(self._memory, start, len(text), crc32(text))

    def all(self) -> dict[int, bytes]:
        """Return the texts that were put, by their number."""
        found = {number: self._get(number * _MOST_BYTES) for number in range(self._count)}
        return {number: text for number, text in found.items() if text}

    def _get(self, start: int) -> bytes:
        length, checksum = _HEAD.unpack_from(self._memory, start)
        text = self._memory[start + _HEAD.size : start + _HEAD.size + min(length, _MOST_BYTES - _HEAD.size)]
        return text if crc32(text) == checksum else b""
