"""Read the words of all data files but `contexts.toml` and `people.toml`, by language, as the rules ask for them."""

from __future__ import annotations

from functools import cache
from typing import Any

from ingest.indicators.rows import data


@cache
def _tables() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in ("vocabulary.toml", "hashes.toml", "lists.toml"):
        found |= data(name)
    return found


def words(*path: str) -> frozenset[str]:
    """Return the words of all languages in a table; the pair `see also` is `see_also`."""
    found = _table(*path)
    return frozenset(word for spoken in found.get("words", found).values() for word in spoken.split())


def pieces(*path: str) -> str:
    """Return a pattern of the pieces of text of all languages in a table."""
    found = _table(*path)
    return "|".join(found.get("pieces", found).values())


def table(*path: str) -> dict[str, str]:
    """Return what a table holds, by language."""
    return dict(_table(*path))


def words_pattern(*path: str) -> str:
    """Return a pattern of the words of all languages in a table, which are regular expressions."""
    return "|".join(_table(*path)["words"].values())


def _table(*path: str) -> dict[str, Any]:
    found = _tables()
    for name in path:
        found = found[name]
    return found
