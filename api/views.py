"""Records as the REST API shows them: plain members, times in RFC 3339, ready for JSON."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from urllib.parse import urlsplit, urlunsplit

from ingest.revisions import Vanished
from intel.canonical import defang
from intel.cards import article_members, sharing_members
from intel.records import IOC_TYPES, Article, Catalogue, Change, Feed, Mention, Submission
from intel.saved_searches import Delivery, SavedSearch
from intel.times import rfc3339

Json = dict[str, Any]
FeedState = Literal["off", "ended", "failing", "well", "waiting"]


def mention(record: Mention) -> Json:
    """Return an article as an IOC's own record lists it."""
    return article_members(record.article) | {"context": record.context}


def article(record: Article) -> Json:
    """Return an article as lists show it."""
    return {
        "id": record.id,
        "url": record.url,
        "title": record.title,
        "source_name": record.source_name,
        "source_claimed": record.source_domain is not None,
        "source_domain": record.source_domain,
        "author": record.author,
        "published_at": _time(record.published_at),
        "fetched_at": rfc3339(record.fetched_at),
        "language": record.language,
        "summary": record.summary,
        "cluster_id": record.cluster_id,
        "notes": list(record.notes),
        "tags": list(record.tags),
        **sharing_members(record.tlp),
        "ioc_count": record.ioc_count,
        "ioc_counts": {type: record.ioc_counts[type] for type in IOC_TYPES if type in record.ioc_counts},
        "ioc_dropped": record.ioc_dropped,
        "revision": record.revision,
    }


def removed_ioc(change: Change) -> Json:
    """Return what the change feed tells of an indicator that was removed."""
    return {"id": change.id} | named(change.type, change.value)


def named(type: str, value: str) -> Json:
    """Return an indicator by what it is alone."""
    return {"type": type, "value": value, "defanged": defang(type, value)}


def vanished(record: Vanished) -> Json:
    """Return an indicator that an article does not name any more."""
    return named(record.type, record.value) | {
        "last_revision": record.last_revision,
        "vanished_at": rfc3339(record.vanished_at),
    }


def submission(record: Submission) -> Json:
    """Return a submission."""
    return {
        "id": record.id,
        "url": record.url or None,
        "file_name": record.file_name,
        "source_name": record.source_name,
        "status": record.status,
        "reason": record.reason,
        "detail": record.detail,
        "attempts": record.attempts,
        "article_id": record.article_id,
        "ioc_count": record.ioc_count,
        "ioc_dropped": record.ioc_dropped,
        "again": record.again,
        "created_at": rfc3339(record.created_at),
        "finished_at": _time(record.finished_at),
    }


def catalogue(record: Catalogue) -> Json:
    """Return an imported catalogue."""
    return {
        "name": record.name,
        "as_of": rfc3339(record.as_of),
        "imported_at": rfc3339(record.imported_at),
        "source": record.source,
        "entries": record.entries,
    }


def feed(record: Feed) -> Json:
    """Return how a feed is doing. Its address is shown without its query, which may hold a subscriber's secret."""
    return {
        "id": record.id,
        "name": record.name,
        "url": urlunsplit(urlsplit(record.url)._replace(query="", fragment="")),
        "state": feed_state(record),
        "last_polled_at": _time(record.last_polled_at),
        "last_success_at": _time(record.last_success_at),
        "last_error": record.last_error,
        "failures": record.failures,
        "interval_seconds": record.interval_seconds,
        "next_poll_at": rfc3339(record.next_poll_at) if record.enabled and record.ended_at is None else None,
        "ended_at": _time(record.ended_at),
    }


def feed_state(record: Feed) -> FeedState:
    """Return a feed's health in one word."""
    if not record.enabled:
        return "off"
    if record.ended_at is not None:
        return "ended"
    if record.failures:
        return "failing"
    return "well" if record.last_success_at else "waiting"


def saved_search(record: SavedSearch) -> Json:
    """Return a saved search, without its secrets."""
    return {
        "id": record.id,
        "name": record.name,
        "q": record.q or None,
        **{
            name: _texts(record.filters.get(name))
            for name in ("type", "source", "malware", "tag", "tlp", "status", "exclude")
        },
        **{name: record.filters.get(name) for name in ("since", "until", "added_since", "min_sources")},
        "webhook_url": record.webhook_url,
        "email": record.email,
        "every": record.every,
        "roundup": record.roundup,
        "enabled": record.enabled,
        "failing_since": _time(record.first_failure_at),
        "switched_off_at": _time(record.switched_off_at),
        "created_at": rfc3339(record.created_at),
    }


def _texts(given: str | list[str] | None) -> list[str]:
    return [given] if isinstance(given, str) else given or []


def delivery(record: Delivery) -> Json:
    """Return what came of a message to the receiver of a saved search."""
    return {
        "id": record.id,
        "channel": record.channel,
        "status": record.status,
        "attempts": record.attempts,
        "last_status": record.last_status,
        "last_error": record.last_error,
        "created_at": rfc3339(record.created_at),
        "next_attempt_at": rfc3339(record.due_at) if record.status == "pending" else None,
        "finished_at": _time(record.finished_at),
    }


def _time(moment: datetime | None) -> str | None:
    return rfc3339(moment) if moment else None
