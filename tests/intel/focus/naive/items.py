"""Build the public form of a focus subject: its severity with the evidence, the reason in words, and its history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from intel.catalogues.serializing import cvss_members, epss_members, kev_members
from intel.focus.rules import SEVERITIES, Facts, Rule, score_parts
from intel.names import technique_name
from intel.store.subjects import WINDOW
from intel.times import from_rfc3339, rfc3339, to_milliseconds
from intel.unseen import plain
from tests.intel.focus.naive.replay import Change, changes, facts_at, mentions_at
from tests.intel.focus.naive.subjects import OBSERVABLES, Material, Mention, Subject

STATUSES = ("active", "stale", "closed")
Json = dict[str, Any]

STALE_FOR = 2 * WINDOW
_MILLISECOND = timedelta(milliseconds=1)
_MOST_RELATED, _MOST_TECHNIQUES, _MOST_ARTICLES = 20, 20, 10
_MOST_NAMED, _MOST_CHANGES = 20, 50
# Related indicators are counted in this many of the newest articles.
_NEWEST = 50


def compute(material: Material, since: datetime, now: datetime) -> list[Json]:
    """Return the items as they stand at `now`, in order; their history begins at `since`."""
    items = [item for subject in material.subjects if (item := _item(subject, material, since, now))]
    return sorted(items, key=place_of)


def place_of(item: Json) -> tuple[int, int, int, int, str]:
    """Return an item's position in the list, so that paging goes on from there while items come and go."""
    changed_at = to_milliseconds(from_rfc3339(item["changed_at"]))
    severity = SEVERITIES.index(item["severity"])
    return STATUSES.index(item["status"]), severity, -item["score"], -changed_at, item["id"]


def _item(subject: Subject, material: Material, since: datetime, now: datetime) -> Json | None:
    history = changes(subject, since, now)
    if not history:
        return None
    active = history[-1].rule is not None
    # A subject that has left focus is shown as it stood at its last moment in focus.
    moment = now if active else history[-1].at - _MILLISECOND
    rule = history[-1].rule or history[-2].rule
    mentions = mentions_at(subject, moment)
    if rule is None or not mentions:
        return None
    facts = facts_at(subject, moment)
    parts = score_parts(rule.severity, facts)
    evidence = _evidence(subject, facts, mentions)
    return {
        "id": f"f_{subject.kind}_{subject.key}",
        "kind": subject.kind,
        "type": subject.type,
        "key": subject.key,
        "title": _title(subject, material, mentions),
        "severity": rule.severity,
        "rule": rule.id,
        "rule_words": rule.words,
        "score": sum(parts.values()),
        "score_parts": parts,
        "reason": _reason(subject, facts, evidence),
        "evidence": evidence,
        "related_iocs": _related(subject, material, mentions),
        "techniques": _techniques(subject, material, mentions),
        "articles": [_article(mention) for mention in reversed(mentions[-_MOST_ARTICLES:])],
        "status": "active" if active else _ended_status(subject, now),
        "first_seen": rfc3339(subject.first_seen),
        "last_seen": rfc3339(mentions[-1].seen_at),
        "changed_at": rfc3339(history[-1].at),
        "history": list(_history(history))[-_MOST_CHANGES:],
    }


def _ended_status(subject: Subject, now: datetime) -> str:
    """Return stale if the last article is more than 14 days old, closed after 28 days or if no rule matches any
    more.
    """
    last = max(mention.seen_at for mention in subject.mentions if mention.seen_at <= now)
    return "stale" if now - STALE_FOR < last <= now - WINDOW else "closed"


def _history(history: Sequence[Change]) -> Iterator[Json]:
    before: Rule | None = None
    for change in history:
        yield {
            "at": rfc3339(change.at),
            "from": before.severity if before else None,
            "to": change.rule.severity if change.rule else None,
            "rule": change.rule.id if change.rule else None,
        }
        before = change.rule


def _title(subject: Subject, material: Material, mentions: Sequence[Mention]) -> str:
    if subject.facts.kev:
        return f"{subject.key}: {subject.facts.kev.name}"
    if subject.kind == "technique":
        known = material.techniques.get(subject.key)
        name = known.name if known else technique_name(subject.key)
        return f"{subject.key}: {name}" if name else subject.key
    return f"{subject.key}: {plain(mentions[-1].article.title)}"


