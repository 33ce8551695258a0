"""What jobs in isolation may do to their process."""

from __future__ import annotations

import gc
import os
import signal
import time
import weakref
from collections.abc import Iterator
from pathlib import Path

from intel.errors import ArticleUnreadable


def double(number: int) -> int:
    return number * 2


def size(body: bytes) -> int:
    return len(body)


def process() -> int:
    return os.getpid()


def collects_garbage() -> bool:
    return gc.isenabled()


def collects_between_items() -> Iterator[bool]:
    """Yield whether it collects while an item is made, and whether what an item left is gone when the next is made."""
    left = [weakref.ref(_Tangle()) for _ in range(1_000)]
    yield gc.isenabled()
    yield all(each() is None for each in left)


class _Tangle:
    """What refers to itself, so that only the garbage collector finds that nobody needs it."""

    def __init__(self) -> None:
        self.itself = self


def processes() -> Iterator[int]:
    yield os.getpid()


def secrets() -> list[str]:
    return sorted(name for name in os.environ if "SECRET" in name)


def spin() -> None:
    while True:
        pass


def burn() -> tuple[float, float]:
    """Uses a second of CPU; when that began and ended."""
    begun, end = time.monotonic(), time.process_time() + 1
    while time.process_time() < end:
        pass
    return begun, time.monotonic()


def hang() -> None:
    time.sleep(1000)


def hog() -> int:
    return len(bytearray(8 << 30))


def crash() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def leave() -> None:
    os._exit(3)


def complain() -> None:
    os.write(1, b"noise")
    os.write(2, b"noise")
    raise ValueError("<script>what the page says</script>")


def recurse() -> int:
    return recurse() + 1


def large() -> bytes:
    return bytes(2 << 20)


def foreign() -> object:
    return Path("/")


def write_a_file(path: str) -> None:
    Path(path).write_bytes(b"x")


def refuse() -> None:
    raise ArticleUnreadable("no_text", "Nothing there.", retryable=True, retry_after_seconds=7.0)
