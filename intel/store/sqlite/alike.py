"""New indicators that one article alone names, most of what is saved.

Those that stand near the same malware come to the same in all but themselves and their sentence: it is worked out once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from intel.store.sqlite.facet_keys import ONLY, key_of
from intel.store.sqlite.kinds import kind_of, week_of
from intel.store.sqlite.seen import Seen, Sighted, Sightings
from intel.store.subjects import SUBJECTS

Counts = Counter[tuple[int | str, ...]]


class Named(NamedTuple):
    """An indicator by what it is."""

    id: bytes
    type: str
    value: str


class Member(NamedTuple):
    """One of those that are alike, with its sentence."""

    seq: int
    named: Named
    context: str


class Alike(NamedTuple):
    """Indicators that come to what `seen` says, but for its `context`; in order of `seq`."""

    seen: Seen
    members: list[Member]

    @property
    def types(self) -> Counter[str]:
        """How many there are of each type."""
        return Counter(member.named.type for member in self.members)

    def add_to_counts(self, of_all: Counts, of_source: Counts, of_week: Counts) -> None:
        """Count them by type and week of `last_seen`, by source and type, and by all three."""
        week = week_of(self.seen.last_seen)
        for type, count in self.types.items():
            of_all[type, week] += count
            for source in self.seen.source_seqs:
                of_source[source, type] += count
                of_week[source, type, week] += count

    def add_to_weeks(self, counts: Counts, new: Counts) -> None:
        """Count the observables by the weeks in which they were named, and by the one in which they were new."""
        for type, count in self.types.items():
            if type not in SUBJECTS:
                new[week_of(self.seen.said.first_seen), type] += count
                for week in self.seen.weeks:
                    counts[week.week, type] += count

    def records(self) -> Iterator[tuple[Member, tuple[object, ...]]]:
        """Yield each with what its record says."""
        said = self.seen.said
        first = said.first_seen, said.last_seen, said.sightings, said.sources, said.article_seq, said.malware
        for member in self.members:
            yield member, (*first, member.context, said.tlp)

    def sources(self) -> Iterator[tuple[Member, int, int, int, int]]:
        """Yield each with its source, how far it shares that, its kind, and its key for facets."""
        (source,) = self.seen.source_seqs
        kinds = {type: kind_of(type, self.seen.last_seen) for type in self.types}
        keys = {type: key_of(source, ONLY, kind) for type, kind in kinds.items()}
        for member in self.members:
            type = member.named.type
            yield member, source, ONLY, kinds[type], keys[type]


def part(
    sighted: Mapping[int, list[Sighted]], named: Mapping[int, Named], sightings: Sightings
) -> tuple[dict[int, Seen], list[Alike]]:
    """Return what new indicators of several sightings come to, by `seq`, and all others."""
    seen: dict[int, Seen] = {}
    alike: dict[tuple[int, str], Alike] = {}
    for seq, rows in sighted.items():
        if len(rows) > 1:
            seen[seq] = sightings.come_to(rows)
            continue
        _, article_seq, malware, context = rows[0]
        found = alike.get((article_seq, malware))
        if found is None:
            found = alike[article_seq, malware] = Alike(sightings.come_to(rows), [])
        found.members.append(Member(seq, named[seq], context))
    for one in alike.values():
        one.members.sort()
    return seen, [*alike.values()]
