"""Made-up reports to fill a store with: the same ones in every run."""

from __future__ import annotations

import hashlib
import ipaddress
import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from intel.ids import article_id
from intel.records import Article, Sighting

FREQUENT_WORD = "signin"
_BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)
_SYLLABLES = (
    "ba", "de", "fi", "go", "hu", "ja", "ke", "li", "mo", "nu",
    "pa", "re", "si", "to", "vu", "wa", "ye", "zi", "cho", "dru",
)  # fmt: skip
WORDS = tuple(f"{one}{two}n" for one, two in itertools.product(_SYLLABLES, _SYLLABLES))
# How often a type stands among twenty indicators; the last place is taken in turn by those of which there are few.
_TYPES = (
    *("ip",) * 5, *("domain",) * 5, *("url",) * 4,
    "hash_sha256", "hash_sha256", "hash_md5", "hash_sha1", "email", "rare",
)  # fmt: skip
_RARE = ("cve", "mitre_attack", "malware")
_FIRST_ADDRESS = int(ipaddress.ip_address("100.64.0.0"))
_SHARING_A_DOMAIN = 25
_SEEN_AGAIN = 5
_SOURCES = 40


@dataclass(frozen=True, slots=True)
class Report:
    """An article and what was seen in it."""

    article: Article
    sightings: tuple[Sighting, ...]


@dataclass(frozen=True, slots=True)
class Size:
    """How many different indicators there are, in how many articles."""

    indicators: int
    articles: int


def reports(size: Size, numbers: range | None = None) -> Iterator[Report]:
    """Yield all articles, or those of these numbers; each brings new indicators and a few that an earlier one had."""
    share = size.indicators // size.articles
    for number in range(size.articles) if numbers is None else numbers:
        first = number * share
        again = random.Random(number).sample(range(first), min(_SEEN_AGAIN, first))
        yield Report(_article(number), tuple(_sightings([*range(first, first + share), *again])))


def indicator(number: int) -> tuple[str, str]:
    """(type, canonical value) of an indicator; a different value for every number below four million."""
    type = _TYPES[number % len(_TYPES)]
    if type == "rare":
        type = _RARE[number // len(_TYPES) % len(_RARE)]
    return type, _value(type, number)


def parent_domain(number: int) -> str:
    """Return the domain that an indicator stands on, together with its neighbours."""
    group = number // _SHARING_A_DOMAIN
    return f"{_word(group)}-{_word(group * 7)}-{group:x}.example"


def network(number: int) -> str:
    """Return the network of 256 addresses that an address stands in."""
    return str(ipaddress.ip_network((_FIRST_ADDRESS + number, 24), strict=False))


def _value(type: str, number: int) -> str:
    host = f"{_word(number)}-{number:x}.{parent_domain(number)}"
    match type:
        case "ip":
            return str(ipaddress.ip_address(_FIRST_ADDRESS + number))
        case "domain":
            return host
        case "url":
            return f"https://{host}/{FREQUENT_WORD}/{_word(number * 3)}.php"
        case "email":
            return f"{_word(number * 3)}@{host}"
        case "cve":
            return f"CVE-2026-{10_000 + number}"
        case "mitre_attack":
            return f"T{1000 + number // 999 % 9000}.{1 + number % 999:03}"
        case "malware":
            return f"{_word(number).title()}{number}"
    return hashlib.new(type.removeprefix("hash_"), str(number).encode(), usedforsecurity=False).hexdigest()


def _word(number: int) -> str:
    return WORDS[number % len(WORDS)]


def _sightings(numbers: list[int]) -> Iterator[Sighting]:
    for position, number in enumerate(numbers):
        type, value = indicator(number)
        context = f"The {_word(number)} operators used {value} while the {_word(number + 1)} loader was running."
        yield Sighting(type, value, context, (_word(number).title(),) if number % 10 == 0 else (), position)


def _article(number: int) -> Article:
    url = f"https://news.example/{number}"
    published = _BEGINNING + timedelta(hours=number)
    text = " ".join(_word(number * 31 + place * place) for place in range(400))
    return Article(
        id=article_id(url),
        url=url,
        title=f"The {_word(number)} campaign against {_word(number * 11)}",
        source_name=f"Source {number % _SOURCES}",
        author=None,
        published_at=published,
        fetched_at=published + timedelta(minutes=7),
        language="en",
        summary=text[:200],
        cluster_id=f"cluster-{number}",
        text=text,
    )
