"""The names that are known beforehand: ATT&CK techniques and malware families."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final

LONGEST_SPELLING: Final = 200

_NEITHER_LETTER_NOR_DIGIT: Final = re.compile(r"[\W_]+")
_SIGNS_OF_ASCII: Final = bytes(code for code in range(128) if not chr(code).isalnum())
_CAPITAL_INSIDE: Final = re.compile(r"[a-z][A-Z]")  # `PoSeidon`
_KINDS: Final = (
    "ransomware", "malware", "trojan", "stealer", "loader", "backdoor", "botnet", "worm", "beacon", "rat",
)  # fmt: skip
_KIND_AT_END: Final = re.compile(rf"(?<=....)(?:{'|'.join(_KINDS)})$")
# `LockBit 3.0`: the same name with a version; `Lumma Stealer`, `INC Ransom`, `Brute Ratel C4`: with the kind.
_VERSION_AT_END: Final = re.compile(r"(?<=...)[ _-]?v?[0-9]{1,2}(?:\.[0-9x]{1,3}){0,2}$")
_LAST_OF_A_VERSION: Final = frozenset("0123456789x\n")
_FUSED_KINDS: Final = (
    "RAT", "Rat", "Stealer", "Loader", "Locker", "Ransomware", "Backdoor", "Botnet", "Wiper", "Miner",
)  # fmt: skip
_FUSED: Final = re.compile(rf"\A(\w{{3,}}[a-z0-9])({'|'.join(_FUSED_KINDS)})\Z")
_ADDED_AT_END: Final = re.compile(
    rf"(?:{_KIND_AT_END.pattern[:-1]}|(?<=...)(?:ransom(?:ware)?|rat|stealer|loader|(?:web)?shell|locker|bot|pos|c2|c4))$"
)


@dataclass(frozen=True, slots=True)
class MalwareNames:
    """`families` maps the key of every spelling to the name that a list writes so: a family's own, or one more of its
    names.

    `ordinary` are the keys of everyday words; `spellings` are all spellings as the lists write them, `joined_spellings`
    those of several words without their blanks; `openings` maps first words to the keys of the words that go on with a
    name (first words of everyday words as they are written or with capitals, any other as its key); `beginnings` are
    the keys of all words with which a name may begin; `in_order` are the keys of `families`, sorted. Of the `ordinary`
    ones, `as_written` are those that count only with capitals inside or those of the lists, `composed` those of several
    words that mean malware with other capitals and in one word too, `phrases` those of several words that are said of
    other things as well. `words` are not ordinary, but everyday words where they are written small.
    `actors` are the keys of what threat actors are called and no malware is.
    `others` are the further names of each family that has any, by its own name; `known_as` maps each of them to that.
    """

    families: Mapping[str, str]
    ordinary: frozenset[str]
    spellings: frozenset[str]
    joined_spellings: frozenset[str]
    openings: Mapping[str, frozenset[str]]
    beginnings: frozenset[str]
    in_order: tuple[str, ...]
    as_written: frozenset[str]
    composed: frozenset[str]
    phrases: frozenset[str]
    words: frozenset[str]
    actors: frozenset[str]
    others: Mapping[str, tuple[str, ...]]
    known_as: Mapping[str, str]

    def family_of(self, name: str) -> str:
        """Return the own name of the family that has that name."""
        return self.known_as.get(name, name)

    def without_kind(self, name: str) -> str:
        """Return what a list calls the family of `name` without the word for its kind, or `name`."""
        plain = self.families.get(_plain_key(name))
        return plain if plain is not None and self.family_of(plain) == self.family_of(name) else name

    def may_mean(self, spelled: str, key: str) -> bool:
        """Tell whether the ordinary word with that `key` may be the name when it is `spelled` so."""
        if spelled in self.spellings or spelled in self.joined_spellings or key in self.composed:
            return True
        if "_" in spelled and spelled.capitalize() in self.spellings:
            return True  # `more_eggs`, as the lists write `More_eggs`
        if key in self.as_written:
            return _CAPITAL_INSIDE.search(spelled) is not None
        return spelled != spelled.lower()


def is_technique(id: str) -> bool:
    """Tell whether `id` (upper-case) is an ATT&CK technique; any sub-technique of a known one counts, because the list
    ages.
    """
    return id in _techniques() or (id[5:6] == "." and id[:5] in _techniques())


def technique_name(id: str) -> str | None:
    """Return the name of an ATT&CK technique, or None."""
    return _techniques().get(id)


def technique_description(id: str) -> str:
    """Return the first sentences of what ATT&CK says of a technique, or nothing."""
    return _descriptions().get(id, "")


def technique_names() -> tuple[str, ...]:
    """Return the names of all ATT&CK techniques."""
    return tuple(_techniques().values())


def malware_name(spelling: str) -> str | None:
    """Return the name that `spelling` writes in some way, as a list writes it (`geodo` is `Geodo`), or None."""
    if len(spelling) > LONGEST_SPELLING:
        return None
    names = malware_names().families
    key = spelling_key(spelling)
    # Without the kind at its end; few end in one, and to search for it costs more than to see that.
    return names.get(key) or (names.get(_KIND_AT_END.sub("", key)) if key.endswith(_KINDS) else None)


def malware_aliases(name: str) -> tuple[str, ...]:
    """Return what else the family with that canonical name is called, its own name first."""
    return malware_family(name)[1:]


def malware_family(name: str) -> tuple[str, ...]:
    """Return all names of the family that has that canonical name: that one, then the family's own, then the others."""
    names = malware_names()
    own = names.family_of(name)
    return tuple(dict.fromkeys((name, own, *names.others.get(own, ()))))


