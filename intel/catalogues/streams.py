"""Read a file piece by piece: decompress gzip, then yield text, lines, or the members of a JSON object one after the
other.

Everything is bounded; whatever is wrong raises CatalogueUnreadable.
"""

from __future__ import annotations

import codecs
import json
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, Final

from intel.errors import CatalogueUnreadable

LARGEST_UNFOLDED_BYTES: Final = 2_000_000_000
LONGEST_LINE: Final = 100_000
_GZIP: Final = b"\x1f\x8b"
_PIECE_BYTES: Final = 1 << 20
_LARGEST_VALUE: Final = 32_000_000
_BLANKS: Final = " \t\r\n"


def unfolded(pieces: Iterable[bytes], most_bytes: int = LARGEST_UNFOLDED_BYTES) -> Iterator[bytes]:
    """Yield the bytes of a file, decompressed if it is gzip."""
    arriving = iter(pieces)
    head = b""
    for piece in arriving:
        head += piece
        if len(head) >= len(_GZIP):
            break
    source = _chained(head, arriving)
    total = 0
    for piece in _gunzipped(source) if head.startswith(_GZIP) else source:
        total += len(piece)
        if total > most_bytes:
            raise CatalogueUnreadable(f"The file holds more than {most_bytes // 1_000_000:,} MB.")
        yield piece


def _chained(head: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield head
    yield from rest


def _gunzipped(pieces: Iterable[bytes]) -> Iterator[bytes]:
    inflate = zlib.decompressobj(zlib.MAX_WBITS | 16)
    for piece in pieces:
        while piece:
            try:
                yield inflate.decompress(piece, _PIECE_BYTES)
            except zlib.error:
                raise CatalogueUnreadable("The compressed file is damaged.") from None
            piece = inflate.unconsumed_tail or inflate.unused_data
            if inflate.eof and piece:
                inflate = zlib.decompressobj(zlib.MAX_WBITS | 16)
    if not inflate.eof:
        raise CatalogueUnreadable("The compressed file breaks off before its end.")


def text_of(pieces: Iterable[bytes]) -> Iterator[str]:
    """Yield UTF-8 text, without a byte order mark."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    try:
        for piece in pieces:
            yield decoder.decode(piece)
        yield decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise CatalogueUnreadable("The file is no UTF-8 text.") from None


def lines_of(pieces: Iterable[bytes]) -> Iterator[str]:
    """Yield the lines of a text without their ends, blank ones included."""
    rest = ""
    for piece in text_of(pieces):
        *whole, rest = (rest + piece).split("\n")
        yield from (line.removesuffix("\r") for line in whole)
        if len(rest) > LONGEST_LINE:
            raise CatalogueUnreadable("The file has a line that is too long for a table.")
    if rest:
        yield rest.removesuffix("\r")


def members_of(pieces: Iterable[bytes], array: str) -> Iterator[tuple[str, Any]]:
    """Yield each member (name, value) of a JSON object as it arrives; elements of the member `array` come one by
    one.
    """
    yield from _Json(text_of(pieces)).members(array)


class _Json:
    """Reads one JSON object from text that arrives in pieces; holds no more than one value at a time."""

    def __init__(self, pieces: Iterator[str]) -> None:
        self._pieces = pieces
        self._text = ""
        self._place = 0
        self._ended = False
        self._decode = json.JSONDecoder().raw_decode

    def members(self, array: str) -> Iterator[tuple[str, Any]]:
        if self._next() != "{":
            raise CatalogueUnreadable("The file is no JSON object.")
        self._take("{")
        separator = self._take("}") if self._next() == "}" else ","
        while separator == ",":
            name = self._value()
            if not isinstance(name, str):
                raise _damaged()
            self._take(":")
            if name == array and self._next() == "[":
                yield from ((name, element) for element in self._elements())
            else:
                yield name, self._value()
            separator = self._take(",}")
        if self._next():
            raise CatalogueUnreadable("Something follows the end of the JSON object.")

    def _elements(self) -> Iterator[Any]:
        self._take("[")
        if self._next() == "]":
            self._take("]")
            return
        yield self._value()
        while self._take(",]") == ",":
            yield self._value()

    def _take(self, accepted: str) -> str:
        found = self._next()
        if not found or found not in accepted:
            raise _damaged() if found else _broken_off()
        self._place += 1
        return found

    def _next(self) -> str:
        """Return the next character that is no blank without consuming it; empty at the end."""
        while True:
            while self._place < len(self._text):
                if (found := self._text[self._place]) not in _BLANKS:
                    return found
                self._place += 1
            if not self._more(1):
                return ""

    def _value(self) -> Any:
        if not self._next():
            raise _broken_off()
        while True:
            try:
                value, end = self._decode(self._text, self._place)
                # A number at the very end of what has come may go on.
                if end < len(self._text) or self._ended:
                    self._place = end
                    return value
            except ValueError:
                if self._ended:
                    raise _broken_off() from None
            except RecursionError:
                raise _damaged() from None
            waiting = len(self._text) - self._place
            if waiting > _LARGEST_VALUE:
                raise _damaged()
            # As much again as is waiting, so that a long value is not decoded once a piece.
            self._more(max(waiting, 1))

    def _more(self, wanted: int) -> bool:
        """Read at least that many characters, fewer at the end; tell whether there were any."""
        arrived, length = [self._text[self._place :]], 0
        while length < wanted and not self._ended:
            piece = next(self._pieces, None)
            if piece is None:
                self._ended = True
            else:
                arrived.append(piece)
                length += len(piece)
        self._text, self._place = "".join(arrived), 0
        return length > 0


def _damaged() -> CatalogueUnreadable:
    return CatalogueUnreadable("The JSON in the file is damaged.")


def _broken_off() -> CatalogueUnreadable:
    return CatalogueUnreadable("The JSON in the file is damaged, or breaks off before its end.")
