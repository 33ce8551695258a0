"""What the service and its confined processes send each other: frames of data, never code; knows msgspec alone.

A value goes in pieces, so that neither side holds it twice and no piece is long to read: first the value itself, then
the elements of its long lists. Whatever comes back is checked against the type that the function promised.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import lru_cache
from typing import Annotated, Any, Final, get_args, get_origin, get_type_hints

from msgspec import DecodeError, Meta, ValidationError, convert, to_builtins
from msgspec.msgpack import Decoder, encode

from intel.errors import ArticleUnreadable, FetchFailed, IngestFailed, IsolationFailed, RefusedUrl

PIECE: Final = b"P"
ITEM_ENDS: Final = b"I"
ANSWER_ENDS: Final = b"E"
# What the end of an answer holds where the process waits for another job.
STAYS: Final = b"S"
REFUSED: Final = b"F"
OUT_OF_MEMORY: Final = b"M"
TOO_LARGE: Final = b"L"
CRASHED: Final = b"X"

HEAD_BYTES: Final = 5
# A bundle of many reports comes in one piece; a page's answer has none above 5 MB.
LARGEST_FRAME: Final = 64 << 20
_SLICE: Final = 250
_MOST_PIECES: Final = 4_000
_REFUSALS: Final = {
    kind.__name__: kind for kind in (IngestFailed, RefusedUrl, FetchFailed, ArticleUnreadable, IsolationFailed)
}


class MalformedMessage(ValueError):
    """What came is not what was asked for: cut short, of another type, or too deep."""


@dataclass(frozen=True, slots=True)
class IsolationLimits:
    """What one job may take; `wall_seconds` counts anew for every item of its answer, without the time that it waits
    to be read.
    """

    cpu_seconds: int = 20
    wall_seconds: float = 30.0
    # Measured: 10 MB of a table with 90,000 indicators take 350 MB.
    memory_bytes: int = 384 << 20
    result_bytes: int = 64 << 20


@dataclass(frozen=True, slots=True)
class Job:
    """Which function is to be run, as `module:name`, with how many arguments, which follow, and within what."""

    function: str
    arguments: int
    limits: IsolationLimits


@dataclass(frozen=True, slots=True)
class _Refusal:
    kind: str
    reason: Annotated[str, Meta(pattern="^[a-z0-9_]{1,64}$")]
    detail: Annotated[str, Meta(max_length=2000)]
    retryable: bool
    retry_after_seconds: Annotated[float, Meta(ge=0, le=86_400)] | None


def framed(kind: bytes, payload: bytes | bytearray = b"") -> bytes:
    """Return a frame: its kind, the length of what follows in four bytes, and that."""
    return kind + len(payload).to_bytes(HEAD_BYTES - 1, "big") + payload


def written(value: Any) -> bytes:
    """Return one value as bytes. Lone surrogates, which no text may hold, become question marks."""
    try:
        return encode(value)
    except UnicodeEncodeError:
        return encode(_encodable(to_builtins(value, builtin_types=(bytes,))))


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, dict):
        return {_encodable(name): _encodable(member) for name, member in value.items()}
    return [_encodable(each) for each in value] if isinstance(value, list | tuple) else value


def read_job(frame: bytes | bytearray) -> Job:
    """Read what `written` wrote of a job."""
    return _decoder(Job).decode(frame)  # type: ignore[no-any-return]


def read_arguments(function: Callable[..., Any], number: int, frame: bytes | bytearray) -> tuple[Any, ...]:
    """Read the first arguments of a function as its signature has them."""
    read: tuple[Any, ...] = _arguments_decoder(function, number).decode(frame)
    return read


@lru_cache
def _arguments_decoder(function: Callable[..., Any], number: int) -> Decoder[Any]:
    hints = get_type_hints(function)
    kinds = tuple(hints[name] for name in list(inspect.signature(function).parameters)[:number])
    return Decoder(tuple.__class_getitem__(kinds))


@lru_cache
def shape_of(function: Callable[..., Any]) -> Shape:
    """Return how a function's results, or the items that a generator gives, go in pieces."""
    return Shape(item_type(function))


def item_type(function: Callable[..., Any]) -> Any:
    """Return the type of what a function returns, or of what a generator gives piece by piece."""
    promised = get_type_hints(function)["return"]
    return get_args(promised)[0] if inspect.isgeneratorfunction(function) else promised


