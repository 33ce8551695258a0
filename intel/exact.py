"""Resolve the values of a look-up: what each may name, malware names that only a text coined included."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

from intel.canonical import canonical
from intel.errors import NotAnIndicator
from intel.query import Clause, IocQuery, SearchText, exact_value
from intel.store.port import Iocs
from intel.words import encode_word, words

Named = tuple[tuple[str, str], ...]

_NAMES_AT_ONCE: Final = 50
_PAGE: Final = 200
_IN_VALUE: Final = 1
# What no list of names has may be malware all the same, unless it reads as anything that no name looks like.
_LIKE_A_NAME: Final = frozenset({"domain"})


async def exact_values(iocs: Iocs, values: Iterable[str]) -> dict[str, Named]:
    """Return for each value the indicators (type, canonical value) that it may name.

    A malware name that is in no list is one only where it is stored, in whatever case. Raises InvalidQuery as
    `exact_value` does.
    """
    # In a thread: a long value takes some milliseconds.
    read, names = await asyncio.to_thread(_read, values)
    stored = await _stored_names(iocs, set(names.values()))
    return {value: found + stored.get(names.get(value, ""), ()) for value, found in read.items()}


def _read(values: Iterable[str]) -> tuple[dict[str, Named], dict[str, str]]:
    """Return what each value may name by itself, and the malware name that it may be, folded."""
    read = {value: exact_value(value) for value in values}
    return read, {value: name for value, found in read.items() if (name := _name(value, found))}


def _name(value: str, found: Named) -> str | None:
    """Return the malware name that a value may be, folded; None where it is something else."""
    if not {type for type, _ in found} <= _LIKE_A_NAME:
        return None
    try:
        return canonical("malware", value).casefold()
    except NotAnIndicator:
        return None


async def _stored_names(iocs: Iocs, names: set[str]) -> dict[str, Named]:
    """Return the stored malware of each of these names, which no list has."""
    found: dict[str, Named] = {}
    left = iter(sorted(name for name in names if words(name)))
    while some := list(islice(left, _NAMES_AT_ONCE)):
        for value in await _malware_with(iocs, some):
            found[value.casefold()] = (*found.get(value.casefold(), ()), ("malware", value))
    return found


async def _malware_with(iocs: Iocs, names: Sequence[str]) -> list[str]:
    """Return every stored malware name in which the words of one of these stand side by side."""
    phrases = tuple(tuple(map(encode_word, words(name))) for name in names)
    search = SearchText("", (Clause(phrases=phrases),), ())
    page = await iocs.find(IocQuery(text=search, type="malware", limit=_PAGE))
    values = [ioc.value for ioc in page.items]
    # Those that match in the value itself stand before those that match in a title alone.
    while page.next is not None and int(page.next.values[0]) <= _IN_VALUE:
        page = await iocs.find(IocQuery(text=search, type="malware", limit=_PAGE, after=page.next))
        values += [ioc.value for ioc in page.items]
    return values
