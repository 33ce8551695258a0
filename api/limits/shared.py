"""Buckets in memory that several processes of one machine share, such as the workers of one `ioc serve`."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import mmap
import secrets
import tempfile
import time
import weakref
from collections.abc import Callable, Iterator
from struct import Struct

from api.limits import bucket as arithmetic
from api.limits.bucket import Bucket, Decision, Rate

# A key's digest, then the bucket's tokens, when they were counted, and when it will be full.
_ENTRY = Struct("16sddd")
_DIGEST_BYTES = 16
_WAYS = 16
_SET_BYTES = _WAYS * _ENTRY.size


class SharedBuckets:
    """A table of at most `sets` × 16 buckets, made before the processes that share it are forked.

    A bucket lies in one of the 16 places of its set; where all are taken by buckets that are not full, the one unused
    for longest is forgotten (and so full again). The kernel holds the locks, one a set, and frees those of a process
    that dies; a bucket that it was just writing may then stand as before or after, or between both.
    """

    def __init__(self, sets: int = 8_192) -> None:
        self._sets = sets
        # Nobody who chooses keys can choose that they meet in one set.
        self._secret = secrets.token_bytes(_DIGEST_BYTES)
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - for as long as the table
        weakref.finalize(self, self._file.close)
        self._file.truncate(sets * _SET_BYTES)
        self._memory = mmap.mmap(self._file.fileno(), sets * _SET_BYTES)

    @contextlib.contextmanager
    def held(self, key: str, clock: Callable[[], float]) -> Iterator[Place]:
        """Hold a bucket's set while it is read and written, at the time that it is when nobody else holds it."""
        digest = hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=_DIGEST_BYTES, key=self._secret).digest()
        number = int.from_bytes(digest[:4], "big") % self._sets
        fcntl.lockf(self._file, fcntl.LOCK_EX, 1, number)
        try:
            yield Place(self._memory, number * _SET_BYTES, digest, clock())
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, number)


class Place:
    """Where a bucket lies in its set while that is held, from `now` on.

    `bucket` is None where it was never used or is forgotten.
    """

    def __init__(self, memory: mmap.mmap, begin: int, digest: bytes, now: float) -> None:
        self.now = now
        self._memory = memory
        self._digest = digest
        entries = list(_ENTRY.iter_unpack(memory[begin : begin + _SET_BYTES]))
        place = next((place for place, entry in enumerate(entries) if entry[0] == digest), None)
        self.bucket = None if place is None else Bucket(entries[place][1], entries[place][2])
        if place is None:
            # A bucket that is full again tells no more than none; of the others the oldest goes.
            age = [entry[2] if entry[3] > now else 0.0 for entry in entries]
            place = age.index(min(age))
        self._offset = begin + place * _ENTRY.size

    def keep(self, bucket: Bucket, rate: Rate) -> None:
        """Write the bucket."""
        full_at = arithmetic.full_at(bucket, rate, self.now)
        _ENTRY.pack_into(self._memory, self._offset, self._digest, bucket.tokens, bucket.updated_at, full_at)


class SharedLimiter:
    """`Limiter` on buckets that other processes share; `clock` must be the same for all of them."""

    def __init__(self, buckets: SharedBuckets, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._buckets = buckets
        self._clock = clock

    async def take(self, key: str, rate: Rate) -> Decision:
        with self._buckets.held(key, self._clock) as place:
            bucket, decision = arithmetic.take(place.bucket, rate, place.now)
            place.keep(bucket, rate)
        return decision

    async def peek(self, key: str, rate: Rate) -> Decision:
        with self._buckets.held(key, self._clock) as place:
            return arithmetic.peek(place.bucket, rate, place.now)

    async def give_back(self, key: str, rate: Rate) -> None:
        with self._buckets.held(key, self._clock) as place:
            bucket = arithmetic.give_back(place.bucket, rate, place.now)
            place.keep(bucket, rate)

    async def answers(self) -> bool:
        return True

    async def close(self) -> None:
        """Do nothing: the buckets last as long as any process has them."""
