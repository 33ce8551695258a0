"""Find the recent articles that make a lesson topical: those that name one of its techniques."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta

from intel.awareness.lesson import Lesson
from intel.ids import ioc_id
from intel.names import technique_name
from intel.records import ArticleRef
from intel.store import Store

_RECENT = timedelta(days=28)
_MENTIONS_EACH = 20
# No family has more sub-techniques than these numbers.
_SUB_TECHNIQUES = range(1, 30)


@dataclass(frozen=True, slots=True)
class Topical:
    """An article of the last 28 days and the techniques that it shares with a lesson."""

    article: ArticleRef
    techniques: tuple[str, ...]


async def topical_articles(store: Store, lesson: Lesson, now: datetime, limit: int) -> tuple[Topical, ...]:
    """Return those articles, newest first, then by id; a technique of the lesson also stands for its sub-techniques."""
    since = now - _RECENT
    ids = {ioc_id("mitre_attack", technique): technique for technique in techniques_of(lesson)}
    recent = [id for id, ioc in (await store.iocs.get_many(list(ids))).items() if ioc.last_seen >= since]
    mentions = await asyncio.gather(*(store.iocs.mentions_of(id, _MENTIONS_EACH) for id in recent))
    articles: dict[str, ArticleRef] = {}
    named: dict[str, set[str]] = defaultdict(set)
    for id, (found, _) in zip(recent, mentions, strict=True):
        for mention in found:
            if since <= mention.article.seen_at <= now:
                articles[mention.article.id] = mention.article
                named[mention.article.id].add(ids[id])
    newest = sorted(articles.values(), key=lambda article: (now - article.seen_at, article.id))
    return tuple(Topical(article, tuple(sorted(named[article.id]))) for article in newest[:limit])


def techniques_of(lesson: Lesson) -> tuple[str, ...]:
    """Return a lesson's techniques and their known sub-techniques."""
    subs = (f"{id}.{number:03}" for id in lesson.techniques if "." not in id for number in _SUB_TECHNIQUES)
    return tuple(dict.fromkeys((*lesson.techniques, *(sub for sub in subs if technique_name(sub)))))
