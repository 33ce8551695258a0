"""The same questions to Elasticsearch by plain HTTP: requests made once, answers not even parsed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import orjson

from intel.query import ArticleQuery, Clause, IocQuery
from intel.store.elastic.documents import IOC_MEMBERS, NOT_IN_LISTS

from .client import Client
from .measuring import Way
from .questions import Query

_JSON = {"Content-Type": "application/json"}
_NEWEST = [{"last_seen": "desc"}, {"id": "asc"}]


class RawElastic:
    """Asks the server at `address` for the documents behind the aliases with that prefix."""

    def __init__(self, address: str, prefix: str) -> None:
        self._client = Client(address)
        self._prefix = prefix

    async def __aenter__(self) -> Self:
        await self._client.connect()
        return self

    async def __aexit__(self, *error: object) -> None:
        self._client.close()

    def way(self, queries: Sequence[Query]) -> Way:
        prepared = [self._request(query) for query in queries]
        return Way(lambda number: self._client.ask(prepared[number % len(prepared)]), _found)

    def _request(self, query: Query) -> bytes:
        if isinstance(query, IocQuery) and query.ids is not None and len(query.ids) == 1:
            members = ",".join(IOC_MEMBERS)
            return self._client.request("GET", f"/{self._prefix}iocs/_doc/{query.ids[0]}?_source_includes={members}")
        noun = "articles" if isinstance(query, ArticleQuery) else "iocs"
        body = orjson.dumps(_article_search(query) if isinstance(query, ArticleQuery) else _ioc_search(query))
        return self._client.request("POST", f"/{self._prefix}{noun}/_search", _JSON, body)


def _found(answer: bytes) -> int:
    document: dict[str, Any] = orjson.loads(answer)
    return len(document["hits"]["hits"]) if "hits" in document else int(document["found"])


def _article_search(query: ArticleQuery) -> dict[str, Any]:
    sort = [{"seen_at": "desc"}, {"id": "asc"}]
    return {"size": query.limit, "sort": sort, "track_total_hits": True, "_source": {"excludes": NOT_IN_LISTS}}


def _ioc_search(query: IocQuery) -> dict[str, Any]:
    filters = [*_restrictions(query), *(_matching(clause) for clause in (query.text.clauses if query.text else ()))]
    body = {
        "size": query.limit,
        "query": {"bool": {"filter": filters}},
        "sort": _NEWEST if query.text is None else [{"sources": "desc"}, *_NEWEST],
        "track_total_hits": query.after is None,
        "_source": IOC_MEMBERS,
    }
    return body if query.after is None else body | {"search_after": query.after.values}


def _restrictions(query: IocQuery) -> list[dict[str, Any]]:
    by_type = [{"terms": {"type": query.filter.types}}] if query.filter.types else []
    return by_type if query.ids is None else [*by_type, {"terms": {"id": query.ids}}]


def _matching(clause: Clause) -> dict[str, Any]:
    """As the clauses that are asked here can match: by network, by host, or by a single word."""
    if clause.network is not None:
        return {"range": {"ipv4": {"gte": clause.network.first, "lte": clause.network.last}}}
    if clause.hosts:
        return {"terms": {"hosts": clause.hosts}}
    word = clause.phrases[0][0]
    return {"bool": {"should": [{"term": {"words": word}}, {"term": {"article_words": word}}]}}
