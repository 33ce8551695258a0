"""Read CVSS scores: NVD's JSON (2.0), or a table `cve,score,vector`."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Final

from intel.catalogues.facts import Cvss, write
from intel.catalogues.parsed import Parsed, cve_of, moment_of, number_of, refuse, text_member
from intel.catalogues.streams import lines_of, members_of
from intel.errors import CatalogueUnreadable

_NVD: Final = "NVD file"
_TABLE: Final = "CVSS table"
_HEAD_BYTES: Final = 64
# The newest version that a CVE was scored with counts.
_METRICS: Final = ("cvssMetricV40", "cvssMetricV31", "cvssMetricV30", "cvssMetricV2")
_VERSION: Final = re.compile(r"CVSS:([0-9]\.[0-9])/")
_VECTOR: Final = re.compile(r"[A-Za-z0-9.:/()]{1,300}")
_NAMES: Final = {
    "cve": ("cve", "cve_id", "cveid", "id"),
    "score": ("score", "cvss", "cvss_score", "base_score", "basescore"),
    "vector": ("vector", "cvss_vector", "vector_string", "vectorstring"),
}


def parse_cvss(pieces: Iterable[bytes]) -> Parsed:
    """Read either form, told apart by its first character; raise CatalogueUnreadable if it is neither or damaged."""
    arriving = iter(pieces)
    head = b""
    for piece in arriving:
        head += piece
        if len(head) >= _HEAD_BYTES:
            break
    whole = _chained(head, arriving)
    is_json = head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
    return _parse_nvd(whole) if is_json else _parse_table(whole)


def _chained(head: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield head
    yield from rest


def _parse_nvd(pieces: Iterable[bytes]) -> Parsed:
    entries: dict[str, str] = {}
    as_of: datetime | None = None
    seen = 0
    for name, value in members_of(pieces, "vulnerabilities"):
        if name == "timestamp":
            as_of = moment_of(value)
        if name != "vulnerabilities":
            continue
        seen += 1
        members = value.get("cve") if isinstance(value, dict) else None
        cve = cve_of(members.get("id")) if isinstance(members, dict) else None
        if cve is None or not isinstance(members, dict):
            raise refuse(_NVD, f"entry {seen} has no `cve.id`")
        if score := _best(members.get("metrics")):
            entries[cve] = write(score)
    if not seen:
        raise refuse(_NVD, "it has no `vulnerabilities`")
    if not entries:
        raise CatalogueUnreadable("None of the CVEs in this file has a CVSS score.")
    return Parsed(as_of, entries, (f"{seen - len(entries)} CVEs have no score",) if seen > len(entries) else ())


def _best(metrics: Any) -> Cvss | None:
    """Return the primary base score of the newest CVSS version; if there is none, the highest score."""
    if not isinstance(metrics, dict):
        return None
    for version in _METRICS:
        given = metrics.get(version)
        scores = [found for metric in given if (found := _metric(metric))] if isinstance(given, list) else []
        if scores:
            return max(scores, key=lambda found: (found[0], found[1].score))[1]
    return None


def _metric(metric: Any) -> tuple[bool, Cvss] | None:
    data = metric.get("cvssData") if isinstance(metric, dict) else None
    score = number_of(data.get("baseScore"), 10) if isinstance(data, dict) else None
    if score is None or not isinstance(data, dict):
        return None
    version = text_member(data.get("version"), 10) or None
    source = text_member(metric.get("source"), 100) or "NVD"
    return metric.get("type") == "Primary", Cvss(score, version, _vector(data.get("vectorString")), source)


def _parse_table(pieces: Iterable[bytes]) -> Parsed:
    rows = csv.reader(line for line in lines_of(pieces) if line.strip() and not line.startswith("#"))
    entries: dict[str, str] = {}
    places: dict[str, int] | None = None
    try:
        for row in rows:
            if places is None:
                places = _places(row)
                if cve_of(row[0]) is None:
                    continue
            cve, score, vector = (_cell(row, places.get(name)) for name in _NAMES)
            found_cve, found_score = cve_of(cve), number_of(score, 10)
            if found_cve is None or found_score is None:
                raise refuse(f"whole {_TABLE}", f"row {rows.line_num} is not `cve,score,vector`")
            entries[found_cve] = write(_scored(found_score, vector))
    except csv.Error:
        raise refuse(_TABLE, f"row {rows.line_num} cannot be read") from None
    if not entries:
        raise refuse(_TABLE, "it has no rows `cve,score,vector`, nor is it NVD's JSON")
    return Parsed(None, entries)


def _places(row: list[str]) -> dict[str, int]:
    """Return the column of each member: as the header says, or in the usual order if there is no header."""
    if row and cve_of(row[0]) is not None:
        return {name: place for place, name in enumerate(_NAMES)}
    head = [name.strip().casefold().replace(" ", "_") for name in row]
    places = {name: head.index(known) for name, others in _NAMES.items() for known in others if known in head}
    if not {"cve", "score"} <= set(places):
        raise refuse(_TABLE, "it has no columns `cve` and `score`, nor is it NVD's JSON")
    return places


def _cell(row: list[str], place: int | None) -> str:
    return row[place].strip() if place is not None and place < len(row) else ""


def _scored(score: float, vector: str) -> Cvss:
    version = _VERSION.match(vector)
    return Cvss(score, version[1] if version else None, _vector(vector), "table")


def _vector(value: Any) -> str | None:
    return value if isinstance(value, str) and _VECTOR.fullmatch(value) else None
