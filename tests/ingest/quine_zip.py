"""A zip archive that holds itself and nothing else, after Russ Cox, "Zip Files All The Way Down" (2010)."""

from __future__ import annotations

import struct
import zlib

# Of a length with which one block of five bytes can repeat the header and what follows it.
NAME = b"archive-that-contains-self.zip"
_HEAD_BYTES = 30 + len(NAME)
_TAIL_BYTES = 46 + len(NAME) + 22


def quine_zip() -> bytes:
    """The bytes of `NAME`, which is the only member of the archive that these bytes are."""
    for stamp in range(64):
        constant = zlib.crc32(_archive(0, stamp))
        columns = [zlib.crc32(_archive(1 << bit, stamp)) ^ constant ^ (1 << bit) for bit in range(32)]
        crc = _solution(columns, constant)
        if crc is not None:
            return _archive(crc, stamp)
    raise AssertionError("no time stamp gives a sum that the archive can hold")


def _archive(crc: int, stamp: int) -> bytes:
    """The archive with `crc` wherever the sum of its own bytes stands."""
    packed = len(_program(bytes(_HEAD_BYTES), bytes(_TAIL_BYTES)))
    size = _HEAD_BYTES + packed + _TAIL_BYTES
    shared = struct.pack("<HHHHHIIIHH", 20, 0, 8, stamp, 33, crc, packed, size, len(NAME), 0)
    head = b"PK\3\4" + shared + NAME
    entry = b"PK\1\2" + struct.pack("<H", 20) + shared + bytes(14) + NAME
    tail = entry + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(entry), len(head) + packed, 0)
    return head + _program(head, tail) + tail


def _program(head: bytes, tail: bytes) -> bytes:
    """Deflated data that unfold to `head`, themselves and `tail`."""
    again_head, again_tail = _again(len(head) + 5), _again(len(tail) + 4, last=True)
    again, four, one = _again(20), _literal(20), _literal(5)
    to_tail = _literal(len(tail) + len(again_tail))
    return b"".join((
        _literal(len(head) + 5), head, _literal(len(head) + 5),
        again_head,
        one, again_head,
        one, one,
        four, again_head, one, one, four,
        again,
        four, again, four, again, four,
        again,
        four, again, _literal(0), _literal(0), to_tail,
        again,
        _literal(0), _literal(0), to_tail, again_tail, tail,
        again_tail,
    ))  # fmt: skip


def _literal(size: int) -> bytes:
    """The head, five bytes, of so many literal bytes."""
    return struct.pack("<BHH", 0, size, size ^ 0xFFFF)


def _again(size: int, *, last: bool = False) -> bytes:
    """So many bytes that were unfolded last once more: five bytes, four for the last block."""
    if size == 20:
        matches = _match(10, size) * 2
        filling = ""
    else:
        matches = _match(size, size)
        filling = "" if last else _block("")
    bits = _block(matches, last=last) + filling
    bits = bits.ljust(32, "0") if last else bits
    assert len(bits) == (32 if last else 40), (size, len(bits))
    return bytes(int(bits[n : n + 8][::-1], 2) for n in range(0, len(bits), 8))


def _block(codes: str, *, last: bool = False) -> str:
    """A block of fixed Huffman codes, as bits in the order of the stream."""
    return f"{last:b}" + "10" + codes + "0" * 7


def _match(length: int, distance: int) -> str:
    code, extra = _coded(length - 3, 2)
    back, far = _coded(distance - 1, 1)
    return f"{code + 1:07b}{extra}{back:05b}{far}"


def _coded(value: int, kept: int) -> tuple[int, str]:
    """Deflate's number of a range of lengths or distances, and the bits that tell the value in it, lowest first."""
    extra = max(0, value.bit_length() - kept - 1)
    code = (extra << kept) + (value >> extra)
    return code, f"{value & ((1 << extra) - 1):0{extra}b}"[::-1] if extra else ""


def _solution(columns: list[int], constant: int) -> int | None:
    """The bits x, of 32, for which the sum of x's columns is `constant`; None where there are none."""
    solved: dict[int, tuple[int, int]] = {}
    for bit, column in enumerate(columns):
        row, used = column, 1 << bit
        while row and (top := row.bit_length()) in solved:
            row, used = row ^ solved[top][0], used ^ solved[top][1]
        if not row:
            return None
        solved[row.bit_length()] = row, used
    found = 0
    while constant:
        row, used = solved[constant.bit_length()]
        constant, found = constant ^ row, found ^ used
    return found
