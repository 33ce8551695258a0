"""Values for what catalogues say of one CVE or technique, and the compact JSON they are stored as."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from typing import Any, TypeVar

Fact = TypeVar("Fact", "Kev", "Cvss", "Epss", "Technique")


@dataclass(frozen=True, slots=True)
class Kev:
    """An entry of CISA's Known Exploited Vulnerabilities; `ransomware` says whether such use is known."""

    date_added: date
    due_date: date | None
    ransomware: bool
    required_action: str
    name: str
    vendor: str
    product: str
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True)
class Cvss:
    """A base score from 0.0 to 10.0; `source` is who gave it."""

    score: float
    version: str | None
    vector: str | None
    source: str
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True)
class Epss:
    """The probability (0 to 1) of exploitation within 30 days, its percentile, and the model and day of both."""

    score: float
    percentile: float
    model: str | None = None
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True)
class Technique:
    """An ATT&CK technique; a revoked or deprecated one should not be used any more."""

    name: str
    revoked: bool
    deprecated: bool
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True)
class CveFacts:
    """What the imported catalogues say of a CVE; None where they say nothing or none is imported."""

    kev: Kev | None = None
    cvss: Cvss | None = None
    epss: Epss | None = None


def write(fact: Kev | Cvss | Epss | Technique) -> str:
    """Return the fact as one line of JSON without `as_of`, which belongs to the catalogue."""
    members = {name: value for name, value in asdict(fact).items() if name != "as_of" and value is not None}
    return json.dumps(members, default=date.isoformat, separators=(",", ":"), ensure_ascii=False)


def read_kev(text: str, as_of: datetime) -> Kev:
    """Read a KEV entry that `write` wrote."""
    found: dict[str, Any] = json.loads(text)
    due = found.get("due_date")
    found |= {
        "date_added": date.fromisoformat(found["date_added"]),
        "due_date": date.fromisoformat(due) if due else None,
    }
    return Kev(**found, as_of=as_of)


def read_cvss(text: str, as_of: datetime) -> Cvss:
    """Read a CVSS score that `write` wrote."""
    found: dict[str, Any] = {"version": None, "vector": None} | json.loads(text)
    return Cvss(**found, as_of=as_of)


def read_epss(text: str, as_of: datetime) -> Epss:
    """Read an EPSS probability that `write` wrote."""
    return Epss(**json.loads(text), as_of=as_of)


def read_technique(text: str, as_of: datetime) -> Technique:
    """Read a technique that `write` wrote."""
    return Technique(**json.loads(text), as_of=as_of)


def midnight(day: date) -> datetime:
    """Return the moment at which a day begins, UTC."""
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
