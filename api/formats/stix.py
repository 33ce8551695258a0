"""Indicators as a STIX 2.1 bundle: deterministic ids, so that exporting again gives the same objects."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

import orjson

from intel.ids import NAMESPACE
from intel.records import ArticleRef, Ioc
from intel.times import rfc3339

_PATTERNS = {
    "domain": "[domain-name:value = '{}']",
    "url": "[url:value = '{}']",
    "email": "[email-addr:value = '{}']",
    "hash_md5": "[file:hashes.MD5 = '{}']",
    "hash_sha1": "[file:hashes.'SHA-1' = '{}']",
    "hash_sha256": "[file:hashes.'SHA-256' = '{}']",
}


def stix_bundle(iocs: Sequence[Ioc]) -> bytes:
    """Indicators, vulnerabilities, techniques and malware, with the reports that name them."""
    objects = [_object(ioc) for ioc in iocs]
    reports = _reports(iocs, [made["id"] for made in objects])
    everything = sorted(objects + reports, key=lambda made: str(made["id"]))
    bundle = {"type": "bundle", "id": _id("bundle", *(made["id"] for made in everything)), "objects": everything}
    return orjson.dumps(bundle)


def _id(kind: str, *parts: str) -> str:
    return f"{kind}--{uuid.uuid5(NAMESPACE, chr(10).join(('stix', kind, *parts)))}"


def _common(kind: str, id: str, created: str, modified: str) -> dict[str, Any]:
    return {"type": kind, "spec_version": "2.1", "id": id, "created": created, "modified": modified}


def _object(ioc: Ioc) -> dict[str, Any]:
    first, last = _timestamp(rfc3339(ioc.first_seen)), _timestamp(rfc3339(ioc.last_seen))
    kind = {"cve": "vulnerability", "mitre_attack": "attack-pattern", "malware": "malware"}.get(ioc.type, "indicator")
    made = _common(kind, _id(kind, ioc.type, ioc.value), first, last) | {"name": ioc.value}
    if kind == "indicator":
        made |= {"pattern": _pattern(ioc), "pattern_type": "stix", "valid_from": first, "indicator_types": ["unknown"]}
    elif kind == "malware":
        made["is_family"] = True
    else:
        source = "cve" if kind == "vulnerability" else "mitre-attack"
        made["external_references"] = [{"source_name": source, "external_id": ioc.value}]
    return made


def _pattern(ioc: Ioc) -> str:
    if ioc.type == "ip":
        return f"[ipv{6 if ':' in ioc.value else 4}-addr:value = '{ioc.value}']"
    return _PATTERNS[ioc.type].format(ioc.value.replace("\\", "\\\\").replace("'", "\\'"))


def _timestamp(text: str) -> str:
    """STIX wants milliseconds on every time."""
    return text if "." in text else text.replace("Z", ".000Z")


def _reports(iocs: Sequence[Ioc], ids: Sequence[str]) -> list[dict[str, Any]]:
    named: dict[str, tuple[ArticleRef, list[str]]] = {}
    for ioc, id in zip(iocs, ids, strict=True):
        named.setdefault(ioc.article.id, (ioc.article, []))[1].append(id)
    return [_report(article, refs) for article, refs in named.values()]


def _report(article: ArticleRef, refs: list[str]) -> dict[str, Any]:
    published = _timestamp(rfc3339(article.seen_at))
    made = _common("report", _id("report", article.id), published, published)
    made |= {"name": article.title or "untitled", "published": published, "object_refs": sorted(refs)}
    made["report_types"] = ["threat-report"]
    if article.url:
        made["external_references"] = [{"source_name": article.source_name or "article", "url": article.url}]
    return made
