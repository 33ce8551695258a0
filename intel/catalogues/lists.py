"""Read KEV (CISA's JSON), EPSS (FIRST's CSV) and ATT&CK (MITRE's STIX bundle)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Final

from intel.catalogues.actors import Reader
from intel.catalogues.facts import Epss, Kev, Technique, write
from intel.catalogues.parsed import (
    Parsed,
    cve_of,
    day_of,
    moment_of,
    number_of,
    refuse,
    text_member,
)
from intel.catalogues.streams import lines_of, members_of

_KEV: Final = "KEV catalogue"
_EPSS: Final = "EPSS table"
_ATTACK: Final = "ATT&CK bundle"
_EPSS_COLUMNS: Final = ("cve", "epss", "percentile")
_OWN_ID: Final = re.compile(r"(?:[GCS][0-9]{4}|T[0-9]{4}(?:\.[0-9]{3})?)")
_TECHNIQUE: Final = re.compile(r"T[0-9]{4}(?:\.[0-9]{3})?")


def parse_kev(pieces: Iterable[bytes]) -> Parsed:
    """Read CISA's `known_exploited_vulnerabilities.json`; raise CatalogueUnreadable if it is another file or
    damaged.
    """
    entries: dict[str, str] = {}
    about: dict[str, Any] = {}
    read = 0
    for name, value in members_of(pieces, "vulnerabilities"):
        if name != "vulnerabilities":
            about[name] = value
            continue
        read += 1
        cve, entry = _kev_entry(value, read)
        entries[cve] = write(entry)
    if not entries:
        raise refuse(_KEV, "it has no `vulnerabilities`")
    stated = about.get("count")
    if isinstance(stated, int) and stated != read:
        raise refuse(f"whole {_KEV}", f"it says that it has {stated} entries, and has {read}")
    version = str(about.get("catalogVersion", "")).replace(".", "-")
    return Parsed(moment_of(about.get("dateReleased")) or moment_of(version), entries)


def _kev_entry(value: Any, place: int) -> tuple[str, Kev]:
    members = value if isinstance(value, dict) else {}
    cve, added = cve_of(members.get("cveID")), day_of(members.get("dateAdded"))
    if cve is None or added is None:
        raise refuse(_KEV, f"entry {place} has no {'cveID' if cve is None else 'dateAdded'}")
    return cve, Kev(
        date_added=added,
        due_date=day_of(members.get("dueDate")),
        ransomware=text_member(members.get("knownRansomwareCampaignUse")).casefold() == "known",
        required_action=text_member(members.get("requiredAction")),
        name=text_member(members.get("vulnerabilityName")),
        vendor=text_member(members.get("vendorProject")),
        product=text_member(members.get("product")),
    )


def parse_epss(pieces: Iterable[bytes]) -> Parsed:
    """Read FIRST's `epss_scores-….csv`, gzip or not; raise CatalogueUnreadable if it is another file or damaged."""
    lines = enumerate(lines_of(pieces), 1)
    model, as_of, columns = _epss_head(lines)
    entries: dict[str, str] = {}
    for place, line in lines:
        if not line.strip():
            continue
        cells = line.split(",")
        found = dict(zip(columns, cells, strict=False))
        cve = cve_of(found.get("cve"))
        score, percentile = number_of(found.get("epss"), 1), number_of(found.get("percentile"), 1)
        if cve is None or score is None or percentile is None or len(cells) != len(columns):
            raise refuse(f"whole {_EPSS}", f"line {place} is not `cve,epss,percentile`")
        entries[cve] = write(Epss(score, percentile, model))
    if not entries:
        raise refuse(_EPSS, "it has no rows")
    return Parsed(as_of, entries)


def _epss_head(lines: Iterator[tuple[int, str]]) -> tuple[str | None, datetime | None, list[str]]:
    """Return the model, the day of the scores, and the columns."""
    about: dict[str, str] = {}
    for _, line in lines:
        if line.startswith("#"):
            pairs = (pair.partition(":") for pair in line[1:].split(","))
            about |= {name.strip(): value.strip() for name, _, value in pairs}
            continue
        columns = [name.strip().casefold() for name in line.split(",")]
        if not set(_EPSS_COLUMNS) <= set(columns):
            break
        return text_member(about.get("model_version"), 40) or None, moment_of(about.get("score_date")), columns
    raise refuse(_EPSS, "it does not begin with the columns `cve,epss,percentile`")


def parse_attack(pieces: Iterable[bytes]) -> Parsed:
    """Read MITRE's `enterprise-attack.json` or one of its siblings; raise CatalogueUnreadable if it is another file or
    damaged.
    """
    entries: dict[str, str] = {}
    newest: datetime | None = None
    actors = Reader()
    for name, value in members_of(pieces, "objects"):
        if name != "objects" or not isinstance(value, dict):
            continue
        if value.get("type") == "x-mitre-collection":
            newest = moment_of(value.get("modified")) or newest
        actors.take(value, _own_id(value))
        found = _technique(value) if value.get("type") == "attack-pattern" else None
        if found is None:
            continue
        id, technique = found
        # Domains share ids, and a revoked object may stand beside the living one of the same id.
        if id not in entries or not (technique.revoked or technique.deprecated):
            entries[id] = write(technique)
    if not entries:
        raise refuse(_ATTACK, "it has no techniques among its `objects`")
    return Parsed(newest, entries | actors.entries())


def _own_id(members: dict[str, Any]) -> str:
    """Return the first id that MITRE gives an object (`T1059`, `G0007`), or nothing."""
    references = members.get("external_references")
    for reference in references if isinstance(references, list) else ():
        if isinstance(reference, dict) and "mitre" in str(reference.get("source_name")):
            id = str(reference.get("external_id")).upper()
            if _OWN_ID.fullmatch(id):
                return id
    return ""


def _technique(members: dict[str, Any]) -> tuple[str, Technique] | None:
    id, name = _own_id(members), text_member(members.get("name"), 200)
    if not _TECHNIQUE.fullmatch(id) or not name:
        return None
    return id, Technique(name, members.get("revoked") is True, members.get("x_mitre_deprecated") is True)
