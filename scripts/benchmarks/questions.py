"""What is asked: each operation as the store is asked and as the API is, in many variants that follow one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from intel.ids import ioc_id
from intel.query import ArticleQuery, IocFilter, IocQuery, exact_value, parse_search
from intel.records import IOC_TYPES

from .reports import FREQUENT_WORD, WORDS, Size, indicator, network, parent_domain

PAGE = 50
DEEP_PAGE = 200
_VARIANTS = 256

Query = IocQuery | ArticleQuery


@dataclass(frozen=True, slots=True)
class Question:
    """One thing to ask: `path` asks the API for what `query` asks of the store."""

    query: Query
    path: str


Operations = Mapping[str, Sequence[Question]]


def operations(size: Size) -> Operations:
    """Return every operation by its name."""
    spread = [number * size.indicators // _VARIANTS for number in range(_VARIANTS)]
    # Among twenty indicators the first five are addresses.
    addresses = [number - number % 20 for number in spread]
    return {
        "newest 50": [Question(IocQuery(limit=PAGE), _path("iocs"))],
        "newest 50 of a type": [
            Question(IocQuery(filter=IocFilter(types=(type,)), limit=PAGE), _path("iocs", type=type))
            for type in IOC_TYPES
        ],
        "exact value": [_exact(indicator(number)) for number in spread],
        "a word": [_search(word) for word in WORDS[:_VARIANTS]],
        "a frequent word": [_search(FREQUENT_WORD)],
        "a domain": [_search(parent_domain(number)) for number in spread],
        "a network": [_search(network(number)) for number in addresses],
        "newest 50 articles": [Question(ArticleQuery(limit=PAGE), _path("articles"))],
    }


def deep_page(size: Size) -> int:
    """Return the page that is compared with the first one: 200, or the last full one of a smaller store."""
    return min(DEEP_PAGE, size.indicators // PAGE)


def _exact(wanted: tuple[str, str]) -> Question:
    found = exact_value(wanted[1])
    query = IocQuery(ids=tuple(ioc_id(type, value) for type, value in found), limit=PAGE)
    return Question(query, _path("iocs", value=wanted[1]))


def _search(text: str) -> Question:
    return Question(IocQuery(text=parse_search(text), limit=PAGE), _path("iocs", q=text))


def _path(noun: str, **parameters: str) -> str:
    return f"/api/v1/{noun}?{urlencode({**parameters, 'limit': str(PAGE)})}"
