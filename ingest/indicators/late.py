"""Compile a regular expression when it is first asked: most texts ask only a few, and a command waits for them all."""

from __future__ import annotations

import re
from typing import Any, cast


class _Late:
    """Stands for a pattern; what has been asked of it once is as fast as the pattern's own."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self.pattern, self._flags)
        found = self.__dict__[name] = getattr(compiled, name)
        return found


def late(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that is compiled with the first question; a mistake in it shows only then."""
    return cast(re.Pattern[str], _Late(pattern, flags))
