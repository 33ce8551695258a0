"""Many numbers as marks, a byte for each: what two sets have in common is told in one step, however many they are."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import compress, count
from typing import overload

MARK = 255


class Marked(Sequence[int]):
    """Numbers in order: those whose byte is `MARK`; any other is 0."""

    def __init__(self, marks: bytes | bytearray) -> None:
        self.marks = marks

    @classmethod
    def of(cls, numbers: Iterable[int], size: int) -> Marked:
        """Return numbers below `size`, given in any order."""
        marks = bytearray(size)
        for number in numbers:
            marks[number] = MARK
        return cls(marks)

    @classmethod
    def of_bits(cls, bits: int) -> Marked:
        return cls(bits.to_bytes((bits.bit_length() + 7) // 8, "little"))

    def without(self, others: Iterable[int]) -> Marked:
        """Return these but for others."""
        marks = bytearray(self.marks)
        for number in others:
            if number < len(marks):
                marks[number] = 0
        return Marked(marks)

    @cached_property
    def bits(self) -> int:
        """The marks as one number, so that `&` and `|` combine two sets."""
        return int.from_bytes(self.marks, "little")

    @cached_property
    def _length(self) -> int:
        return self.marks.count(MARK)

    @cached_property
    def _numbers(self) -> array[int]:
        return array("q", self)

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[int]:
        return compress(count(), self.marks)

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and 0 <= number < len(self.marks) and self.marks[number] == MARK

    @overload
    def __getitem__(self, place: int) -> int: ...
    @overload
    def __getitem__(self, place: slice) -> array[int]: ...
    def __getitem__(self, place: int | slice) -> int | array[int]:
        return self._numbers[place]
