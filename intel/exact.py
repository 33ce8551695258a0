"""Resolve the values of a look-up: what each may name, malware names that only a text coined included."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final

from intel.canonical import LONGEST_INDICATOR, unlisted_name, usual_type
from intel.query import LONGEST_VALUE, exact_value
from intel.store.port import Iocs

Named = tuple[tuple[str, str], ...]

# Characters that are read in about a millisecond, as long as the way into a thread and back takes under load.
_READ_AT_ONCE: Final = 2_700
# What no list of names has may be malware all the same, unless it reads as anything that no name looks like.
_LIKE_A_NAME: Final = frozenset({"domain"})


async def exact_values(iocs: Iocs, values: Iterable[str]) -> dict[str, Named]:
    """Return for each value the indicators (type, canonical value) that it may name.

    A malware name that is in no list is one only where it is stored, in whatever case. Raises InvalidQuery as
    `exact_value` does.
    """
    asked = [*values]
    is_short = sum(map(len, asked)) <= _READ_AT_ONCE
    read, names = _read(asked) if is_short else await asyncio.to_thread(_read, asked)
    stored = await iocs.malware_named(sorted(set(names.values()))) if names else {}
    spelt = {value: tuple(("malware", one) for one in stored[name]) for value, name in names.items() if name in stored}
    return read | {value: read[value] + more for value, more in spelt.items()}


def _read(values: Iterable[str]) -> tuple[dict[str, Named], dict[str, str]]:
    """Return what each value may name by itself, and the malware name that it may be, folded."""
    read, names = dict[str, Named](), dict[str, str]()
    for value in values:
        if len(value) <= LONGEST_VALUE and (usual := usual_type(value)) is not None:
            read[value] = ((usual, value),)
            if usual in _LIKE_A_NAME:
                names[value] = value  # plain and in lower case: it is spelt as a name would be folded
        else:
            found = read[value] = exact_value(value)
            if name := _name(value, found):
                names[value] = name
    return read, names


def _name(value: str, found: Named) -> str | None:
    """Return the malware name that a value may be, folded; None where it is something else."""
    if any(type not in _LIKE_A_NAME for type, _ in found) or len(value) > LONGEST_INDICATOR:
        return None
    name = unlisted_name(value)
    return name and name.casefold()
