"""Records as the REST API shows them: plain members, times in RFC 3339, ready for JSON."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ingest.indicators.noise import warnings
from intel.canonical import defang
from intel.records import IOC_TYPES, Article, ArticleRef, Ioc, Submission
from intel.times import rfc3339

Json = dict[str, Any]


def ioc(record: Ioc) -> Json:
    """The IOC record of the contract."""
    return {
        "id": record.id,
        "type": record.type,
        "value": record.value,
        "defanged": defang(record.type, record.value),
        "first_seen": rfc3339(record.first_seen),
        "last_seen": rfc3339(record.last_seen),
        "sightings": record.sightings,
        "sources": record.sources,
        "context": record.context,
        "malware": list(record.malware),
        "tags": [],
        "warnings": [{"list": list, "reason": reason} for list, reason in warnings(record.type, record.value)],
        "article": article_ref(record.article),
    }


def article_ref(ref: ArticleRef) -> Json:
    """An article as an IOC points at it."""
    return {
        "id": ref.id,
        "title": ref.title,
        "url": ref.url,
        "source_name": ref.source_name,
        "published_at": _time(ref.published_at),
    }


def article(record: Article) -> Json:
    """An article as lists show it."""
    return {
        "id": record.id,
        "url": record.url,
        "title": record.title,
        "source_name": record.source_name,
        "author": record.author,
        "published_at": _time(record.published_at),
        "fetched_at": rfc3339(record.fetched_at),
        "language": record.language,
        "summary": record.summary,
        "cluster_id": record.cluster_id,
        "notes": list(record.notes),
        "ioc_count": record.ioc_count,
        "ioc_counts": {type: record.ioc_counts[type] for type in IOC_TYPES if type in record.ioc_counts},
    }


def submission(record: Submission) -> Json:
    """A submission."""
    return {
        "id": record.id,
        "url": record.url,
        "source_name": record.source_name,
        "status": record.status,
        "reason": record.reason,
        "detail": record.detail,
        "attempts": record.attempts,
        "article_id": record.article_id,
        "ioc_count": record.ioc_count,
        "created_at": rfc3339(record.created_at),
        "finished_at": _time(record.finished_at),
    }


def _time(moment: datetime | None) -> str | None:
    return rfc3339(moment) if moment else None
