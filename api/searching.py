"""What an answer says beside its items: how the request was read, what was searched, what else may have been meant."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from itertools import chain
from typing import Any, TypeVar

from api import views
from intel.query import ArticleQuery, IocQuery, Page, SearchText, parse_search
from intel.query_explanation import explain_query, sentence
from intel.records import Article, Facets
from intel.snippets import Snippet, snippets
from intel.store import Store
from intel.suggestions import Vocabulary, suggested
from intel.times import rfc3339

_NEWEST_TITLES = 200

Json = dict[str, Any]
T = TypeVar("T")


def reading(text: SearchText | None, exact: Sequence[tuple[str, str]] | None = None) -> Json:
    """Return how a search, or the value of a look-up, was read."""
    parts = explain_query(text) if text else None
    reads_as = exact if exact is not None else (text.exact if text else ())
    return {
        "text": text.text if text else None,
        "refanged": parts.refanged if parts else None,
        "reads_as": _named(reads_as),
        "names": _named(parts.names) if parts else [],
        "words": list(parts.words) if parts else [],
        "phrases": list(parts.phrases) if parts else [],
        "prefixes": list(parts.prefixes) if parts else [],
        "networks": list(parts.networks) if parts else [],
        "sentence": sentence(text) if text else None,
    }


async def searched(store: Store) -> Json:
    """Return what there was to search: for an answer that found nothing, which never means harmless."""
    totals = await store.articles.totals()
    newest = totals.newest_article
    return {
        "articles": totals.articles,
        "sources": totals.sources,
        "newest_article": rfc3339(newest) if newest else None,
    }


async def iocs_suggested(store: Store, text: SearchText) -> list[str]:
    """Return searches for indicators that may have been meant, those that find something first."""
    return await _suggested(store, text, lambda search: store.iocs.find(IocQuery(text=search, limit=1)))


async def articles_suggested(store: Store, text: SearchText) -> list[str]:
    """Return what there was to search for articles."""
    return await _suggested(store, text, lambda search: store.articles.find(ArticleQuery(search, limit=1)))


async def articles_met(
    store: Store, articles: Sequence[Article], text: SearchText | None
) -> dict[str, tuple[Snippet, ...]]:
    """Return, by id of the article, the pieces of it in which a search was met; none for a list."""
    if text is None or not articles:
        return {}
    texts = await store.articles.texts([article.id for article in articles])
    return await asyncio.to_thread(
        lambda: {article.id: snippets(text, _fields(article, texts.get(article.id, ""))) for article in articles}
    )


async def articles_shown(store: Store, articles: Sequence[Article], text: SearchText | None) -> list[Json]:
    """Return articles as lists and searches show them."""
    met = await articles_met(store, articles, text)
    return [
        views.article(article) | {"snippets": [_snippet(one) for one in met.get(article.id, ())]}
        for article in articles
    ]


def _fields(article: Article, text: str) -> list[tuple[str, str]]:
    return [
        ("title", article.title),
        ("summary", article.summary),
        ("text", text),
        ("source_name", article.source_name),
    ]


def _snippet(one: Snippet) -> Json:
    return {"field": one.field, "text": one.text, "highlights": [list(span) for span in one.highlights]}


def facets_shown(facets: Facets) -> Json:
    """Return facets as an answer shows them."""
    return {"types": facets.types, "sources": facets.sources, "weeks": facets.weeks}


async def _suggested(store: Store, text: SearchText, find: Callable[[SearchText], Awaitable[Page[T]]]) -> list[str]:
    if (await find(text)).items:
        return []  # a filter left nothing of it: the words are right
    titles = await store.articles.newest_titles(_NEWEST_TITLES)
    candidates = suggested(text, Vocabulary.of(chain.from_iterable(titles)))
    finds = await asyncio.gather(*(_finds(candidate, find) for candidate in candidates))
    found = [one for one, does in zip(candidates, finds, strict=True) if does]
    # A name that lists know is worth saying though nothing here has it; words put together at random are not.
    return found or [one for one in candidates if len(text.clauses) == 1]


async def _finds(candidate: str, find: Callable[[SearchText], Awaitable[Page[T]]]) -> bool:
    search = parse_search(candidate)
    return search is not None and bool((await find(search)).items)


def _named(names: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"type": type, "value": value} for type, value in names]