def _evidence(subject: Subject, facts: Facts, mentions: Sequence[Mention]) -> Json:
    sources = sorted({mention.source for mention in mentions})
    members: Json = {
        "sources": {"count": len(sources), "names": sources[:_MOST_NAMED], "domains": _domains(mentions)},
        "articles": {
            "count": len(mentions),
            "first": rfc3339(mentions[0].seen_at),
            "last": rfc3339(mentions[-1].seen_at),
        },
        "window_days": WINDOW.days,
    }
    if subject.kind == "malware":
        return members | {"new_iocs": facts.new_iocs}
    if subject.kind == "technique":
        return members
    return {
        "kev": kev_members(subject.facts.kev) if facts.kev else None,
        "cvss": cvss_members(subject.facts.cvss) or _stated_score(facts, mentions),
        "epss": epss_members(subject.facts.epss),
        "exploitation": _exploitation(facts, mentions),
    } | members


def _stated_score(facts: Facts, mentions: Sequence[Mention]) -> Json | None:
    """Return the highest score that an article states; of several such articles the newest."""
    for mention in reversed(mentions):
        if mention.cvss and facts.cvss is not None and mention.cvss.get("score") == facts.cvss:
            stated = {name: mention.cvss.get(name) for name in ("score", "version", "vector")}
            return stated | {"source": "article", "article_id": mention.article.id, "as_of": None}
    return None


def _exploitation(facts: Facts, mentions: Sequence[Mention]) -> Json:
    said = next((level for level in ("in_the_wild", "poc") if getattr(facts, level)), None)
    mention = next((mention for mention in reversed(mentions) if said and mention.level == said), None)
    return {
        "level": "kev_confirmed" if facts.kev else said or "none",
        "said": said,
        "quote": mention.quote if mention else None,
        "article_id": mention.article.id if mention else None,
        "source_name": mention.article.counted_source if mention else None,
    }


def _reason(subject: Subject, facts: Facts, evidence: Json) -> str:
    """Return one sentence built from the evidence."""
    told = []
    if facts.kev and subject.facts.kev:
        known = ", ransomware use known" if facts.ransomware else ""
        told.append(f"in CISA KEV since {subject.facts.kev.date_added.isoformat()}{known}")
    if facts.in_the_wild:
        told.append(f"exploited in the wild according to {evidence['exploitation']['source_name']}")
    elif facts.poc:
        told.append(f"proof of concept about according to {evidence['exploitation']['source_name']}")
    told.append(f"{facts.sources} independent source{'' if facts.sources == 1 else 's'} in 14 days")
    if subject.kind == "malware":
        told.append(f"{facts.new_iocs} new indicator{'' if facts.new_iocs == 1 else 's'}")
    if facts.cvss is not None:
        told.append(f"CVSS {facts.cvss:.1f}")
    if facts.epss is not None:
        told.append(f"EPSS {facts.epss:.2f}")
    sentence = "; ".join(told) + "."
    return sentence[0].upper() + sentence[1:]


def _domains(mentions: Sequence[Mention]) -> list[str]:
    hosts = {urlsplit(mention.article.url).hostname for mention in mentions if mention.article.url}
    return sorted(host.removeprefix("www.") for host in hosts if host)[:_MOST_NAMED]


def _related(subject: Subject, material: Material, mentions: Sequence[Mention]) -> list[Json]:
    """Return what is named near a malware, or in the same articles as a CVE or technique: most articles first, then by
    value.
    """
    newest = [mention.article.id for mention in mentions[-_NEWEST:]]
    rows = (row for id in newest for row in material.rows.get(id, ()) if row.type in OBSERVABLES)
    counted = Counter((row.type, row.value) for row in rows if subject.kind != "malware" or subject.key in row.malware)
    ranked = sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))
    return [{"type": type, "value": value} for (type, value), _ in ranked[:_MOST_RELATED]]


def _techniques(subject: Subject, material: Material, mentions: Sequence[Mention]) -> list[str]:
    newest = [mention.article.id for mention in mentions[-_NEWEST:]]
    rows = (row for id in newest for row in material.rows.get(id, ()) if row.type == "mitre_attack")
    counted = Counter(row.value for row in rows if row.value != subject.key)
    return [id for id, _ in sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))[:_MOST_TECHNIQUES]]


def _article(mention: Mention) -> Json:
    ref = mention.article.ref
    return {
        "id": ref.id,
        "title": plain(ref.title),
        "url": ref.url,
        "source_name": ref.source_name,
        "published_at": rfc3339(ref.published_at) if ref.published_at else None,
        "exploitation": mention.level,
        **ref.claim,
    }
