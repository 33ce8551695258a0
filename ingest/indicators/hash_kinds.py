"""Recognise what has the length of a file hash but is none, by the words right before it."""

from __future__ import annotations

import re
from typing import Final

OTHER_KIND: Final = "another kind of hash"
KEY: Final = "key or identifier"

_OTHER_HASH: Final = re.compile(
    r"(?i)(?:imp[- ]?hash|import[- _]hash|authenti[- ]?hash|ja[34]s?|jarm|pe[- ]?hash"
    r"|rich[- _](?:pe[- ]?)?(?:header[- _])?hash|v-?hash"
    r"|telf-?hash|icon[- ]?(?:d-?)?hash|d-?hash|serial(?: (?:number|no\.?))?|machoc|symhash|permhash|gimphash"
    r"|tlsh|ssdeep|sdhash)"
    r"(?: hash| fingerprint| value| sha-?1| sha-?256| md5)?(?: is| was| of)?\W{0,40}$"
)
_HASH_WORD: Final = re.compile(r"[hHjJsSmMtT](?i:ash|a[34]|arm|erial|achoc|sdeep|lsh)")
_COMMIT: Final = re.compile(r"(?i)\bcommits? (?:id |hash |[`(#]){0,2}\Z")
_REACH: Final = 60
_SIGNS_BEFORE_A_KEY: Final = " \t\xa0:=|\"'`({[*\u2018\u201c\u2013-,"
_LAST_WORDS: Final = (
    "key", "keys", "iv", "vector", "nonce", "salt", "id", "token", "mutex", "mutant", "tag", "cookie", "password",
    "phrase", " is", " was", " of", " value", " named", " called", " name", " to", " used", "hex", "hex)",
)  # fmt: skip
_KEY: Final = re.compile(
    r"(?:(?<![a-z])(?:(?<!registry )keys?|iv|initiali[sz]ation vector|nonce|salt|[gu]uid|(?:[a-z]{1,20}[_-])?token"
    r"|mutex|mutant|e-?tag|session cookie|password|passphrase)"
    r"|(?<![a-z])(?:bot|botnet|campaign|session|client|victim|user|affiliate|machine|device|agent|tenant|project)"
    r"[_ -]?id)(?: (?:is|was|of|value|named|called|name|set to|used is|used was|in hex)){0,2}(?: \(hex\))?"
    r"(?:[ \t\xa0:=|\"'`({\[*\u2018\u201c\u2013-]{1,6}|,[\"']?)\Z"
)
_REACH_OF_A_KEY: Final = 48


def kind_of_other(text: str, type: str, start: int) -> str:
    """Return what the value of that `type` at `start` is if it is no file hash, or nothing."""
    before = text[max(0, start - _REACH) : start]
    if type == "hash_sha1" and "ommit" in before.lower() and _COMMIT.search(before):
        return OTHER_KIND
    if _HASH_WORD.search(before) and _OTHER_HASH.search(before):
        return OTHER_KIND
    if before[-1:] in ("", "\n"):
        return ""
    before = before[-_REACH_OF_A_KEY:].lower()
    return KEY if before.rstrip(_SIGNS_BEFORE_A_KEY).endswith(_LAST_WORDS) and _KEY.search(before) else ""