@lru_cache
def _decoder(kind: Any) -> Decoder[Any]:
    return Decoder(kind)


class Shape:
    """How values of one type go in pieces."""

    def __init__(self, kind: Any) -> None:
        self._kind = kind
        self._lists = tuple(_long_lists(kind))

    def pieces(self, value: Any) -> Iterator[bytes]:
        """Yield the frames of a value: each begins with a byte naming the list of its elements; the first, 0, is the
        value itself.
        """
        long = {
            place: elements
            for place, (name, _) in enumerate(self._lists, 1)
            if len(elements := getattr(value, name)) > _SLICE
        }
        if long:
            value = replace(value, **{self._lists[place - 1][0]: () for place in long})
        yield b"\0" + written(value)
        for place, elements in long.items():
            for start in range(0, len(elements), _SLICE):
                yield bytes([place]) + written(elements[start : start + _SLICE])

    def assembled(self) -> Assembled:
        """Return an empty place for the pieces of one value."""
        return Assembled(self._kind, self._lists)


def rehearse(function: Callable[..., Any], *args: Any) -> None:
    """Carry a job out without sending it anywhere, so that processes forked later find all made that it needs."""
    result = function(*read_arguments(function, len(args), written(args)))
    for item in result if inspect.isgeneratorfunction(function) else (result,):
        for _ in shape_of(function).pieces(item):
            pass


class Assembled:
    """A value while its pieces come in. Raises MalformedMessage for what does not belong there."""

    def __init__(self, kind: Any, lists: tuple[tuple[str, Any], ...]) -> None:
        self._kind = kind
        self._names = tuple(name for name, _ in lists)
        self._kinds = (kind, *(kind for _, kind in lists))
        self._value: list[Any] = []
        self._elements: dict[str, list[Any]] = {}
        self._room = _MOST_PIECES

    def add(self, piece: bytes | bytearray) -> None:
        """Take in the next piece."""
        place = piece[0] if piece else -1
        self._room -= 1
        if self._room < 0:
            raise MalformedMessage("more pieces than a value has")
        if not 0 <= place < len(self._kinds) or (place == 0) != (not self._value):
            raise MalformedMessage("a piece that belongs nowhere")
        try:
            read = _decoder(self._kinds[place]).decode(memoryview(piece)[1:])
        except (DecodeError, RecursionError, ValueError, OverflowError) as error:
            raise MalformedMessage(type(error).__name__) from None
        if place:
            self._elements.setdefault(self._names[place - 1], []).extend(read)
        else:
            self._value.append(read)

    def value(self) -> Any:
        """Return the value, whole."""
        if not self._value:
            raise MalformedMessage("a value that never came")
        longer = {name: (*getattr(self._value[0], name), *more) for name, more in self._elements.items()}
        return replace(self._value[0], **longer) if longer else self._value[0]


def _long_lists(kind: Any) -> Iterator[tuple[str, Any]]:
    """Yield the members of a dataclass that are `tuple[X, ...]`, with that type."""
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind)
        for field in fields(kind):
            hint = hints[field.name]
            if get_origin(hint) is tuple and get_args(hint)[1:] == (...,):
                yield field.name, hint


def conforms(value: Any, kind: Any) -> bool:
    """Tell whether a value that was sent as any JSON is of that type."""
    try:
        convert(value, kind)
    except (ValidationError, RecursionError):
        return False
    return True


def refusal_frame(error: IngestFailed) -> bytes:
    """Return what a job refuses, as `read_refusal` reads it."""
    refusal = _Refusal(
        type(error).__name__, error.reason, error.detail[:2000], error.retryable, error.retry_after_seconds
    )
    return framed(REFUSED, written(refusal))


def read_refusal(payload: bytes | bytearray) -> IngestFailed:
    """Return the error that a job ended with. Raises MalformedMessage."""
    try:
        refusal = _decoder(_Refusal).decode(payload)
        kind = _REFUSALS[refusal.kind]
    except (DecodeError, RecursionError, ValueError, KeyError):
        raise MalformedMessage("a refusal that cannot be read") from None
    detail = "".join(character if character.isprintable() else " " for character in refusal.detail)
    return kind(refusal.reason, detail, retryable=refusal.retryable, retry_after_seconds=refusal.retry_after_seconds)
