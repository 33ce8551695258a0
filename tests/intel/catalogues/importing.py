"""Small catalogues in the forms that their publishers give them, and ways to import them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ingest.catalogues import CatalogueFile, Imported, Located, import_catalogue
from intel.store import Store


def kev_file(added: Mapping[str, str], ransomware: str = "Unknown", **more: Any) -> bytes:
    """A KEV catalogue of these CVEs with the days that they were added on."""
    entries = [
        {
            "cveID": cve,
            "vendorProject": "Example",
            "product": "Gateway",
            "vulnerabilityName": "Example Gateway Command Injection",
            "dateAdded": day,
            "dueDate": "2026-12-24",
            "requiredAction": "Apply updates.",
            "knownRansomwareCampaignUse": ransomware,
        }
        for cve, day in added.items()
    ]
    about = {"title": "KEV", "catalogVersion": "2026.11.19", "dateReleased": "2026-11-19T17:04:19.9796Z"}
    return json.dumps(about | {"count": len(entries), "vulnerabilities": entries} | more).encode()


def epss_file(scores: Mapping[str, float]) -> bytes:
    """An EPSS table."""
    rows = "".join(f"{cve},{score},0.9\n" for cve, score in scores.items())
    return f"#model_version:v2026.03.14,score_date:2026-11-20T12:55:00Z\ncve,epss,percentile\n{rows}".encode()


def nvd_file(scores: Mapping[str, float]) -> bytes:
    """An answer of NVD's with version 3.1 scores."""
    entries = [
        {
            "cve": {
                "id": cve,
                "metrics": {
                    "cvssMetricV31": [
                        {
                            "source": "nvd@nist.example",
                            "type": "Primary",
                            "cvssData": {
                                "version": "3.1",
                                "vectorString": "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H",
                                "baseScore": score,
                            },
                        }
                    ]
                },
            }
        }
        for cve, score in scores.items()
    ]
    return json.dumps({"timestamp": "2026-11-19T01:00:00.000", "vulnerabilities": entries}).encode()


def attack_file(*techniques: Mapping[str, Any]) -> bytes:
    """An ATT&CK bundle of these techniques (`id`, `name`, and more members of a STIX object)."""
    objects: list[dict[str, Any]] = [{"type": "x-mitre-collection", "modified": "2026-10-28T14:00:00.188Z"}]
    for technique in techniques:
        reference = {"source_name": "mitre-attack", "external_id": technique["id"]}
        members = {name: value for name, value in technique.items() if name != "id"}
        objects.append({"type": "attack-pattern", "external_references": [reference], **members})
    return json.dumps({"type": "bundle", "objects": objects}).encode()


def warning_file(name: str, kind: str, *entries: str, **more: Any) -> bytes:
    """A MISP warning list."""
    about = {"name": name, "type": kind, "version": 20261101, "description": "Made up."}
    return json.dumps(about | {"list": list(entries)} | more).encode()


def located(*contents: bytes, name: str = "file.json") -> Located:
    """Files as the importer meets them."""
    files = tuple(CatalogueFile(f"{n}-{name}", len(body), lambda body=body: [body]) for n, body in enumerate(contents))  # type: ignore[misc]
    return Located(name, files)


async def put(store: Store, name: str, now: datetime, *contents: bytes) -> Imported:
    """Imports files as that catalogue."""
    return await import_catalogue(store, name, located(*contents), now, lambda _: None)


async def put_kev(store: Store, now: datetime, added: Mapping[str, str], ransomware: str = "Unknown") -> None:
    """Imports a KEV catalogue of these CVEs."""
    await put(store, "kev", now, kev_file(added, ransomware))
