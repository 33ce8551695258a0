"""Threat actors and campaigns: those of an imported ATT&CK bundle, well-known ones, and how texts write their names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Final

from intel.catalogues.parsed import text_member
from intel.catalogues.parts import find, part_of, unpack
from intel.names import spelling_key
from intel.store import Store

NAMES_KEY: Final = "actors"
_MOST_ALIASES: Final = 30
_MOST_USES: Final = 400
_LONGEST_DESCRIPTION: Final = 1_000
_LONGEST_NAME: Final = 80
_MONTH: Final = re.compile(r"[0-9]{4}-[0-9]{2}")
_ID: Final = re.compile(r"[GC][0-9]{4}")
_CITATION: Final = re.compile(r"\(Citation: [^()]{1,200}\)|\[([^\[\]]{1,80})\]\([^()\s]{1,300}\)")
# Names that tell by their form what they are: numbered ones, and those of vendors' schemes.
_FORMED: Final = (
    r"(?:APT|UNC|FIN)[- ]?[0-9]{1,5}|TA[1-9][0-9]{2,3}|(?:UAC|TAG|DEV|Storm)-[0-9]{1,5}"
    r"|[A-Z][a-z]{2,14} (?:Typhoon|Blizzard|Sandstorm|Sleet|Tempest|Tsunami|Cyclone)"
    r"|(?:[A-Z]{3,14}|[A-Z][a-z]{2,14}) (?:BEAR|PANDA|KITTEN|SPIDER|CHOLLIMA|Bear|Panda|Kitten|Spider|Chollima)"
    r"|Operation (?!Cent|Manag|System|Team|Mode)[A-Z][A-Za-z]{3,20}"
    r"(?: (?!Indicators|Report|Campaign|Analysis)[A-Z][a-z]{2,20})?"
)
_NUMBERED: Final = re.compile(r"(APT|UNC|FIN)[- ]?([0-9]+)")
_SCHEME: Final = re.compile(rf"(?:{_FORMED})")


@dataclass(frozen=True, slots=True)
class Actor:
    """A threat group or a campaign; `techniques` are ids, `software` names. `id` is ATT&CK's, empty for others.

    `linked` are the groups that a campaign is attributed to, or a group's campaigns; `active` the months of a campaign.
    """

    name: str
    kind: str = "group"
    id: str = ""
    aliases: tuple[str, ...] = ()
    description: str = ""
    techniques: tuple[str, ...] = ()
    software: tuple[str, ...] = ()
    linked: tuple[str, ...] = ()
    active: str = ""


_MEMBERS: Final = frozenset(one.name for one in fields(Actor))


class Reader:
    """Collects actors and what they use from the objects of an ATT&CK bundle."""

    def __init__(self) -> None:
        self._actors: dict[str, Actor] = {}
        self._used: dict[str, tuple[str, str]] = {}
        self._uses: list[tuple[str, str]] = []
        self._attributed: list[tuple[str, str]] = []

    def take(self, value: Mapping[str, Any], id: str) -> None:
        """Note an object; `id` is ATT&CK's own, empty where it has none."""
        kind, name = value.get("type"), text_member(value.get("name"), _LONGEST_NAME)
        gone = value.get("revoked") is True or value.get("x_mitre_deprecated") is True
        if kind == "relationship" and value.get("relationship_type") in ("uses", "attributed-to"):
            ends = self._uses if value["relationship_type"] == "uses" else self._attributed
            ends.append((str(value.get("source_ref")), str(value.get("target_ref"))))
        elif kind in ("intrusion-set", "campaign") and name and not gone and _ID.fullmatch(id):
            aliases = value.get("aliases")
            listed = [text_member(one, _LONGEST_NAME) for one in aliases] if isinstance(aliases, list) else []
            others = tuple(dict.fromkeys(one for one in listed if one and one != name))[:_MOST_ALIASES]
            described = _CITATION.sub(lambda match: match[1] or "", text_member(value.get("description"), 8_000))
            told = "campaign" if kind == "campaign" else "group"
            actor = Actor(name, told, id, others, _shortened(described), active=_months(value))
            self._actors[str(value.get("id"))] = actor
        elif kind in ("malware", "tool", "attack-pattern") and name and not gone:
            self._used[str(value.get("id"))] = (str(kind), id if kind == "attack-pattern" else name)

    def entries(self) -> dict[str, str]:
        """Return the entries for a catalogue: one an actor, and one with all names."""
        uses: dict[str, list[tuple[str, str]]] = {}
        for source, target in self._uses:
            if source in self._actors and target in self._used:
                uses.setdefault(source, []).append(self._used[target])
        linked = self._linked()
        whole = [
            replace(_with_uses(actor, uses.get(ref, [])), linked=tuple(sorted(linked.get(ref, ()))))
            for ref, actor in sorted(self._actors.items())
        ]
        names = [[actor.name, *actor.aliases] for actor in whole]
        written = {spelling_key(actor.name): _written(asdict(actor)) for actor in whole}
        return {f"actor {key}": text for key, text in written.items()} | ({NAMES_KEY: _written(names)} if names else {})

    def _linked(self) -> dict[str, set[str]]:
        """Return the names of the actors that each is attributed to, or that are attributed to it."""
        linked: dict[str, set[str]] = {}
        for source, target in self._attributed:
            if source in self._actors and target in self._actors:
                linked.setdefault(source, set()).add(self._actors[target].name)
                linked.setdefault(target, set()).add(self._actors[source].name)
        return linked


