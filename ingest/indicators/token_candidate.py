"""What one token may hold."""

from __future__ import annotations

from typing import NamedTuple


class TokenCandidate(NamedTuple):
    """One thing a token may hold: its place in the token, and what can be told from the token alone.

    `host` is the domain or address of a URL or e-mail; `defanged` says that somebody defanged it; `objection` names a
    reason against it that only strong evidence outweighs, or is empty; `source` is the URL or mailbox that a host was
    taken from, or empty. (A tuple, for one is made for every candidate of a text.)
    """

    type: str
    value: str
    start: int
    end: int
    defanged: bool = False
    host: str = ""
    objection: str = ""
    source: str = ""
