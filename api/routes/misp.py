"""`/misp/`: the articles as a feed that a MISP server fetches, and each of them as an event."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from dataclasses import replace

import orjson
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api.article_records import READ_AT_ONCE
from api.formats import render_article
from api.formats.misp import is_attribute, manifest_entry
from api.limits.policy import access
from api.routes.articles import known_article
from api.service import service_of
from api.streaming import JSON, Pieces, streamed
from intel.query import ArticleQuery
from intel.records import Article
from intel.store import Store
from intel.store.walking import pages_of

router = APIRouter(prefix="/misp", include_in_schema=False)

_ARTICLES_AT_ONCE = 200


@router.get("/manifest.json")
@access(key=True, basic=True, scopes=("read", "export"))
async def manifest(request: Request) -> Response:
    """Answer with an outline of every event, by its UUID."""
    return await streamed(_outlines(service_of(request).store), JSON)


@router.get("/hashes.csv")
@access(key=True, basic=True, scopes=("read", "export"))
async def hashes(request: Request) -> Response:
    """Answer with the MD5 of every attribute's value and its event, by which MISP correlates without fetching."""
    return await streamed(_hashes(service_of(request).store), {"Content-Type": "text/csv; charset=utf-8"})


@router.get("/{id:id}.json")
@access(key=True, basic=True, scopes=("read", "export"))
async def event(request: Request, id: str) -> Response:
    """Answer with an article as an event."""
    service = service_of(request)
    article = await known_article(request, id)
    return await render_article("misp", article, pages_of(service.store.articles, id, READ_AT_ONCE), service)


async def _outlines(store: Store) -> Pieces:
    opening = b"{"
    async for some in _articles(store):
        for article in some:
            yield opening + orjson.dumps(article.id) + b":" + orjson.dumps(manifest_entry(article))
            opening = b","
    yield b"}" if opening == b"," else b"{}"


async def _hashes(store: Store) -> Pieces:
    async for some in _articles(store):
        for article in some:
            async for page in pages_of(store.articles, article.id, READ_AT_ONCE):
                values = [ioc.value for ioc in page.items if is_attribute(ioc.type)]
                yield "".join(f"{_md5(value)},{article.id}\n" for value in values).encode()


async def _articles(store: Store) -> AsyncIterator[tuple[Article, ...]]:
    query = ArticleQuery(limit=_ARTICLES_AT_ONCE)
    while True:
        page = await store.articles.find(query)
        yield page.items
        if page.next is None:
            return
        query = replace(query, after=page.next)


def _md5(value: str) -> str:
    return hashlib.md5(value.encode(errors="replace"), usedforsecurity=False).hexdigest()
