"""Indicators as a STIX 2.1 bundle: deterministic ids, so that exporting again gives the same objects.

indicator --indicates--> malware        for a name within two sentences of it
report                                  an article, where all of it is exported: its source, and all that it names

An object says the same wherever it stands as long as its `modified` is the same: so nothing in it follows the question,
the clock or imported lists.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

import orjson

from api.annotating import Annotations
from api.web.addresses import ioc_path
from intel.ageing import age
from intel.confidence import Evidence, confidence
from intel.ids import NAMESPACE, ioc_id
from intel.indicator_types import INDICATOR_TYPES, TYPES
from intel.names import malware_aliases, technique_name
from intel.notes import Note
from intel.records import Article, ArticleRef, Change, Ioc
from intel.times import rfc3339
from intel.tlp import LEVELS, Tlp

Object = dict[str, Any]

# TLP 2.0 as OASIS defines it for STIX.
_MARKINGS: Mapping[Tlp, str] = MappingProxyType(
    {
        "clear": "marking-definition--94868c89-83c2-464b-929b-a1a8aa3c8487",
        "green": "marking-definition--bab4a63c-aed9-4cf5-a766-dfca5abac2bb",
        "amber": "marking-definition--55d920b0-5e8b-4f79-9ee9-91f868d9b421",
    }
)
_TLP_EXTENSION = "extension-definition--60a3c5c5-0d10-413e-aab3-9e08dde9e88d"
# Names do not change, so neither do the objects that stand for them, whatever bundle they come in.
_NAMED_SINCE = "2026-01-01T00:00:00.000Z"
_SERVICE = "IOC Intelligence"
_NO_CONTEXT = "An article names it without a sentence around it."
_NAMED_NO_MORE = "No article names it any more."
_KINDS = ("indicator", "relationship", "malware", "vulnerability", "attack-pattern", "identity")
# What several indicators may point at.
_SHARED = ("malware", "vulnerability", "attack-pattern")


# The types of objects that stand for one indicator each, and our types that they stand for.
STIX_TYPES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        theirs: tuple(kind.name for kind in INDICATOR_TYPES if kind.stix_type == theirs)
        for theirs in dict.fromkeys(("indicator", *(kind.stix_type for kind in INDICATOR_TYPES)))
    }
)


class StixBundle:
    """Writes indicators, vulnerabilities, techniques and malware, and how they belong together.

    With `article` its report names all of them, and `notes` are those on it. Of what was written it keeps the ids
    alone, 17 bytes each, for the report stands at the end.
    """

    def __init__(self, address: str, article: Article | None = None, notes: Sequence[Note] = ()) -> None:
        self._address = address
        self._article = article
        self._notes = notes
        self._named = _Ids()
        self._shared: set[str] = set()
        self._markings = {_MARKINGS["clear"]}
        self._digest = hashlib.sha256()
        self._is_first = True
        self._changed = article.changed_at if article else None

    def begin(self) -> bytes:
        """Return the beginning of the bundle; its id, which stands for all that is in it, comes at the end."""
        return b'{"type":"bundle","objects":['

    def some(self, iocs: Sequence[Ioc], noted: Annotations) -> bytes:
        """Return the objects that stand for some indicators and notes, but those that stand in the bundle already."""
        return b"".join(self._written(made) for ioc in iocs for made in self._of(ioc, noted.notes.get(ioc.id, ())))

    def end(self) -> Iterator[bytes]:
        """Yield the objects that all of them share, the report, and the end of the bundle."""
        if self._article is not None:
            self._markings.add(_marking(self._article.tlp))
        for made in shared_objects():
            if made["type"] != "marking-definition" or made["id"] in self._markings:
                yield self._written(made)
        if self._article is not None:
            yield from self._report(self._article)
        yield b'],"id":' + orjson.dumps(_id("bundle", self._digest.hexdigest())) + b"}"

    def _report(self, article: Article) -> Iterator[bytes]:
        source = _identity(article.counted_source or "unknown", "organization")
        yield self._written(source)
        if not self._named:
            self._named.add(source["id"])
        yield (
            self._written(_report(article, source["id"], self._changed or article.changed_at)).removesuffix(b"}")
            + b',"object_refs":['
        )
        yield from self._named.written()
        yield b"]}"
        for note in self._notes:
            yield self._written(_note(note, _report_id(article)))

    def _of(self, ioc: Ioc, notes: Sequence[Note]) -> Iterator[Object]:
        if self._changed is not None:
            self._changed = max(self._changed, ioc.changed_at)
        for made in _of_indicator(ioc, self._address):
            if self._article is not None:
                self._named.add(made["id"])
            self._markings.update(made["object_marking_refs"])
            if made["type"] in _SHARED:
                if made["id"] in self._shared:
                    continue
                self._shared.add(made["id"])
            yield made
        yield from (_note(note, stix_object(ioc, self._address)["id"]) for note in notes)

    def _written(self, made: Object) -> bytes:
        self._digest.update(made["id"].encode())
        comma, self._is_first = b"" if self._is_first else b",", False
        return comma + orjson.dumps(made)


class _Ids:
    """The ids that a report points at, each once, in little room."""

    _AT_ONCE = 1_000

    def __init__(self) -> None:
        self._packed = bytearray()
        self._shared: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._packed)

    def add(self, id: str) -> None:
        kind, _, number = id.partition("--")
        if kind in _SHARED:
            if id in self._shared:
                return
            self._shared.add(id)
        self._packed.append(_KINDS.index(kind))
        self._packed += uuid.UUID(number).bytes

    def written(self) -> Iterator[bytes]:
        """Yield the members of a JSON array, some at a time."""
        for start in range(0, len(self._packed), 17 * self._AT_ONCE):
            stop = min(start + 17 * self._AT_ONCE, len(self._packed))
            ids = [self._id_at(place) for place in range(start, stop, 17)]
            yield (b"," if start else b"") + orjson.dumps(ids)[1:-1]

    def _id_at(self, place: int) -> str:
        number = uuid.UUID(bytes=bytes(self._packed[place + 1 : place + 17]))
        return f"{_KINDS[self._packed[place]]}--{number}"


def shared_objects() -> tuple[Object, ...]:
    """Return what every other object refers to: the markings, and who makes them; a new one comes last."""
    clear, *others = map(_marking_definition, LEVELS)
    return clear, _identity(_SERVICE, "system"), *others


def stix_object(ioc: Ioc, address: str) -> Object:
    """Return the one object that stands for an indicator; `address` is the service's own."""
    if ioc.type == "malware":
        return _malware(ioc.value)
    if ioc.type == "cve":
        return _vulnerability(ioc.value)
    if ioc.type == "mitre_attack":
        return _technique(ioc.value)
    return _indicator(ioc, address)


