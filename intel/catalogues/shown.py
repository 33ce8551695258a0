"""What catalogues say of one indicator, as it is published."""

from __future__ import annotations

from typing import Any

from intel.catalogues.facts import CveFacts, Cvss, Epss, Kev, Technique
from intel.catalogues.looking import lookup, techniques
from intel.store import Store
from intel.times import rfc3339

Json = dict[str, Any]


async def catalogue_facts(store: Store, type: str, value: str) -> Json | None:
    """`kev`, `cvss` and `epss` of a CVE, `attack` of a technique, each null where nothing is known; None for others."""
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
    """A technique as it is published."""
    if technique is None:
        return None
    return {
        "name": technique.name,
        "revoked": technique.revoked,
        "deprecated": technique.deprecated,
        "as_of": rfc3339(technique.as_of) if technique.as_of else None,
    }


def kev_members(kev: Kev | None) -> Json | None:
    """An entry of the KEV catalogue as it is published."""
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
    """A catalogue's score as it is published."""
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
    """A probability as it is published."""
    if epss is None:
        return None
    return {
        "score": epss.score,
        "percentile": epss.percentile,
        "model": epss.model,
        "date": epss.as_of.date().isoformat() if epss.as_of else None,
    }
