"""Which requests are limited, which need a key and which are searches: told from method, path and query alone."""

from __future__ import annotations

import unicodedata
from urllib.parse import parse_qsl

PREFIX = "/api/v1"

_DESCRIPTION = frozenset({"/openapi.json", "/docs"})
_USAGE = "/usage"
_KEYED = frozenset({("POST", "/iocs/lookup"), ("POST", "/submit"), ("GET", _USAGE)})
_LISTS = frozenset({"/iocs", "/articles", "/weekly", "/focus", "/awareness", "/catalogues"})
_LISTS_WITHIN = ("/revisions",)
_READS_AS_GET = frozenset({"HEAD", "OPTIONS"})


def is_watched(path: str) -> bool:
    """Whether callers are told apart here: everything under the prefix but the API's own description."""
    return (path == PREFIX or path.startswith(PREFIX + "/")) and _below(path) not in _DESCRIPTION


def is_limited(path: str) -> bool:
    """Whether an answer here costs a token."""
    return is_watched(path) and _below(path) != _USAGE


def needs_key(method: str, path: str, query: str) -> bool:
    """Whether only a key gets an answer: keyed endpoints, and paging on in any list."""
    verb, below = _verb(method), _below(path)
    if (verb, below) in _KEYED or (verb == "GET" and below.startswith("/submissions/")):
        return True
    if verb in ("PUT", "DELETE") and below.startswith("/iocs/") and below.endswith("/false-positive"):
        return True
    if verb == "POST" and below.startswith("/articles/") and below.endswith("/refetch"):
        return True
    is_list = below in _LISTS or below.endswith(_LISTS_WITHIN)
    return is_list and any(name == "cursor" for name, _ in _parameters(query))


def is_search(query: str) -> bool:
    """Whether the query string (still encoded) has a `q` or `value` that is not blank."""
    return any(name in ("q", "value") and not is_blank(value) for name, value in _parameters(query))


def is_blank(text: str) -> bool:
    """Whether a parameter counts as absent: nothing but white space after NFKC."""
    return not unicodedata.normalize("NFKC", text).strip()


def _below(path: str) -> str:
    return path.removeprefix(PREFIX)


def _verb(method: str) -> str:
    return "GET" if method in _READS_AS_GET else method


def _parameters(query: str) -> list[tuple[str, str]]:
    return parse_qsl(query, keep_blank_values=True)