def revoked(change: Change) -> Object | None:
    """Return the object that takes a removed indicator back; None for names, which stand for themselves."""
    if change.type not in STIX_TYPES["indicator"]:
        return None
    created = _time(change.added_at or change.at)
    made = _common("indicator", _id_of_ioc("indicator", change.type, change.value), created, _time(change.at))
    pattern = {"pattern": _pattern(change.type, change.value), "pattern_type": "stix", "pattern_version": "2.1"}
    told = {"name": change.value, "description": _NAMED_NO_MORE}
    return made | told | pattern | {"valid_from": created, "revoked": True}


def _of_indicator(ioc: Ioc, address: str) -> Iterator[Object]:
    """Yield the objects of one indicator, and of the malware that it was named with."""
    made = stix_object(ioc, address)
    yield made
    if made["type"] == "indicator":
        for malware in map(_malware, ioc.malware):
            yield malware
            yield _relationship(made, "indicates", malware["id"])


def _indicator(ioc: Ioc, address: str) -> Object:
    id = _id_of_ioc("indicator", ioc.type, ioc.value)
    made = _common("indicator", id, _time(ioc.added_at), _time(max(ioc.added_at, ioc.changed_at))) | {
        "name": ioc.value,
        "description": ioc.context or _NO_CONTEXT,
        "indicator_types": ["malicious-activity" if ioc.malware else "unknown"],
        "pattern": _pattern(ioc.type, ioc.value),
        "pattern_type": "stix",
        "pattern_version": "2.1",
        "valid_from": _time(ioc.first_seen),
        # By what the record itself says: age, lists and votes change without it.
        "confidence": confidence(Evidence(ioc.sources, bool(ioc.malware), None, False, 0)),
        "object_marking_refs": [_marking(ioc.tlp)],
    }
    if ioc.tags:
        made["labels"] = list(ioc.tags)
    if (expires_at := age(ioc.type, ioc.last_seen, ioc.last_seen).expires_at) is not None:
        made["valid_until"] = _time(expires_at)
    page = {"source_name": _SERVICE, "url": address + ioc_path(ioc.type, ioc.value)}
    return made | {"external_references": [*_references(ioc.article), page]}


