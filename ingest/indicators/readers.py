"""Read what has a shape of its own wherever it stands: one reader a type.

A type that is written in one shape only (no host, address, mailbox, URL or name) needs its row in
`intel/indicator_types.py` and its reader here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from ingest.indicators.token_candidate import TokenCandidate
from intel.names import is_technique

_DASH: Final = "[-_\u2010-\u2015\u2212]"
# The second is a cell of a table whose border was lost: `...e7f8MD5Dropper`.
_HASH: Final = re.compile(
    r"(?<![0-9A-Za-z])(?:(?:[0-9a-fA-F]{64}|[0-9a-fA-F]{40}|[0-9a-fA-F]{32})(?![0-9A-Za-z])"
    r"|(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32})(?=[A-Z][A-Za-z]))"
)
_LONG_HEX: Final = re.compile(r"[0-9a-fA-F]{32}")
# Also `cve.2021.1675`, the tag of a detection rule.
_CVE: Final = re.compile(
    rf"(?:(?<![a-zA-Z0-9])[Cc][Vv][Ee]|CVE)(?:{_DASH}([0-9]{{4}}){_DASH}([0-9]{{4,7}})(?![0-9])((?>(?:/[0-9]{{4,6}}(?![0-9]))*))"
    r"|\.((?:199|20[0-9])[0-9])\.([0-9]{4,7})(?![0-9]|\.[0-9]))"
)
# Also `attack.t1059.001`, the tag of a detection rule, `T1059.001/.007`, `T1059.001/007`, and `T1055Process Injection`,
# as a page's text reads where only the style of the page parts the two.
_TECHNIQUE: Final = re.compile(
    r"(?:(?<![A-Za-z0-9_.-])T|(?<![A-Za-z0-9_-])(?i:attack\.)[tT]|(?<![A-Za-z0-9_.-])t(?=[0-9]{4}\.[0-9]{3}(?![0-9])))"
    r"([0-9]{4})(?:[./]([0-9]{3}))?((?>(?:/\.?[0-9]{3}(?![0-9]))*))(?![0-9a-z_]|[A-Z](?![A-Za-z]))(?!\.[0-9])"
)
_MAY_BE_A_TECHNIQUE: Final = re.compile(r"t[0-9]{4}")
SHORTEST_HASH: Final = 32
HASH_TYPES: Final = {32: "hash_md5", 40: "hash_sha1", 64: "hash_sha256"}


class ShapeReader(NamedTuple):
    """A reader of tokens for types with a shape of their own.

    `read` returns what a token holds; most hold nothing, which it should tell at once. A token is read if it has
    `shortest` characters or one of `marks`, and the pattern `sign` is found in it; one of letters alone needs
    `shortest`, and one of digits alone is never read.
    """

    types: tuple[str, ...]
    sign: str
    read: Callable[[str], Iterable[TokenCandidate]]
    shortest: int
    marks: str = ""


def read_shapes(token: str) -> list[TokenCandidate]:
    """Return everything in a token that one of the readers knows, reader by reader."""
    found: list[TokenCandidate] = []
    for read in _READ:
        found += read(token)
    return found


def may_hold_a_shape(token: str) -> bool:
    """Tell whether a token has the sign that one of the readers needs."""
    if len(token) < SHORTEST_TOKEN and _MARKS.search(token) is None:
        return False
    return _SIGNS.search(token) is not None


def _hashes(token: str) -> Iterable[TokenCandidate]:
    if len(token) < SHORTEST_HASH or not _LONG_HEX.search(token):
        return ()
    return [_hash(token, match) for match in _HASH.finditer(token)]


def _hash(token: str, match: re.Match[str]) -> TokenCandidate:
    before = token[max(0, match.start() - 2) : match.start()]
    objection = ""
    if before in ("0x", "0X"):
        objection = "wallet or number in hexadecimal"
    elif match[0].isdigit():
        objection = "decimal number"
    return TokenCandidate(HASH_TYPES[len(match[0])], match[0].lower(), *match.span(), objection=objection)


def _cves(token: str) -> Iterable[TokenCandidate]:
    if not ("CVE" in token or "cve" in token or "Cve" in token):
        return ()
    return [
        TokenCandidate("cve", f"CVE-{match[1] or match[4]}-{number}", *match.span())
        for match in _CVE.finditer(token)
        for number in ((match[2], *match[3].split("/")[1:]) if match[2] else (match[5],))
    ]


def _techniques(token: str) -> Iterable[TokenCandidate]:
    if not ("T" in token or ("t" in token and _MAY_BE_A_TECHNIQUE.search(token))):
        return ()
    return [
        TokenCandidate("mitre_attack", value, *match.span())
        for match in _TECHNIQUE.finditer(token)
        for value in _values_of(match)
        if is_technique(value)
    ]


def _values_of(match: re.Match[str]) -> list[str]:
    """Return `T1059.001` and `T1059.007` of `T1059.001/.007`."""
    parts = [part for part in (match[2], *(part.removeprefix(".") for part in match[3].split("/"))) if part]
    return [f"T{match[1]}.{part}" for part in parts] or [f"T{match[1]}"]


READERS: Final = (
    ShapeReader(("hash_md5", "hash_sha1", "hash_sha256"), r"[0-9A-Fa-f]{32}", _hashes, SHORTEST_HASH),
    ShapeReader(("cve",), rf"[Cc][Vv][Ee](?:{_DASH}|\.)[0-9]", _cves, SHORTEST_HASH, "-_\u2010-\u2015\u2212"),
    ShapeReader(("mitre_attack",), r"T[0-9]{4}", _techniques, SHORTEST_HASH, "T"),
)
SHORTEST_TOKEN: Final = min(reader.shortest for reader in READERS)
_READ: Final = tuple(reader.read for reader in READERS)
_MARKS: Final = re.compile(f"[{''.join(reader.marks for reader in READERS)}]")
_SIGNS: Final = re.compile("|".join(reader.sign for reader in READERS))
