"""Build the public form of what is in focus: its severity with the evidence, the reason in words, and its history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from intel.catalogues import Technique, techniques
from intel.catalogues.serializing import cvss_members, epss_members, kev_members
from intel.focus.replay import Change
from intel.focus.rules import Facts, Rule
from intel.focus.standings import Standing
from intel.focus.subjects import Subject
from intel.names import technique_name
from intel.records import Article
from intel.store import Store
from intel.store.subjects import LEVELS, WINDOW, Asked, Beside, Told
from intel.times import rfc3339
from intel.unseen import plain

Json = dict[str, Any]

_MOST_TECHNIQUES, _MOST_ARTICLES = 20, 10
_MOST_NAMED, _MOST_CHANGES = 20, 50


@dataclass(frozen=True, slots=True)
class _Read:
    """What is read of the subjects that are told of: `articles` are the newest ones and those that are quoted."""

    told: Told
    beside: Beside
    articles: Mapping[str, Article]
    techniques: Mapping[str, Technique]

    @property
    def newest(self) -> list[Article]:
        return [self.articles[id] for id in self.told.newest[:_MOST_ARTICLES] if id in self.articles]


async def items_of(store: Store, standings: Sequence[Standing]) -> list[Json]:
    """Return the public form of each of these standings; one whose articles went meanwhile is left out."""
    told = await store.subjects.told([_asked(standing) for standing in standings])
    found = [(standing, one) for standing, one in zip(standings, told, strict=True) if one is not None]
    near = [
        (one.newest, standing.subject.key if standing.subject.type == "malware" else None) for standing, one in found
    ]
    beside = await store.subjects.beside(near)
    articles = await store.articles.get_many(list({id for _, one in found for id in _needed(one)}))
    known = await techniques(store, [standing.subject.key for standing, _ in found if _is_technique(standing)])
    reads = (_Read(one, about, articles, known) for (_, one), about in zip(found, beside, strict=True))
    return [_item(standing, read) for (standing, _), read in zip(found, reads, strict=True) if read.newest]


async def titles_of(store: Store, standings: Sequence[Standing]) -> list[str]:
    """Return the title of each of these standings."""
    told = await store.subjects.told([_asked(standing) for standing in standings])
    articles = await store.articles.get_many([one.newest[0] for one in told if one is not None])
    known = await techniques(store, [standing.subject.key for standing in standings if _is_technique(standing)])
    newest = (articles.get(one.newest[0]) if one is not None else None for one in told)
    return [_title(standing.subject, known, article) for standing, article in zip(standings, newest, strict=True)]


def _asked(standing: Standing) -> Asked:
    subject = standing.subject
    return Asked(subject.type, subject.key, standing.moment - WINDOW, standing.moment)


def _needed(told: Told) -> Iterator[str]:
    yield from told.newest[:_MOST_ARTICLES]
    yield from told.saying.values()
    yield from told.stating.values()


def _is_technique(standing: Standing) -> bool:
    return standing.subject.kind == "technique"


def _item(standing: Standing, read: _Read) -> Json:
    subject, rule, parts = standing.subject, standing.rule, standing.score_parts
    evidence = _evidence(standing, read)
    return {
        "id": standing.id,
        "kind": subject.kind,
        "type": subject.type,
        "key": subject.key,
        "title": _title(subject, read.techniques, read.newest[0]),
        "severity": rule.severity,
        "rule": rule.id,
        "rule_words": rule.words,
        "score": sum(parts.values()),
        "score_parts": parts,
        "reason": _reason(subject, standing.facts, evidence),
        "evidence": evidence,
        "related_iocs": [{"type": type, "value": value} for type, value in read.beside.related],
        "techniques": _techniques(subject, read.beside),
        "articles": [_article(article, subject) for article in read.newest],
        "status": standing.status,
        "first_seen": rfc3339(read.told.ioc_first_seen),
        "last_seen": rfc3339(read.told.last),
        "changed_at": rfc3339(standing.changed_at),
        "history": list(_history(standing.history))[-_MOST_CHANGES:],
    }


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


def _title(subject: Subject, known: Mapping[str, Technique], newest: Article | None) -> str:
    if subject.facts.kev:
        return f"{subject.key}: {subject.facts.kev.name}"
    if subject.kind == "technique":
        name = known[subject.key].name if subject.key in known else technique_name(subject.key)
        return f"{subject.key}: {name}" if name else subject.key
    return f"{subject.key}: {plain(newest.title)}" if newest else subject.key


def _evidence(standing: Standing, read: _Read) -> Json:
    subject, facts, told = standing.subject, standing.facts, read.told
    members: Json = {
        "sources": {
            "count": len(standing.sources),
            "names": list(standing.sources[:_MOST_NAMED]),
            "domains": list(told.domains),
        },
        "articles": {"count": told.articles, "first": rfc3339(told.first), "last": rfc3339(told.last)},
        "window_days": WINDOW.days,
    }
    if subject.kind == "malware":
        return members | {"new_iocs": facts.new_iocs}
    if subject.kind == "technique":
        return members
    return {
        "kev": kev_members(subject.facts.kev) if facts.kev else None,
        "cvss": cvss_members(subject.facts.cvss) or _stated_score(subject, facts, read),
        "epss": epss_members(subject.facts.epss),
        "exploitation": _exploitation(subject, facts, read),
    } | members


def _stated_score(subject: Subject, facts: Facts, read: _Read) -> Json | None:
    """Return the highest score that an article states; of several such articles the newest."""
    id = None if facts.cvss is None else read.told.stating.get(facts.cvss)
    article = read.articles.get(id) if id is not None else None
    if article is None:
        return None
    said = _finding(article, subject).get("cvss") or {}
    stated = {name: said.get(name) for name in ("score", "version", "vector")}
    return stated | {"source": "article", "article_id": article.id, "as_of": None}


def _exploitation(subject: Subject, facts: Facts, read: _Read) -> Json:
    said = next((level for level in LEVELS if getattr(facts, level)), None)
    article = read.articles.get(read.told.saying.get(said, "")) if said else None
    return {
        "level": "kev_confirmed" if facts.kev else said or "none",
        "said": said,
        "quote": str(_finding(article, subject).get("quote") or "") if article else None,
        "article_id": article.id if article else None,
        "source_name": article.counted_source if article else None,
    }


def _finding(article: Article, subject: Subject) -> Json:
    said = article.findings.get(subject.key) if subject.type == "cve" else None
    return said if isinstance(said, dict) else {}


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


def _techniques(subject: Subject, beside: Beside) -> list[str]:
    counted = ((id, articles) for id, articles in beside.techniques.items() if id != subject.key)
    return [id for id, _ in sorted(counted, key=lambda pair: (-pair[1], pair[0]))[:_MOST_TECHNIQUES]]


def _article(article: Article, subject: Subject) -> Json:
    ref, level = article.ref, _finding(article, subject).get("exploitation")
    return {
        "id": ref.id,
        "title": plain(ref.title),
        "url": ref.url,
        "source_name": ref.source_name,
        "published_at": rfc3339(ref.published_at) if ref.published_at else None,
        "exploitation": level if level in LEVELS else None,
        **ref.claim,
    }
