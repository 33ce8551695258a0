"""Taking in large bodies: how many are held in memory at once, of one account and in all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from api.problems import Problem

LARGEST_UPLOAD: Final = 10_000_000

_IN_ALL: Final = 12
_OF_ACCOUNT: Final = 3
_SOON: Final = {"Retry-After": "2"}


class Uploads:
    """Counts the bodies that this process holds."""

    def __init__(self) -> None:
        self._held = Counter[str]()

    @contextmanager
    def room(self, account_id: str) -> Iterator[None]:
        """Hold a place for one body. Raises Problem where the account, or all together, hold as many as may be."""
        if self._held[account_id] >= _OF_ACCOUNT:
            detail = f"{_OF_ACCOUNT} bodies of this account are being read; send the next one when one of them is done."
            raise Problem(429, "too_many_uploads", detail, headers=_SOON)
        if self._held.total() >= _IN_ALL:
            raise Problem(503, "busy", "As many bodies are being read as can be; try again shortly.", headers=_SOON)
        self._held[account_id] += 1
        try:
            yield
        finally:
            self._held[account_id] -= 1
            if not self._held[account_id]:
                del self._held[account_id]
