"""How a search was read, for whoever asks why it found what it found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from intel.canonical import defang, refang
from intel.indicator_types import TYPES
from intel.matching import decoded
from intel.query import Clause, SearchText

_MOST_SPOKEN: Final = 8


@dataclass(frozen=True, slots=True)
class QueryExplanation:
    """The parts of a search; everything in it must match.

    `refanged` is the whole of it refanged; `names` are the indicators (type, value) that stand in it, `words` single
    words, `phrases` words that must stand side by side, `prefixes` beginnings of words, `networks` ranges of addresses.
    """

    refanged: str
    names: tuple[tuple[str, str], ...]
    words: tuple[str, ...]
    phrases: tuple[str, ...]
    prefixes: tuple[str, ...]
    networks: tuple[str, ...]


def explain_query(text: SearchText) -> QueryExplanation:
    """Return the parts of a search as they were read."""
    plain = [clause for clause in text.clauses if not clause.names and clause.network is None and clause.phrases]
    whole = [clause.phrases[0] for clause in plain if not clause.prefix]
    return QueryExplanation(
        refanged=refang(text.text),
        names=tuple(dict.fromkeys((*text.exact, *(name for clause in text.clauses for name in clause.names)))),
        words=tuple(decoded(words) for words in whole if len(words) == 1),
        phrases=tuple(decoded(words) for words in whole if len(words) > 1),
        prefixes=tuple(decoded(clause.phrases[0]) for clause in plain if clause.prefix),
        networks=tuple(clause.network.text for clause in text.clauses if clause.network is not None),
    )


def sentence(text: SearchText) -> str:
    """Return `Searching domain evil[.]example, including subdomains, URLs and email addresses.`, values defanged."""
    if text.exact:
        return f"Searching {_named(text.exact)}{_also(text.exact)}."
    if not text.clauses:
        return "Nothing to search for: there is no letter or digit in it."
    spoken = [_spoken(clause) for clause in text.clauses[:_MOST_SPOKEN]]
    more = len(text.clauses) - len(spoken)
    if more:
        spoken.append(f"{more} more")
    together = " (all must match)" if len(text.clauses) > 1 else _also(text.clauses[0].names)
    return f"Searching {_listed(spoken)}{together}."


def _spoken(clause: Clause) -> str:
    if clause.network is not None:
        return f"addresses in the network {clause.network.text}"
    if clause.names:
        return _named(clause.names)
    words = decoded(clause.phrases[0])
    if clause.prefix:
        return f"words beginning with “{words}”"
    return f"the phrase “{words}”" if len(clause.phrases[0]) > 1 else f"the word “{words}”"


def _named(names: Sequence[tuple[str, str]]) -> str:
    """Return the most specific reading of each type; further spellings of the same (a URL with `https`) go without
    saying.
    """
    by_type = dict(reversed(names))
    said = [f"{TYPES[type].noun} {defang(type, by_type[type])}" for type in dict.fromkeys(type for type, _ in names)]
    return " or ".join(said)


def _also(names: Iterable[tuple[str, str]]) -> str:
    found = list(
        dict.fromkeys(
            TYPES[type].includes for type, value in names if TYPES[type].includes and not _is_part(type, value)
        )
    )
    return f", including {' and '.join(found)}" if found else ""


def _is_part(type: str, value: str) -> bool:
    """Tell whether nothing lies below it: a sub-technique has none of its own."""
    return type == "mitre_attack" and "." in value


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
