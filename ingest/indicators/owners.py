"""Carry what a text says of one host or mailbox over to the others of its owner.

Where readers are told to write to `csirt@orlop.example`, or `vpn.orlop.example` is called ours, also
`status.orlop.example` is nobody's who attacks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from ingest.indicators import noise
from ingest.indicators.clauses import ids_of_roles
from ingest.indicators.contexts import rules_of_others
from ingest.indicators.evidence import EVIDENCE
from ingest.indicators.late import late
from ingest.indicators.sightings import Sighting
from ingest.indicators.token_candidate import TokenCandidate
from ingest.indicators.verdict import Verdict, weighed
from intel.suffixes import site_domain

_OF_ITS_OWNER: Final = EVIDENCE["its owner attacks nobody"]
_MOST_OF_PROSE: Final = -_OF_ITS_OWNER[0]
_MOST_OWNERS: Final = 200
_OWNED: Final = frozenset({"domain", "url", "email"})
# What sets a value apart as an indicator, whatever is said of others of its owner.
_SET_APART: Final = frozenset(
    EVIDENCE[name]
    for name in (
        "section of indicators", "alone on its line", "item of a list", "among its like",
        "defanged elsewhere in the text", "its row says what it is", "joined to a defanged host", "dead drop",
        "host with a port", "mailbox spoken of as part of an attack", "fetched by a command or request",
        "quoted from a lure",
    )
)  # fmt: skip

_OF_NO_ATTACKER: Final = frozenset({EVIDENCE["well-known host"][1], EVIDENCE["its owner attacks nobody"][1]})
_WIDEST_JOINT: Final = 24
_ADDRESS_OF: Final = late(
    r"[`\"\u2019]?\.? ?(?:\(|\[|->|=>|\u2192|\||=|:)[ `(]{0,3}(?:ip:? )?"
    r"|[`\"\u2019]? (?:at|ist|is|resolves to|has|hat) `?"
)
_NEXT: Final = (", ", " / ", " - ", ",")

# Of what is kept, by type and value: its places, each with the verdict last.
_Kept = Mapping[tuple[str, str], Sequence[tuple[int, int, Verdict]]]


def refused_by_their_owner(
    seen: list[Sighting], verdicts: list[Verdict], kept: _Kept
) -> dict[tuple[str, str], Verdict]:
    """Return, by type and value, the verdict on what is `kept` but belongs to an owner of whom the text says elsewhere
    that he attacks nobody.
    """
    owners = _harmless_owners(seen, verdicts, kept)
    if not owners:
        return {}
    refused: dict[tuple[str, str], Verdict] = {}
    for reading, _, _ in seen:
        key = reading.type, reading.value
        if reading.type in _OWNED and key in kept and key not in refused and (owner := _owner(reading)) in owners:
            if not all(is_of_prose(reading.type, verdict) for _, _, verdict in kept[key]):
                owners.discard(owner)  # whose other hosts are indicators for their own sake
            elif reading.type != "email" and (best := [verdict for _, _, verdict in kept[key] if verdict.evidence]):
                refused[key] = weighed([*best[0].evidence, _OF_ITS_OWNER])
    return {
        (reading.type, reading.value): refused[reading.type, reading.value]
        for reading, _, _ in seen
        if (reading.type, reading.value) in refused and _owner(reading) in owners
    }


def as_its_host(text: str, seen: list[Sighting], index: int, of_host: Verdict) -> Verdict | None:
    """Return the verdict on the host right before the address `seen[index]`, if that is somebody's who attacks nobody:
    `our gateway (mx.orlop.net, 198.51.100.7)`.
    """
    (host, start, end), (address, first, _) = seen[index - 1], seen[index]
    if (
        host.type != "domain"
        or address.defanged
        or first - end > _WIDEST_JOINT
        or of_host.rule not in rules_of_others() | ids_of_roles() | _OF_NO_ATTACKER
    ):
        return None
    joint = text[end:first]
    is_joined = _ADDRESS_OF.fullmatch(joint) or (joint in _NEXT and text[start - 1 : start] == "(")
    return Verdict(False, of_host.rule, of_host.score) if is_joined else None


def addresses_of_refused(
    text: str, seen: list[Sighting], verdicts: list[Verdict], kept: _Kept
) -> dict[tuple[str, str], Verdict]:
    """Return the verdict on the addresses that are kept for one place alone, right behind a host that was refused."""
    found: dict[tuple[str, str], Verdict] = {}
    for index in range(1, len(seen)):
        key = seen[index][0].type, seen[index][0].value
        if key[0] == "ip" and not verdicts[index - 1].kept and len(kept.get(key, ())) == 1:
            verdict = as_its_host(text, seen, index, verdicts[index - 1])
            found |= {key: verdict} if verdict else {}
    return found


def _harmless_owners(seen: list[Sighting], verdicts: list[Verdict], kept: _Kept) -> set[str]:
    """Return the owners of whom the text says that they attack nobody.

    What it says so of counts if it is kept nowhere, or in fewer places than the text says so.
    """
    owners: set[str] = set()
    cleared: Counter[tuple[str, str]] = Counter()
    for (reading, _, _), verdict in zip(seen, verdicts, strict=True):
        if verdict.kept or reading.defanged or reading.type not in _OWNED or len(owners) >= _MOST_OWNERS:
            continue
        if _clears_its_owner(verdict):
            key, host = (reading.type, reading.value), reading.host or reading.value
            cleared[key] += 1
            if cleared[key] > len(kept.get(key, ())) and not (
                noise.is_known_host(host) or noise.is_mailbox_provider(host) or noise.holds_anything(host)
            ):
                owners.add(_owner(reading))
    if not owners:
        return owners
    return owners - {_owner(reading) for reading, _, _ in seen if reading.defanged and reading.type in _OWNED}


def _clears_its_owner(verdict: Verdict) -> bool:
    return any(points < 0 and rule in _clearing() for points, rule in verdict.evidence)


@cache
def _clearing() -> frozenset[str]:
    return rules_of_others() | ids_of_roles() | {EVIDENCE["mailbox for readers"][1]}


def _owner(reading: TokenCandidate) -> str:
    return site_domain(reading.host or reading.value)


def is_of_prose(type: str, verdict: Verdict) -> bool:
    """Tell whether a host, URL or mailbox is kept by nothing but the words around it, or as the host of another."""
    if type not in _OWNED:
        return False
    return not verdict.evidence or (verdict.score <= _MOST_OF_PROSE and _SET_APART.isdisjoint(verdict.evidence))
