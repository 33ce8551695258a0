"""What `ioc doctor` says of one thing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; `advice` says what to do where it is not well, or could be better.

    What is `absent` is not there and need not be.
    """

    what: str
    well: bool
    found: str
    advice: str = ""
    absent: bool = False
