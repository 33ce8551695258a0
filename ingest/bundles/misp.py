"""MISP events, as the MISP core format writes them: one event, a list of them, or a search's answer.

    {"Event": {"uuid", "info", "date", "Orgc": {"name"}, "Attribute": […], "Object": [{"Attribute": […]}],
               "Tag": […], "Galaxy": […], "EventReport": [{"name", "content"}]}}

An attribute is an indicator where it is not deleted and `to_ids` is not false; a vulnerability is one either way.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from ingest.bundles.members import Object, moment, objects, text
from ingest.bundles.report import Report, Statement
from intel.indicator_types import INDICATOR_TYPES, read_from_misp

_TYPES: Final[Mapping[str, tuple[str | None, ...]]] = MappingProxyType(
    {
        **{theirs: (ours,) for theirs, ours in read_from_misp().items()},
        **dict.fromkeys(("ip-src|port", "ip-dst|port"), ("ip", None)),
        "hostname|port": ("domain", None),
        "domain|ip": ("domain", "ip"),
        **{
            f"filename|{theirs}": (None, kind.name)
            for kind in INDICATOR_TYPES
            if kind.judgement == "hash"
            for theirs in kind.misp_types
        },
        "malware-sample": (None, "hash_md5"),
    }
)
_PROSE_TYPES: Final = frozenset({"text", "comment", "other"})
_TAG: Final = re.compile(r'misp-galaxy:([a-z0-9-]{1,60}+)="([^"]{1,300}+)"')
_TECHNIQUE: Final = re.compile(r"\bT[0-9]{4}(?:\.[0-9]{3})?\b")
_TECHNIQUES_IN: Final = frozenset({"mitre-attack-pattern", "mitre-enterprise-attack-attack-pattern"})
_MALWARE_IN: Final = frozenset(
    {"malpedia", "mitre-malware", "mitre-enterprise-attack-malware", "ransomware", "rat", "stealer", "banker", "botnet"}
)
# ATT&CK writes "Emotet - S0367".
_SOFTWARE_ID: Final = re.compile(r" - S[0-9]{4}\Z")


def misp_events(parsed: Any) -> list[Object] | None:
    """Return the events that a JSON value holds; None if it is not from MISP."""
    if isinstance(parsed, Mapping):
        if isinstance(parsed.get("Event"), Mapping):
            return [parsed["Event"]]
        parsed = parsed.get("response")
    if isinstance(parsed, list) and parsed:
        events = [each.get("Event", each) for each in parsed if isinstance(each, Mapping)]
        if events and all(isinstance(event, Mapping) and "info" in event for event in events):
            return events
    return None


def misp_report(event: Object) -> Report:
    """Return an event as a report."""
    organisation = event.get("Orgc") or event.get("Org")
    malware = tuple(name for kind, name in _galaxies(event) if kind == "malware")
    attributes = [each for each in _attributes(event) if each.get("deleted") is not True]
    return Report(
        identity=f"misp:{_identity(event)}",
        title=text(event, "info"),
        source_name=(text(organisation, "name") if isinstance(organisation, Mapping) else "") or None,
        published_at=moment(text(event, "date")) or moment(text(event, "timestamp")),
        paragraphs=tuple(_paragraphs(event, attributes)),
        statements=tuple(_statements(event, attributes, malware)),
        marks=_marks(event),
    )


def _marks(event: Object) -> frozenset[str]:
    """Return the sharing marks of an event, its objects, reports and attributes, such as `tlp:red`."""
    holders = (event, *objects(event, "Object"), *objects(event, "EventReport"), *_attributes(event))
    return frozenset("".join(text(tag, "name").lower().split()) for each in holders for tag in objects(each, "Tag"))


def _identity(event: Object) -> str:
    """Return the event's uuid; an event without one is identified by its content."""
    if uuid := text(event, "uuid").lower():
        return uuid
    return hashlib.sha256(json.dumps(event, sort_keys=True).encode(errors="replace")).hexdigest()


def _attributes(event: Object) -> Iterator[Object]:
    yield from objects(event, "Attribute")
    for each in objects(event, "Object"):
        if each.get("deleted") is not True:
            yield from objects(each, "Attribute")


def _paragraphs(event: Object, attributes: list[Object]) -> Iterator[str]:
    for report in objects(event, "EventReport"):
        if report.get("deleted") is not True:
            yield f"{text(report, 'name')}\n\n{text(report, 'content')}".strip()
    for attribute in attributes:
        if text(attribute, "type") in _PROSE_TYPES:
            yield text(attribute, "value")


def _statements(event: Object, attributes: list[Object], malware: tuple[str, ...]) -> Iterator[Statement]:
    for attribute in attributes:
        yield from _stated_by(attribute, malware)
    for holder in (event, *attributes):
        yield from (Statement(kind, value) for kind, value in _galaxies(holder))


def _stated_by(attribute: Object, malware: tuple[str, ...]) -> Iterator[Statement]:
    kinds = _TYPES.get(text(attribute, "type"), ())
    if attribute.get("to_ids") in (False, "0", 0) and kinds != ("cve",):
        return
    named = tuple(name for kind, name in _galaxies(attribute) if kind == "malware")
    for kind, raw in zip(kinds, text(attribute, "value").rsplit("|", len(kinds) - 1), strict=False):
        if kind:
            yield Statement(kind, raw, text(attribute, "comment"), tuple(dict.fromkeys(named + malware)))


def _galaxies(holder: Object) -> Iterator[tuple[str, str]]:
    """Return the techniques and malware that an event or attribute is tagged with."""
    tags = [text(tag, "name") for tag in objects(holder, "Tag")]
    tags += [
        text(cluster, "tag_name")
        for galaxy in objects(holder, "Galaxy")
        for cluster in objects(galaxy, "GalaxyCluster")
    ]
    for match in map(_TAG.fullmatch, dict.fromkeys(tags)):
        if match and match[1] in _TECHNIQUES_IN:
            yield from (("mitre_attack", id) for id in _TECHNIQUE.findall(match[2]))
        elif match and match[1] in _MALWARE_IN:
            yield "malware", _SOFTWARE_ID.sub("", match[2])
