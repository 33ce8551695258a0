"""Weekly roundups: computed from the stored articles of one ISO week, recomputed when these change.

    id 2026-W47 = Monday 2026-11-16 00:00 UTC to Sunday; an article belongs to the week of its `published_at`, else
    `fetched_at`.

A revision is stored with the `basis` it was computed from; as long as the store's basis is the same nothing is
computed. An article that changes what is published, a late one too, gives the next revision.
"""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from intel.awareness import Lesson
from intel.errors import NotFound
from intel.records import IOC_TYPES, Article, SeenIoc, Week
from intel.store import Store

_WEEK = timedelta(days=7)
_ID = re.compile(r"([0-9]{4})-W([0-9]{2})")
_MOST_REVISIONS_AT_ONCE = 5
_TOP_IOCS, _TOP = 20, 10


@dataclass(frozen=True, slots=True)
class Seen:
    """An indicator within one week: in which articles and by which independent sources, and whether it is new."""

    type: str
    value: str
    articles: int
    sources: int
    new: bool
    first_seen: datetime


@dataclass(frozen=True, slots=True)
class Material:
    """What a week is computed from."""

    articles: tuple[Article, ...]
    seen: tuple[Seen, ...]
    by_article: dict[str, int]


def week_id(moment: datetime) -> str:
    """`2026-W47`."""
    year, week, _ = moment.astimezone(UTC).isocalendar()
    return f"{year:04}-W{week:02}"


def week_start(id: str) -> datetime:
    """The Monday 00:00 UTC that a week starts with. NotFound where there is no such week."""
    match = _ID.fullmatch(id)
    try:
        if match is None or not 1000 <= int(match[1]) < 9999:
            raise ValueError
        monday = date.fromisocalendar(int(match[1]), int(match[2]), 1)
        return datetime(monday.year, monday.month, monday.day, tzinfo=UTC)
    except ValueError:
        raise NotFound("There is no such week; write it like 2026-W47.") from None


async def weekly(store: Store, id: str, lessons: tuple[Lesson, ...], now: datetime) -> Week:
    """The current revision of a week, computed first where its articles changed. NotFound for a week without
    articles.
    """
    start = week_start(id)
    for _ in range(_MOST_REVISIONS_AT_ONCE):
        status = "closed" if now >= start + _WEEK else "open"
        basis = f"{await store.articles.basis(start - _WEEK, start + _WEEK)} {status}"
        latest = await store.weeks.get(id)
        if latest is not None and latest.basis == basis:
            return latest
        material = await _material(store, start)
        if not material.articles:
            raise NotFound("No article was seen in this week.")
        before = await _material(store, start - _WEEK)
        # In a thread: a large week takes seconds, and other requests go on meanwhile.
        body = await asyncio.to_thread(compute, id, material, before, lessons, status)
        if latest is not None and latest.body == body:
            await store.weeks.confirm(replace(latest, basis=basis))
            return latest
        week = Week(id, latest.revision + 1 if latest else 1, basis, now, body)
        if await store.weeks.add(week):
            return week
    assert latest is not None  # noqa: S101 - adding a revision fails only where another one is there
    return latest


async def _material(store: Store, start: datetime) -> Material:
    articles = await store.articles.between(start, start + _WEEK)
    rows = [row async for row in store.articles.seen_between(start, start + _WEEK)]
    by_article: dict[str, int] = defaultdict(int)
    for row in rows:
        by_article[row.article_id] += row.first_seen >= start
    return Material(articles, tuple(_group(rows, start)), dict(by_article))


def _group(rows: Iterable[SeenIoc], start: datetime) -> Iterable[Seen]:
    grouped: dict[str, list[SeenIoc]] = defaultdict(list)
    for row in rows:
        grouped[row.ioc_id].append(row)
    for found in grouped.values():
        first, articles = found[0], {row.article_id for row in found}
        sources = {row.counted_source for row in found}
        yield Seen(first.type, first.value, len(articles), len(sources), first.first_seen >= start, first.first_seen)


