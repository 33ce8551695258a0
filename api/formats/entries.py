"""Weeks, focus items, articles and indicators as entries of a feed; values are defanged."""

from __future__ import annotations

from typing import Any

from api.formats.atom import Entry, stable_id
from api.web.addresses import ioc_path, outside
from api.web.text import counted
from intel.canonical import defang
from intel.records import Article, Ioc, Week
from intel.times import from_rfc3339


def week(record: Week, base: str) -> Entry:
    """Return a weekly roundup; `base` is the address of the service."""
    body = record.body
    told = [body["summary"]]
    for title, rows in (
        ("Malware", body["top_malware"]),
        ("Vulnerabilities", body["top_cves"]),
        ("Techniques", body["top_techniques"]),
        ("Indicators", body["top_iocs"]),
    ):
        if rows:
            told.append(f"{title}: {', '.join(defang(row['type'], row['value']) for row in rows[:10])}.")
    return Entry(
        id=stable_id("week", record.id),
        title=f"{body['title']} ({body['starts_on']} to {body['ends_on']})",
        updated=record.generated_at,
        published=None,
        page=f"{base}/weekly/{record.id}",
        content="\n".join(told),
        categories=(body["status"],),
    )


def focus(item: dict[str, Any], base: str) -> Entry:
    """Return a focus item."""
    return Entry(
        id=stable_id("focus", item["id"]),
        title=f"{item['severity']}: {item['title']}",
        updated=from_rfc3339(item["changed_at"]),
        published=from_rfc3339(item["first_seen"]),
        page=base + ioc_path(item["type"], item["key"]),
        content=item["reason"],
        categories=(item["severity"], item["kind"]),
    )


def article(record: Article, base: str) -> Entry:
    """Return an article; it was last changed when it was last read."""
    named = ", ".join(f"{count} {type}" for type, count in sorted(record.ioc_counts.items()) if count)
    return Entry(
        id=record.id,
        title=record.title,
        updated=record.fetched_at,
        published=record.seen_at,
        page=f"{base}/articles/{record.id}",
        content="\n".join(part for part in (record.summary, f"Indicators: {named or 'none'}.") if part),
        author=record.ref.source_label,
        via=outside(record.url),
    )


def ioc(record: Ioc, base: str) -> Entry:
    """Return an indicator."""
    context = f"{record.context}\n" if record.context else ""
    return Entry(
        id=record.id,
        title=f"{record.type}: {defang(record.type, record.value)}",
        updated=record.last_seen,
        published=record.first_seen,
        page=base + ioc_path(record.type, record.value),
        content=f"{context}Named in {counted(record.sightings, 'article')} by "
        f"{counted(record.sources, 'independent source')}; newest: {record.article.title}",
        author=record.article.source_label,
        categories=(record.type, *record.malware),
        via=outside(record.article.url),
    )
