"""Indicators as a STIX 2.1 bundle: deterministic ids, so that exporting again gives the same objects.

indicator --indicates--> malware        for a name within two sentences of it
report                                  an article: its source, and everything here that it names
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import orjson

from intel.ids import NAMESPACE
from intel.names import technique_name
from intel.records import ArticleRef, Ioc
from intel.times import rfc3339

Object = dict[str, Any]

_PATTERNS = {
    "domain": "[domain-name:value = '{}']",
    "url": "[url:value = '{}']",
    "email": "[email-addr:value = '{}']",
    "hash_md5": "[file:hashes.MD5 = '{}']",
    "hash_sha1": "[file:hashes.'SHA-1' = '{}']",
    "hash_sha256": "[file:hashes.'SHA-256' = '{}']",
}
# TLP 2.0 as OASIS defines it for STIX.
_CLEAR = "marking-definition--94868c89-83c2-464b-929b-a1a8aa3c8487"
_TLP_EXTENSION = "extension-definition--60a3c5c5-0d10-413e-aab3-9e08dde9e88d"
# Names do not change, so neither do the objects that stand for them, whatever bundle they come in.
_NAMED_SINCE = "2026-01-01T00:00:00.000Z"
_SERVICE = "IOC Intelligence"
_KINDS = ("indicator", "relationship", "malware", "vulnerability", "attack-pattern", "identity")
# What several indicators may point at.
_SHARED = ("malware", "vulnerability", "attack-pattern")


class StixBundle:
    """Writes indicators, vulnerabilities, techniques and malware, how they belong together, and who reported them.

    With `article` its report names all of them; otherwise each stands in the report of its newest article. Of what was
    written it keeps the ids alone, 17 bytes each, for the reports stand at the end.
    """

    def __init__(self, article: ArticleRef | None = None) -> None:
        self._article = article
        self._reports: dict[str, tuple[ArticleRef, _Ids]] = {}
        self._shared: set[str] = set()
        self._digest = hashlib.sha256()
        self._is_first = True
        if article is not None:
            self._reports[article.id] = (article, _Ids())

    def begin(self) -> bytes:
        """Return the beginning of the bundle; its id, which stands for all that is in it, comes at the end."""
        return b'{"type":"bundle","objects":['

    def some(self, iocs: Sequence[Ioc]) -> bytes:
        """Return the objects that stand for some indicators, but those that stand in the bundle already."""
        return b"".join(self._written(made) for ioc in iocs for made in self._of(ioc))

    def end(self) -> Iterator[bytes]:
        """Yield what all of them share, the reports, and the end of the bundle."""
        if self._reports:
            yield self._written(_tlp_clear()) + self._written(_identity(_SERVICE, "system"))
        for article, ids in self._reports.values():
            source = _identity(article.counted_source or "unknown", "organization")
            if source["id"] not in self._shared:
                self._shared.add(source["id"])
                yield self._written(source)
            if not ids:
                ids.add(source["id"])
            report = self._written(_report(article, source["id"]))
            yield report.removesuffix(b"}") + b',"object_refs":['
            yield from ids.written()
            yield b"]}"
        yield b'],"id":' + orjson.dumps(_id("bundle", self._digest.hexdigest())) + b"}"

    def _of(self, ioc: Ioc) -> Iterator[Object]:
        article = self._article or ioc.article
        _, named = self._reports.setdefault(article.id, (article, _Ids()))
        for made in _of_indicator(ioc):
            named.add(made["id"])
            if made["type"] in _SHARED:
                if made["id"] in self._shared:
                    continue
                self._shared.add(made["id"])
            yield made

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


def _of_indicator(ioc: Ioc) -> Iterator[Object]:
    """Yield what stands for one indicator, and for the malware that it was named with."""
    if ioc.type == "malware":
        yield _malware(ioc.value)
    elif ioc.type == "cve":
        yield _vulnerability(ioc.value)
    elif ioc.type == "mitre_attack":
        yield _technique(ioc.value)
    else:
        indicator = _indicator(ioc)
        yield indicator
        for malware in map(_malware, ioc.malware):
            yield malware
            yield _relationship(indicator, "indicates", malware["id"])


def _indicator(ioc: Ioc) -> Object:
    first, last = _time(ioc.first_seen), _time(ioc.last_seen)
    made = _common("indicator", _id("indicator", ioc.type, ioc.value), first, last) | {
        "name": ioc.value,
        "indicator_types": ["malicious-activity" if ioc.malware else "unknown"],
        "pattern": _pattern(ioc),
        "pattern_type": "stix",
        "pattern_version": "2.1",
        "valid_from": first,
    }
    if ioc.context:
        made["description"] = ioc.context
    return made | _references(ioc.article)


def _pattern(ioc: Ioc) -> str:
    if ioc.type == "ip":
        return f"[ipv{6 if ':' in ioc.value else 4}-addr:value = '{ioc.value}']"
    return _PATTERNS[ioc.type].format(ioc.value.replace("\\", "\\\\").replace("'", "\\'"))


def _malware(name: str) -> Object:
    return _named("malware", "malware", name) | {"name": name, "is_family": True}


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
    return _common("relationship", id, source["created"], source["modified"]) | ends


def _report(article: ArticleRef, source_id: str) -> Object:
    """Return a report without what it points at."""
    published = _time(article.seen_at)
    made = _common("report", _id("report", article.id), published, published)
    made |= {"name": article.title.strip() or "untitled", "published": published}
    made |= {"report_types": ["threat-report"], "created_by_ref": source_id}
    return made | _references(article)


def _references(article: ArticleRef) -> Object:
    if not article.url:
        return {}
    return {"external_references": [{"source_name": article.counted_source or "article", "url": article.url}]}


def _tlp_clear() -> Object:
    return {
        "type": "marking-definition",
        "spec_version": "2.1",
        "id": _CLEAR,
        "created": "2022-10-01T00:00:00.000Z",
        "name": "TLP:CLEAR",
        "extensions": {_TLP_EXTENSION: {"extension_type": "property-extension", "tlp_2_0": "clear"}},
    }


def _named(kind: str, type: str, name: str) -> Object:
    return _common(kind, _id(kind, type, name), _NAMED_SINCE, _NAMED_SINCE)


def _common(kind: str, id: str, created: str, modified: str) -> Object:
    return {
        "type": kind,
        "spec_version": "2.1",
        "id": id,
        "created_by_ref": _id("identity", "system", _SERVICE),
        "created": created,
        "modified": modified,
        "object_marking_refs": [_CLEAR],
    }


def _id(kind: str, *parts: str) -> str:
    return f"{kind}--{uuid.uuid5(NAMESPACE, chr(10).join(('stix', kind, *parts)))}"


def _time(moment: datetime) -> str:
    """STIX wants milliseconds on every time."""
    text = rfc3339(moment)
    return text if "." in text else text.replace("Z", ".000Z")
