"""Short ways to say what was published, and what the store answers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from intel.ids import article_id, ioc_id
from intel.query import IocFilter, IocQuery, Page, parse_search
from intel.records import Article, Ioc, Sighting, Submission
from intel.store.port import Store
from intel.store.walking import iocs_of

MONDAY = datetime(2026, 11, 16, 9, tzinfo=UTC)


def hour(hours: float) -> datetime:
    """So many hours after Monday morning."""
    return MONDAY + timedelta(hours=hours)


def make_article(
    name: str = "report",
    *,
    at: float = 0,
    source: str = "Example Blog",
    title: str = "A loader report",
    text: str = "What the loader did.",
    summary: str = "",
    cluster: str | None = None,
) -> Article:
    """The article at `https://news.example/{name}`, published `at` hours after Monday morning."""
    url = f"https://news.example/{name}"
    return Article(
        id=article_id(url),
        url=url,
        title=title,
        source_name=source,
        author=None,
        published_at=hour(at),
        fetched_at=hour(1000),
        language="en",
        summary=summary,
        cluster_id=cluster or f"cluster-{name}",
        text=text,
    )


def seen(*indicators: str | Sighting) -> list[Sighting]:
    """Sightings in order of first appearance, each a `Sighting` or written as `domain evil.example`."""
    found = []
    for position, indicator in enumerate(indicators):
        if isinstance(indicator, str):
            type, _, value = indicator.partition(" ")
            indicator = Sighting(type, value, f"It used {value} then.", (), position)
        found.append(indicator)
    return found


async def publish(store: Store, article: Article, *indicators: str | Sighting) -> Article:
    """Saves an article with what was seen in it, under its own address."""
    return await store.articles.save(article, seen(*indicators), [article.url] if article.url else [])


def id_of(indicator: str) -> str:
    """The id of `domain evil.example`."""
    type, _, value = indicator.partition(" ")
    return ioc_id(type, value)


async def the_ioc(store: Store, indicator: str) -> Ioc:
    """The stored indicator written as `domain evil.example`."""
    found = await store.iocs.get(id_of(indicator))
    assert found is not None, indicator
    return found


async def iocs_in(store: Store, article_id: str) -> tuple[Ioc, ...]:
    """All indicators of an article, in order of first appearance."""
    return tuple([ioc async for ioc in iocs_of(store.articles, article_id)])


def query(q: str | None = None, **rest: Any) -> IocQuery:
    """A list or search as the service asks for it; what is neither a page nor an order is a member of its filter.

    `type` and `source` name one each.
    """
    one = {"types": rest.pop("type", None), "sources": rest.pop("source", None)}
    asked = {name: rest.pop(name) for name in list(rest) if name in IocFilter.__dataclass_fields__}
    only = IocFilter(**asked | {name: (value,) for name, value in one.items() if value is not None})
    return IocQuery(text=parse_search(q) if q is not None else None, filter=only, **rest)


async def search(store: Store, q: str, **rest: Any) -> list[str]:
    """The values that a search finds, in order."""
    asked = query(q, **{"limit": 100, **rest})
    if asked.text is None:
        return []
    page = await store.iocs.find(asked)
    assert page.total == len(page.items)
    return values(page)


async def listed(store: Store, **rest: Any) -> list[str]:
    """The values of a list, in order."""
    page = await store.iocs.find(query(None, **{"limit": 100, **rest}))
    assert page.total == len(page.items)
    return values(page)


def values(page: Page[Ioc] | Sequence[Ioc]) -> list[str]:
    items = page.items if isinstance(page, Page) else page
    return [ioc.value for ioc in items]


def make_submission(name: str = "one", *, due: float = 0) -> Submission:
    """A queued submission of `https://news.example/{name}`."""
    return Submission(
        id=f"submission-{name}",
        account_id="account-1",
        url=f"https://news.example/{name}",
        source_name="news.example",
        status="queued",
        created_at=hour(0),
        due_at=hour(due),
    )
