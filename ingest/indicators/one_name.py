"""Choose one name where a text writes a family with the word for its kind and without: `RedLine`, `RedLine Stealer`."""

from __future__ import annotations

from ingest.indicators.malware import JudgedMalware
from intel.names import MalwareNames


def with_one_name_each(text: str, judged: list[JudgedMalware], names: MalwareNames) -> list[JudgedMalware]:
    """Return `judged` with the name that the text uses most often, else first, for all that differ by the kind only.

    A kind in small letters (`RedLine stealer`) is no part of a name, and what is all in small letters counts last.
    """
    kindless = {name: names.without_kind(name) for name in {sighting.name for sighting, _ in judged}}
    alike: dict[str, dict[str, int]] = {}
    for (name, start, end), verdict in judged:
        if not verdict.kept:
            continue
        spelled = text[start:end]
        used = kindless[name] if _has_a_small_kind(spelled) else name
        uses = alike.setdefault(kindless[name], {})
        uses[used] = uses.get(used, 0) + (not spelled.islower())
    chosen = {
        plain: max(uses, key=uses.__getitem__)
        for plain, uses in alike.items()
        if len(uses.keys() - {plain}) < 2  # `TerraLoader` and `TerraStealer` are two
    }
    renamed = {name: new for name, plain in kindless.items() if (new := chosen.get(plain, name)) != name}
    if not renamed:
        return judged
    return [
        (sighting._replace(name=renamed[sighting.name]), verdict) if sighting.name in renamed else (sighting, verdict)
        for sighting, verdict in judged
    ]


def _has_a_small_kind(spelled: str) -> bool:
    """Tell whether the last of several words is in small letters, and not all of them are."""
    first, _, last = spelled.replace("-", " ").rpartition(" ")
    return bool(first) and last.islower() and not first.islower()
