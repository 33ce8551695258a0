"""The weekly roundup as a mail: when it is due, which week it tells of, and what it says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from api.searches.mail import line, unsubscribe_address
from intel.canonical import defang
from intel.records import IOC_TYPES, Week
from intel.saved_searches import SavedSearch
from intel.weekly.weeks import WEEK, week_id, week_start

# On Mondays, when articles of the weekend have come in.
_AFTER_MONDAY: Final = timedelta(hours=6)
_SHOWN: Final = 10
_LONGEST: Final = 120
Row = Mapping[str, Any]


def next_roundup(now: datetime) -> datetime:
    """Return when the next roundup is due."""
    due_at = week_start(week_id(now)) + _AFTER_MONDAY
    return due_at if due_at > now else due_at + WEEK


def week_before(now: datetime) -> str:
    """Return the id of the week that was over last."""
    return week_id(now - WEEK)


def roundup(search: SavedSearch, week: Week, base_url: str) -> tuple[str, str]:
    """Return subject and text of the mail that tells of a week; values are defanged."""
    body = week.body
    title = f"{line(body['title'])}"
    lines = [title, f"{body['starts_on']} to {body['ends_on']}", "", line(body["summary"]), ""]
    lines += _section("By type", _types(body["counts"]))
    lines += _section("In focus", (f"{item['severity']}: {_brief(item['title'])}" for item in body["focus"]))
    lines += _section("Added to the KEV catalogue", map(line, body["kev_added"]))
    lines += _section("Top articles", (_article(row, base_url) for row in body["top_articles"]))
    for heading, member, type in (
        ("Malware", "top_malware", "malware"),
        ("Vulnerabilities", "top_cves", "cve"),
        ("Techniques", "top_techniques", "mitre_attack"),
    ):
        lines += _section(heading, (_row(row, type) for row in body[member]))
    lines += _section("Most reported indicators", (_row(row, row["type"]) for row in body["top_iocs"]))
    if lesson := body["lesson"]:
        lines += _section("Lesson of the week", [f"{_brief(lesson['title'])}: {base_url}/awareness/{lesson['id']}"])
    lines += [
        f"The whole roundup: {base_url}/weekly/{week.id}",
        f"Saved searches: {base_url}/settings/searches",
        f"Stop these mails: {unsubscribe_address(search, base_url)}",
    ]
    return f"[IOC] {title}", "\n".join(lines) + "\n"


def _section(heading: str, items: Iterator[str] | Sequence[str]) -> list[str]:
    listed = [f"- {item}" for item in items][:_SHOWN]
    return [heading, *listed, ""] if listed else []


def _types(counts: Row) -> Iterator[str]:
    for type in IOC_TYPES:
        if counts["iocs"][type]:
            yield f"{type}: {counts['iocs'][type]:,}, {counts['new_iocs'][type]:,} new"


def _article(row: Row, base_url: str) -> str:
    return f"{_brief(row['title']) or '(no title)'} ({_brief(row['source_name'])}): {base_url}/articles/{row['id']}"


def _row(row: Row, type: str) -> str:
    return f"{_brief(defang(type, row['value']))}: sources {row['sources']}, articles {row['articles']}"


def _brief(text: str) -> str:
    return line(text)[:_LONGEST]