def _pattern(type: str, value: str) -> str:
    if type == "ip":
        return f"[ipv{6 if ':' in value else 4}-addr:value = '{value}']"
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"[{TYPES[type].stix_paths[0]} = '{escaped}']"


def _malware(name: str) -> Object:
    made = _named("malware", "malware", name) | {"name": name, "is_family": True}
    aliases = malware_aliases(name)
    return made | ({"aliases": list(aliases)} if aliases else {})


def _vulnerability(id: str) -> Object:
    reference = {"source_name": "cve", "external_id": id, "url": f"https://www.cve.org/CVERecord?id={id}"}
    return _named("vulnerability", "cve", id) | {"name": id, "external_references": [reference]}


def _technique(id: str) -> Object:
    address = f"https://attack.mitre.org/techniques/{id.replace('.', '/')}/"
    reference = {"source_name": "mitre-attack", "external_id": id, "url": address}
    name = technique_name(id)
    made = _named("attack-pattern", "mitre_attack", id)
    return made | {"name": f"{id} {name}" if name else id, "external_references": [reference]}


def _identity(name: str, identity_class: str) -> Object:
    made = _named("identity", identity_class, name) | {"name": name, "identity_class": identity_class}
    if identity_class == "system":
        del made["created_by_ref"]
    return made


def _relationship(source: Object, kind: str, target_id: str) -> Object:
    id = _id("relationship", source["id"], kind, target_id)
    ends = {"relationship_type": kind, "source_ref": source["id"], "target_ref": target_id}
    ends["object_marking_refs"] = source["object_marking_refs"]
    return _common("relationship", id, source["created"], source["modified"]) | ends


def _note(note: Note, object_id: str) -> Object:
    """Return a note; who may have it, no marking says, for its author did not."""
    written_at = _time(note.written_at)
    made = _common("note", _id("note", note.id), written_at, written_at)
    del made["object_marking_refs"]
    return made | {"content": note.text, "object_refs": [object_id]}


def _report(article: Article, source_id: str, changed_at: datetime) -> Object:
    """Return a report without what it points at.

    `changed_at` is when it was last read or annotated, or when what it names last changed.
    """
    published = _time(article.seen_at)
    made = _common("report", _report_id(article), published, _time(max(article.seen_at, changed_at)))
    made |= {"name": article.title.strip() or "untitled", "published": published}
    made |= {"report_types": ["threat-report"], "created_by_ref": source_id}
    made["object_marking_refs"] = [_marking(article.tlp)]
    if article.tags:
        made["labels"] = list(article.tags)
    references = _references(article.ref)
    return made | ({"external_references": references} if references else {})


def _report_id(article: Article) -> str:
    return _id("report", article.id)


def _references(article: ArticleRef) -> list[Object]:
    return [{"source_name": article.counted_source or "article", "url": article.url}] if article.url else []


def _marking(tlp: Tlp | None) -> str:
    """Return the marking of a level; what nothing is said of is clear, as it came from where anybody reads."""
    return _MARKINGS[tlp or "clear"]


def _marking_definition(tlp: Tlp) -> Object:
    return {
        "type": "marking-definition",
        "spec_version": "2.1",
        "id": _MARKINGS[tlp],
        "created": "2022-10-01T00:00:00.000Z",
        "name": f"TLP:{tlp.upper()}",
        "extensions": {_TLP_EXTENSION: {"extension_type": "property-extension", "tlp_2_0": tlp}},
    }


def _named(kind: str, type: str, name: str) -> Object:
    id = _id_of_ioc(kind, type, name) if kind in STIX_TYPES else _id(kind, type, name)
    return _common(kind, id, _NAMED_SINCE, _NAMED_SINCE)


def _common(kind: str, id: str, created: str, modified: str) -> Object:
    return {
        "type": kind,
        "spec_version": "2.1",
        "id": id,
        "created_by_ref": _id("identity", "system", _SERVICE),
        "created": created,
        "modified": modified,
        "object_marking_refs": [_MARKINGS["clear"]],
    }


def _id_of_ioc(kind: str, type: str, value: str) -> str:
    """Return the id of what stands for an indicator: that one's own, so that it leads back."""
    return f"{kind}--{ioc_id(type, value)}"


def _id(kind: str, *parts: str) -> str:
    return f"{kind}--{uuid.uuid5(NAMESPACE, chr(10).join(('stix', kind, *parts)))}"


def _time(moment: datetime) -> str:
    """Return a time with milliseconds, as STIX requires."""
    text = rfc3339(moment)
    return text if "." in text else text.replace("Z", ".000Z")