def spelling_key(spelling: str) -> str:
    """Return the key that all spellings of one name share: its letters and digits after case folding."""
    folded = spelling.casefold()
    if folded.isalnum():
        return folded
    if not folded.isascii():
        return _NEITHER_LETTER_NOR_DIGIT.sub("", folded)
    return folded.encode().translate(None, _SIGNS_OF_ASCII).decode()


def _plain_key(name: str) -> str:
    """Return the key of a name without the word for what it names and the number of a version."""
    return _ADDED_AT_END.sub("", _without_version(name))


@cache
def malware_names() -> MalwareNames:
    """Return the list of malware names, read once."""
    data = _read("malware.json")
    families: dict[str, str] = {spelling_key(name): name for name in data["families"]}
    known_as: dict[str, str] = {}
    for name, others in data["families"].items():
        versions = {_without_version(name): name} if others else {}
        for spelling in others:
            key = spelling_key(spelling)
            if key not in families:
                base = _without_version(spelling)
                # `Winos`, of the family `Winos 4.0`, is another name: what bears no number gets none.
                families[key] = spelling if base == key else versions.setdefault(base, spelling)
                if families[key] == spelling:
                    known_as[spelling] = name
    further: dict[str, tuple[str, ...]] = {}
    for other, name in known_as.items():
        further[name] = (*further.get(name, ()), other)
    spellings = frozenset(families.values()).union(*data["families"].values())
    joined = frozenset(spelling.replace(" ", "") for spelling in spellings if " " in spelling)
    ordinary = frozenset(data["ordinary"])
    openings = _openings(spellings, ordinary)
    return MalwareNames(
        MappingProxyType(families),
        ordinary,
        spellings,
        joined,
        MappingProxyType(openings),
        beginnings=frozenset(families).union(map(spelling_key, openings)),
        in_order=tuple(sorted(families)),
        as_written=frozenset(data["as_written"]),
        composed=frozenset(data["composed"]),
        phrases=frozenset(data["phrases"]),
        words=frozenset(data["words"]),
        actors=frozenset(data["actors"]),
        others=MappingProxyType(further),
        known_as=MappingProxyType(known_as),
    )


def _without_version(name: str) -> str:
    """Return the key that the spellings of a name share with the number of a version and without.

    What ends in `ransom` and `ransomware` is one name as well.
    """
    folded = name.casefold()
    key = spelling_key(_VERSION_AT_END.sub("", folded) if folded[-1:] in _LAST_OF_A_VERSION else folded)
    return key.removesuffix("ware") if key.endswith("ransomware") else key


def _openings(spellings: frozenset[str], ordinary: frozenset[str]) -> dict[str, frozenset[str]]:
    following: dict[str, set[str]] = {}
    for spelling in spellings:
        # `ValleyRAT` is written `Valley RAT` as well.
        spaced = _FUSED.sub(r"\1 \2", spelling) if spelling.endswith(_FUSED_KINDS) else spelling
        if " " not in spaced:
            continue
        first, second, *_ = spaced.split(" ", 2)
        in_any_case = spelling_key(spelling) not in ordinary
        for opening in (spelling_key(first),) if in_any_case else (first, first.upper(), first.capitalize()):
            following.setdefault(opening, set()).add(spelling_key(second))
    return {first: frozenset(words) for first, words in following.items()}


@cache
def _techniques() -> Mapping[str, str]:
    return MappingProxyType(_read("attack_techniques.json")["techniques"])


@cache
def _descriptions() -> Mapping[str, str]:
    return MappingProxyType(_read("attack_descriptions.json")["descriptions"])


def _read(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((files(__package__) / name).read_text(encoding="utf-8"))
    return content
