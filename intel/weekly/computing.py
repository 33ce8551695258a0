"""Compute the published members of a week: every number comes from the articles alone, always in the same order."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from intel.awareness import Lesson
from intel.catalogues import CveFacts
from intel.focus import SEVERITIES
from intel.records import IOC_TYPES, Article
from intel.store.tally import OTHERS, Indicator, Seen, Tally
from intel.times import rfc3339
from intel.weekly.lessons import lesson_of
from intel.weekly.outlook import MOST_IN_FOCUS, InFocus, Outlook, cvss, exploitation
from intel.weekly.weeks import WEEK, week_id, week_start
from intel.weekly.wording import number, summary

_TOP_ARTICLES = 10
_FOCUS_WEIGHT = 3

Json = dict[str, Any]


def compute(
    id: str,
    status: str,
    week: Tally,
    before: Tally | None,
    outlook: Outlook,
    lessons: Sequence[Lesson],
) -> Json:
    """Return the published members of a week; `before` is the week before it, None for the first one of all."""
    start = week_start(id)
    counts = _counts(week, outlook.focus)
    previous = None if before is None else _counts(before, outlook.focus_before)
    earlier = {} if before is None else before.watched
    return {
        "year": int(id[:4]),
        "week": int(id[6:]),
        "starts_on": start.date().isoformat(),
        "ends_on": (start + timedelta(days=6)).date().isoformat(),
        "status": status,
        "title": f"Week {int(id[6:])} of {id[:4]}",
        "summary": summary(counts, previous, week_id(start - WEEK), outlook.kev_added),
        "counts": counts,
        "trend": None if previous is None else _trend(counts, previous),
        "top_iocs": [_row(seen, earlier) for seen in week.top.get(OTHERS, ())],
        "top_malware": list(_malware(week, earlier)),
        "top_cves": list(_cves(week, earlier, outlook)),
        "top_techniques": list(_techniques(week, earlier)),
        "top_articles": list(_articles(week, outlook.focus)),
        "kev_added": list(outlook.kev_added),
        "focus": [_in_focus(item) for item in outlook.focus[:MOST_IN_FOCUS]],
        "lesson": lesson_of(week, lessons, start),
    }


def _counts(tally: Tally, focus: Iterable[InFocus]) -> Json:
    by_type = {type: tally.iocs.get(type, 0) for type in IOC_TYPES}
    new = {type: tally.new_iocs.get(type, 0) for type in IOC_TYPES}
    severities = Counter(item.severity for item in focus)
    return {
        "articles": len(tally.articles),
        "sources": len(tally.sources),
        "iocs": by_type,
        "new_iocs": new,
        "iocs_total": sum(by_type.values()),
        "new_iocs_total": sum(new.values()),
        "focus": {severity: severities[severity] for severity in SEVERITIES},
    }


def _trend(counts: Mapping[str, Any], previous: Mapping[str, Any]) -> Json:
    return {
        name: _trend(now, previous[name]) if isinstance(now, dict) else _change(now, previous[name])
        for name, now in counts.items()
    }


def _change(now: int, previous: int) -> Json:
    delta = now - previous
    return {"previous": previous, "delta": delta, "pct": round(100 * delta / previous, 2) if previous else None}


def _row(seen: Seen, earlier: Mapping[Indicator, int]) -> Json:
    return {
        "type": seen.type,
        "value": seen.value,
        "articles": seen.articles,
        "sources": seen.sources,
        "new": seen.new,
        "delta": seen.articles - earlier.get((seen.type, seen.value), 0),
    }


def _malware(week: Tally, earlier: Mapping[Indicator, int]) -> Iterator[Json]:
    for seen in week.top.get("malware", ()):
        yield {"name": seen.value} | _row(seen, earlier) | {"iocs": week.beside.get((seen.type, seen.value), 0)}


def _techniques(week: Tally, earlier: Mapping[Indicator, int]) -> Iterator[Json]:
    for seen in week.top.get("mitre_attack", ()):
        yield {"id": seen.value} | _row(seen, earlier) | {"iocs": week.beside.get((seen.type, seen.value), 0)}


def _cves(week: Tally, earlier: Mapping[Indicator, int], outlook: Outlook) -> Iterator[Json]:
    findings = _findings(week.articles)
    for seen in week.top.get("cve", ()):
        facts, said = outlook.cves.get(seen.value, CveFacts()), findings[seen.value]
        row: Json = {"id": seen.value} | _row(seen, earlier)
        row["kev"] = facts.kev is not None if outlook.knows_kev else None
        row["cvss"] = cvss(said, facts)
        row["epss"] = facts.epss.score if facts.epss else None
        row["exploitation"] = exploitation(said, facts)
        yield row


def _findings(articles: Iterable[Article]) -> dict[str, list[Json]]:
    """Return what the week's articles say about each CVE."""
    found: dict[str, list[Json]] = defaultdict(list)
    for article in articles:
        for cve, finding in article.findings.items():
            found[cve].append(finding)
    return found


def _articles(week: Tally, focus: Iterable[InFocus]) -> Iterator[Json]:
    """Return the earliest article of each cluster, those with the highest score first."""
    in_focus = {(item.type, item.value) for item in focus}
    clusters: dict[str, list[Article]] = defaultdict(list)
    for article in sorted(week.articles, key=lambda article: (article.seen_at, article.id)):
        clusters[article.cluster_id].append(article)
    scored = []
    for copies in clusters.values():
        first = copies[0]
        new, focused = week.new_in.get(first.id, 0), len(in_focus.intersection(week.subjects_in.get(first.id, ())))
        score = new + _FOCUS_WEIGHT * focused + len(copies)
        scored.append((-score, first.seen_at, first.id, first, new, focused, len(copies)))
    for negative, _, _, article, new, focused, copies_count in sorted(scored, key=lambda row: row[:3])[:_TOP_ARTICLES]:
        yield {
            "id": article.id,
            "title": article.title,
            "source_name": article.source_name,
            "published_at": rfc3339(article.published_at) if article.published_at else None,
            "score": -negative,
            "new_iocs": new,
            "reason": _reason(article, new, focused, copies_count),
            **article.ref.claim,
        }


def _reason(article: Article, new: int, focused: int, copies: int) -> str:
    said = f"It names {number(article.ioc_count, 'indicator')}, {new:,} of them new"
    if focused:
        said += f", and {number(focused, 'subject')} in focus"
    if copies > 1:
        said += f"; {number(copies, 'copy', 'copies')} of its text appeared"
    return f"{said}."


def _in_focus(item: InFocus) -> Json:
    return {"id": item.id, "type": item.type, "key": item.value, "title": item.title, "severity": item.severity}
