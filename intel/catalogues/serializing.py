"""Build the public members for what catalogues say of one indicator."""

from __future__ import annotations

from typing import Any

from intel.catalogues.facts import CveFacts, Cvss, Epss, Kev, Technique
from intel.catalogues.lookups import lookup, techniques
from intel.store import Store
from intel.times import rfc3339

Json = dict[str, Any]


async def catalogue_facts(store: Store, type: str, value: str) -> Json | None:
    """Return `kev`, `cvss` and `epss` of a CVE or `attack` of a technique, each null if unknown; None for other
    types.
    """
    if type == "cve":
        found = (await lookup(store, [value])).get(value, CveFacts())
        return {
            "kev": kev_members(found.kev),
            "cvss": cvss_members(found.cvss),
            "epss": epss_members(found.epss),
        }
    if type == "mitre_attack":
        return {"attack": technique_members((await techniques(store, [value])).get(value))}
    return None


def technique_members(technique: Technique | None) -> Json | None:
    """Return the public members of a technique."""
    if technique is None:
        return None
    return {
        "name": technique.name,
        "revoked": technique.revoked,
        "deprecated": technique.deprecated,
        "as_of": rfc3339(technique.as_of) if technique.as_of else None,
    }


def kev_members(kev: Kev | None) -> Json | None:
    """Return the public members of a KEV entry."""
    if kev is None:
        return None
    return {
        "listed": True,
        "date_added": kev.date_added.isoformat(),
        "due_date": kev.due_date.isoformat() if kev.due_date else None,
        "ransomware": kev.ransomware,
        "required_action": kev.required_action,
        "name": kev.name,
        "vendor": kev.vendor,
        "product": kev.product,
        "catalog": "CISA KEV",
        "as_of": rfc3339(kev.as_of) if kev.as_of else None,
    }


def cvss_members(cvss: Cvss | None) -> Json | None:
    """Return the public members of a catalogue's CVSS score."""
    if cvss is None:
        return None
    as_of = rfc3339(cvss.as_of) if cvss.as_of else None
    return {
        "score": cvss.score,
        "version": cvss.version,
        "vector": cvss.vector,
        "source": cvss.source,
        "article_id": None,
        "as_of": as_of,
    }


def epss_members(epss: Epss | None) -> Json | None:
    """Return the public members of an EPSS probability."""
    if epss is None:
        return None
    return {
        "score": epss.score,
        "percentile": epss.percentile,
        "model": epss.model,
        "date": epss.as_of.date().isoformat() if epss.as_of else None,
    }
