"""Hundreds of made-up questions, the same on every run, are answered byte for byte alike on both engines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlencode

import orjson
import pytest
import pytest_asyncio

from ingest.warned import marked
from intel.ids import article_id, ioc_id
from intel.records import IOC_TYPES, Vote
from intel.store.port import Entry
from tests.api.running import GENEROUS, NOON, Running, running
from tests.contract.store.corpus import HOSTS, MALWARE, SOURCES, WORDS, make_corpus

QUESTIONS = 600
AT_ONCE = 16
SECRET = "the same secret, so that cursors are the same"

pytestmark = [pytest.mark.timeout(900), pytest.mark.slow]
Pair = tuple[Running, Running]
Keys = tuple[dict[str, str], dict[str, str]]
Question = tuple[str, list[tuple[str, str]]]
Answer = tuple[int, bytes]


@asynccontextmanager
async def on_both(folder: Path, elasticsearch: str, prefix: str, redis: str) -> AsyncIterator[Pair]:
    """The embedded and the served service, each with the whole corpus."""
    engines = {"elasticsearch_url": elasticsearch, "redis_url": redis, "elasticsearch_index_prefix": prefix}
    rates = GENEROUS | {"ioc_rate_key": "100000/second", "ioc_secret_key": SECRET}
    async with (
        running(folder / "embedded", **rates) as embedded,
        running(folder / "served", **rates, **engines) as served,
    ):
        await served.store.setup()
        await asyncio.gather(filled(embedded), filled(served))
        yield embedded, served


@pytest_asyncio.fixture
async def both(tmp_path: Path, elasticsearch_url: str, index_prefix: str, redis_database: str) -> AsyncIterator[Pair]:
    async with on_both(tmp_path, elasticsearch_url, index_prefix, redis_database) as pair:
        yield pair


async def filled(service: Running) -> None:
    """Save the corpus in a few steps, a minute apart, and some votes."""
    saves = make_corpus()
    for start in range(0, len(saves), 10):
        service.clock.forward(60)
        step = saves[start : start + 10]
        entries = [
            Entry(one.article, await marked(service.store, one.sightings), [one.article.url or ""]) for one in step
        ]
        await service.store.articles.save_many(entries)
    service.clock.now = NOON
    named = dict.fromkeys(ioc_id(one.type, one.value) for saved in saves for one in saved.sightings)
    for number, id in enumerate([*named][::25]):
        await service.store.votes.put(Vote(id, f"voter{number % 3}", "false positive", NOON))


class Asking:
    """Makes questions up."""

    def __init__(self) -> None:
        self._random = Random(20261123)
        self._saves = make_corpus()

    def questions(self, count: int) -> list[Question]:
        kinds: list[Callable[[], Question]] = [self._iocs] * 12 + [self._articles] * 3
        kinds += [self._feed, self._feed, self._one_ioc, self._one_article, self._iocs_of_article]
        return [self._random.choice(kinds)() for _ in range(count)]

    def _iocs(self) -> Question:
        given: dict[str, Callable[[], list[str]]] = {
            "q": lambda: [self._search()],
            "value": lambda: [self._value()],
            "type": lambda: self._some(IOC_TYPES),
            "source": lambda: self._some((*SOURCES, "nobody")),
            "malware": lambda: self._some((*MALWARE, "emotet")),
            "exclude": lambda: [",".join(self._some(("warned", "expired", "false_positive")))],
            "min_sources": lambda: [self._one("0123x")],
            "since": lambda: [self._moment()],
            "until": lambda: [self._moment()],
            "added_since": lambda: [self._one(("2026-11-20", "2026-11-20T12:30:00Z", "2026-11-21", "soon"))],
            "status": lambda: self._some(("active", "stale", "expired")),
            "sort": lambda: [self._one(("last_seen", "first_seen", "added_at", "sources", "value"))],
            "fields": lambda: [",".join(self._some(("type", "value", "malware", "article", "nothing")))],
            "limit": lambda: [self._one(("1", "2", "7", "20", "50", "500", "0"))],
            "facets": lambda: ["true"],
        }
        likely = {"q": 0.5, "value": 0.1, "limit": 0.6, "fields": 0.1, "facets": 0.2}
        chosen = [name for name in given if self._random.random() < likely.get(name, 0.12)]
        return "/iocs", [(name, value) for name in chosen for value in given[name]()]

    def _feed(self) -> Question:
        _, asked = self._iocs()
        return "/iocs.atom", asked

    def _articles(self) -> Question:
        asked = [("q", self._search())] if self._random.random() < 0.7 else []
        asked += [("source", self._one(SOURCES))] if self._random.random() < 0.3 else []
        return "/articles", [*asked, ("limit", self._one(("3", "20", "50")))]

    def _one_ioc(self) -> Question:
        one = self._sighting()
        return f"/iocs/{ioc_id(*one)}", []

    def _one_article(self) -> Question:
        return f"/articles/{self._article()}", []

    def _iocs_of_article(self) -> Question:
        return f"/articles/{self._article()}/iocs", [("limit", self._one(("2", "5", "1000")))]

    def _search(self) -> str:
        word = self._one((*WORDS, *HOSTS, *MALWARE, self._value(), "198.51.100.0/24", "2001:db8::/32", "??"))
        match self._random.randrange(6):
            case 0:
                return f"{word} {self._one(WORDS)}"
            case 1:
                return f'"{word} {self._one((*WORDS, *MALWARE))}"'
            case 2:
                return f"{word[: self._random.randint(1, 4)]}*"
            case 3:
                return word.replace(".", "[.]").replace("http", "hxxp")
        return word

    def _value(self) -> str:
        value = self._sighting()[1]
        return self._one((value, value, value.replace(".", "[.]"), value.upper(), f"{value}x", "emotet"))

    def _moment(self) -> str:
        day = f"2026-11-{self._random.randint(14, 20):02}"
        return self._one((day, f"{day}T{self._random.randrange(24):02}:00:00Z", f"{day}T09:30:00+02:00", "yesterday"))

    def _sighting(self) -> tuple[str, str]:
        while not (sightings := self._random.choice(self._saves).sightings):
            pass
        one = self._random.choice(sightings)
        return one.type, one.value

    def _article(self) -> str:
        known = self._random.choice(self._saves).article.id
        return self._one((known, known, known, article_id("nowhere")))

    def _one(self, choices: Any) -> str:
        return str(self._random.choice(choices))

    def _some(self, choices: tuple[str, ...]) -> list[str]:
        return self._random.sample(choices, self._random.choice((1, 1, 2)))


async def answered(service: Running, key: Mapping[str, str], question: Question) -> Answer:
    path, parameters = question
    answer = await service.client.get(f"/api/v1{path}?{urlencode(parameters)}", headers=dict(key))
    return answer.status_code, answer.content


async def walked(pair: Pair, keys: Keys, questions: Iterator[Question], told: list[int]) -> None:
    """Ask both, and page on a little; note the statuses of the answers, which are the same."""
    for question in questions:
        asked: Question | None = question
        for _ in range(3):
            if asked is None:
                break
            one, two = await asyncio.gather(*map(answered, pair, keys, (asked, asked)))
            assert one == two, (asked, *differing(one, two))
            told.append(one[0])
            asked = following(asked, one[1])


def differing(one: Answer, two: Answer) -> Iterator[object]:
    """Yield where two answers differ, members of JSON one by one."""
    if one[0] != two[0] or not one[1].startswith(b"{"):
        yield from (one[0], two[0])
        lines = zip(one[1].splitlines(), two[1].splitlines(), strict=False)
        yield from [(mine[:200], other[:200]) for mine, other in lines if mine != other][:10]
        return
    mine, others = orjson.loads(one[1]), orjson.loads(two[1])
    for name in mine:
        if mine[name] != others.get(name) and name != "items":
            yield name, mine[name], others.get(name)
    listed, beside = mine.get("items", []), others.get("items", [])
    if [item.get("id") for item in listed] != [item.get("id") for item in beside]:
        yield (
            [item.get("value", item.get("id")) for item in listed],
            [item.get("value", item.get("id")) for item in beside],
        )
    for item, other in zip(listed, beside, strict=False):
        yield from ((name, item[name], other.get(name)) for name in item if item[name] != other.get(name))


def following(asked: Question, answer: bytes) -> Question | None:
    """Return the question for the next page, where there is one."""
    cursor = orjson.loads(answer).get("next_cursor") if answer.startswith(b"{") else None
    return None if cursor is None else (asked[0], [("cursor", cursor), ("limit", "7")])


@pytest.mark.promise("search.same-on-both-engines")
async def test_made_up_questions_are_answered_alike(both: Pair) -> None:
    keys = (await both[0].key(), await both[1].key())
    questions, told = iter(Asking().questions(QUESTIONS)), list[int]()
    await asyncio.gather(*(walked(both, keys, questions, told) for _ in range(AT_ONCE)))
    assert len(told) > QUESTIONS
    assert told.count(200) > QUESTIONS * 0.6