def compute(id: str, week: Material, before: Material, lessons: tuple[Lesson, ...], status: str) -> dict[str, Any]:
    """The published members of a week; the same material gives the same members."""
    start = week_start(id).date()
    counts, previous = _counts(week), _counts(before)
    delta = {name: _trend(counts[name], previous[name]) for name in ("articles", "sources")}
    iocs, iocs_before = sum(counts["iocs"].values()), sum(previous["iocs"].values())
    delta["iocs"] = _trend(iocs, iocs_before)
    delta["new_iocs"] = _trend(sum(counts["new_iocs"].values()), sum(previous["new_iocs"].values()))
    techniques = _top(week, "mitre_attack", _TOP)
    return {
        "starts_on": start.isoformat(),
        "ends_on": (start + timedelta(days=6)).isoformat(),
        "status": status,
        "title": f"Week {id[6:]} of {id[:4]}",
        "summary": _summary(counts),
        "counts": counts,
        "trend": delta if before.articles else None,
        "top_iocs": _top_indicators(week),
        "top_malware": _top(week, "malware", _TOP),
        "top_cves": _top(week, "cve", _TOP),
        "top_techniques": techniques,
        "top_articles": _top_articles(week),
        "lesson": _lesson({row["value"] for row in techniques}, lessons),
    }


def _counts(material: Material) -> dict[str, Any]:
    by_type = dict.fromkeys(IOC_TYPES, 0)
    new = dict.fromkeys(IOC_TYPES, 0)
    for seen in material.seen:
        by_type[seen.type] += 1
        new[seen.type] += seen.new
    return {
        "articles": len(material.articles),
        "sources": len(_independent_sources(material.articles)),
        "iocs": by_type,
        "new_iocs": new,
    }


def _independent_sources(articles: Iterable[Article]) -> set[str]:
    """Source names, copies of one text counted for the earliest of them."""
    earliest: dict[str, Article] = {}
    for article in sorted(articles, key=lambda article: (article.seen_at, article.id)):
        earliest.setdefault(article.cluster_id, article)
    return {article.source_name for article in earliest.values()}


def _trend(now: int, previous: int) -> dict[str, int]:
    return {"previous": previous, "delta": now - previous}


def _summary(counts: dict[str, Any]) -> str:
    new = sum(counts["new_iocs"].values())
    indicators = sum(counts["iocs"].values())
    return (
        f"{_number(counts['articles'], 'article')} from {_number(counts['sources'], 'independent source')} "
        f"named {_number(indicators, 'indicator')}, {new} of them new."
    )


def _number(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _by_weight(seen: Seen) -> tuple[int, int, datetime, str, str]:
    return (-seen.sources, -seen.articles, seen.first_seen, seen.type, seen.value)


def _top_indicators(material: Material) -> list[dict[str, Any]]:
    named_apart = ("malware", "cve", "mitre_attack")
    top = sorted((seen for seen in material.seen if seen.type not in named_apart), key=_by_weight)[:_TOP_IOCS]
    return [{"type": seen.type} | _row(seen) for seen in top]


def _top(material: Material, type: str, most: int) -> list[dict[str, Any]]:
    return [_row(seen) for seen in sorted((s for s in material.seen if s.type == type), key=_by_weight)[:most]]


def _row(seen: Seen) -> dict[str, Any]:
    return {"value": seen.value, "articles": seen.articles, "sources": seen.sources, "new": seen.new}


def _top_articles(material: Material) -> list[dict[str, Any]]:
    """Those that brought the most new indicators."""
    new = material.by_article
    ranked = sorted(material.articles, key=lambda a: (-new.get(a.id, 0), -a.ioc_count, a.seen_at, a.id))[:_TOP]
    return [
        {
            "id": article.id,
            "title": article.title,
            "source_name": article.source_name,
            "new_iocs": new.get(article.id, 0),
            "reason": f"It names {_number(article.ioc_count, 'indicator')}, {new.get(article.id, 0)} of them new.",
        }
        for article in ranked
    ]


def _lesson(techniques: set[str], lessons: tuple[Lesson, ...]) -> dict[str, str] | None:
    """The lesson that most of the week's techniques call for."""
    families = {technique.partition(".")[0] for technique in techniques}

    def overlap(lesson: Lesson) -> int:
        return len(techniques & set(lesson.techniques)) * 2 + len(families & set(lesson.techniques))

    best = max(lessons, key=lambda lesson: (overlap(lesson), lesson.slug), default=None)
    if best is None or not overlap(best):
        return None
    return {"slug": best.slug, "title": best.title}