def _shortened(text: str) -> str:
    """Return a description of bounded length, cut after a sentence or else between words."""
    if len(text) <= _LONGEST_DESCRIPTION:
        return text
    begun = text[:_LONGEST_DESCRIPTION]
    whole = begun.rpartition(". ")[0]
    return f"{whole}. …" if whole else f"{begun.rpartition(' ')[0]} …"


def _months(value: Mapping[str, Any]) -> str:
    """Return when a campaign was seen, as `2019-08 to 2021-01`."""
    seen = (text_member(value.get(name), 7) for name in ("first_seen", "last_seen"))
    return " to ".join(dict.fromkeys(month for month in seen if _MONTH.fullmatch(month)))


def _with_uses(actor: Actor, uses: list[tuple[str, str]]) -> Actor:
    techniques = sorted({name for kind, name in uses if kind == "attack-pattern" and name})[:_MOST_USES]
    software = sorted({name for kind, name in uses if kind != "attack-pattern"})[:_MOST_USES]
    return replace(actor, techniques=tuple(techniques), software=tuple(software))


def _written(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Names:
    """The names of actors: `by_key` leads from every spelling to the actor's name, `pattern` finds them in texts."""

    by_key: Mapping[str, str]
    pattern: re.Pattern[str]

    def name_of(self, spelling: str) -> str | None:
        """Return the actor that is called so; a name of a well-known form is its own."""
        spelling = " ".join(spelling.split())
        if found := self.by_key.get(spelling_key(spelling)):
            return found
        spelling = _NUMBERED.sub(r"\1\2", spelling)
        return spelling if len(spelling) <= _LONGEST_NAME and _SCHEME.fullmatch(spelling) else None

    def spans(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield where a text names an actor, and which."""
        for match in self.pattern.finditer(text):
            if name := self.name_of(match[0]):
                yield match.start(), match.end(), name


async def actor_names(store: Store) -> Names:
    """Return the names that are known: well-known ones, and those of the imported ATT&CK."""
    part = (await store.catalogues.parts("attack", [part_of(NAMES_KEY)])).get(part_of(NAMES_KEY))
    return _names((find(unpack(part), NAMES_KEY) if part else None) or "[]")


async def actor_named(store: Store, spelling: str) -> Actor | None:
    """Return what is known of the actor of that name, or None."""
    name = (await actor_names(store)).name_of(spelling)
    if name is None:
        return None
    key = f"actor {spelling_key(name)}"
    part = (await store.catalogues.parts("attack", [part_of(key)])).get(part_of(key))
    told = find(unpack(part), key) if part else None
    known = next((others for first, *others in _well_known() if first == name), [])
    if told is None:
        return Actor(name, "campaign" if name.startswith("Operation ") else "group", aliases=tuple(known))
    members: dict[str, Any] = {
        member: tuple(value) if isinstance(value, list) else value
        for member, value in json.loads(told).items()
        if member in _MEMBERS
    }
    actor = Actor(**members)
    # Of names that differ in their spelling alone the first stays.
    spelt: dict[str, str] = {}
    for one in (actor.name, *actor.aliases, *known):
        spelt.setdefault(spelling_key(one), one)
    return replace(actor, aliases=tuple(spelt.values())[1:])


@lru_cache(maxsize=4)
def _names(listed: str) -> Names:
    by_key: dict[str, str] = {}
    spellings: list[str] = []
    for name, *others in (*json.loads(listed), *_well_known()):
        canonical = by_key.get(spelling_key(name), name)
        for one in (name, *others):
            by_key.setdefault(spelling_key(one), canonical)
            # A short word in small letters is an everyday word more often than a name.
            if len(one) > 3 and not one.islower():
                spellings.append(one)
    ordered = sorted(set(spellings), key=lambda one: (-len(one), one))
    known = "|".join(map(re.escape, ordered))
    return Names(by_key, re.compile(rf"(?<![\w.@/-])(?:{known}|{_FORMED})(?![\w@-]|\.\w)"))


@cache
def _well_known() -> tuple[tuple[str, ...], ...]:
    lines = (files(__package__) / "actors.txt").read_text("utf-8").splitlines()
    return tuple(tuple(name.strip() for name in line.split(";")) for line in lines if line.strip() and line[0] != "#")
