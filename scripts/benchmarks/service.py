"""The service beside the engine it stands on: each operation asked of the engine, of the store and of the API."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace

import orjson
import uvloop

from api.accounts.keys import Keys
from intel.ids import account_id
from intel.query import IocQuery
from intel.records import Account
from intel.store import Store, open_store
from intel.times import utc_now
from tests.engines.elasticsearch_server import elasticsearch as elasticsearch_engine
from tests.engines.engine import NotToBeHad
from tests.engines.redis_server import redis_server

from . import limited, worlds
from .client import Client
from .measuring import CONNECTIONS, Pace, Speeds, Way, Ways, compare
from .questions import PAGE, Question, deep_page, operations
from .reports import Report, Size, reports
from .served import served
from .worlds import World

Tell = Callable[[str], None]
RAW, STORE, API, API_WITH_KEY = "raw", "store", "api", "api_with_key"
FIRST_PAGE = "page 1"
_LIGHT_PATH = "/api/v1/iocs?limit=1"
_CHECKED_QUESTIONS = 8
_TOLD_EVERY = 50


class Disagreement(Exception):
    """Two ways to ask the same found different numbers of records: their speeds cannot be compared."""


@dataclass(frozen=True, slots=True)
class Filled:
    """What was saved, and how long it took."""

    articles: int
    sightings: int
    indicators: int
    seconds: float


@dataclass(frozen=True, slots=True)
class WorldReport:
    """Speeds on one engine, by operation and by way; of the pages of a walk `deep` is the last one measured."""

    engine: str
    filled: Filled
    operations: Speeds
    walk: Speeds
    deep: str


@dataclass(slots=True)
class ServiceReport:
    """Everything that was measured, and in a line each what was not."""

    worlds: list[WorldReport] = field(default_factory=list)
    buckets: Speeds = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)


def measure_service(size: Size, pace: Pace, tell: Tell) -> ServiceReport:
    """Measure on SQLite, and on Elasticsearch where one can be had."""
    report = ServiceReport()

    def leave_out(line: str) -> None:
        report.left_out.append(line)
        tell(line)

    with ExitStack() as stack, asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        redis_address = _redis(stack, leave_out)
        with worlds.embedded() as world:
            report.worlds.append(runner.run(_measure(world, size, pace, tell)))
            report.buckets = runner.run(_measure_buckets(world, redis_address, pace, tell))
        with _elasticsearch_world(redis_address, leave_out) as served_world:
            if served_world is not None:
                report.worlds.append(runner.run(_measure(served_world, size, pace, tell)))
    return report


def _redis(stack: ExitStack, leave_out: Tell) -> str | None:
    try:
        engine = stack.enter_context(redis_server())
    except NotToBeHad as reason:
        leave_out(f"Redis is not to be had, so neither are its buckets nor the API on Elasticsearch: {reason}")
        return None
    return stack.enter_context(worlds.empty_database(engine.address))


@contextmanager
def _elasticsearch_world(redis_address: str | None, leave_out: Tell) -> Iterator[World | None]:
    with ExitStack() as stack:
        try:
            engine = stack.enter_context(elasticsearch_engine(for_tests=False))
        except NotToBeHad as reason:
            leave_out(f"Elasticsearch is not to be had: {reason}")
            yield None
            return
        yield stack.enter_context(worlds.elasticsearch(engine.address, redis_address))


async def _measure(world: World, size: Size, pace: Pace, tell: Tell) -> WorldReport:
    store = open_store(world.settings)
    try:
        await store.setup()
        tell(f"{world.name}: saving {size.indicators:,} indicators of {size.articles:,} articles")
        filled = await _fill(store, size, tell)
        tell(f"{world.name}: measuring")
        return await _ask_everything(world, store, filled, size, pace, tell)
    finally:
        await store.close()


async def _fill(store: Store, size: Size, tell: Tell) -> Filled:
    waiting = list(reports(size))
    sightings = sum(len(report.sightings) for report in waiting)
    begin = time.perf_counter()
    queue = enumerate(waiting)
    await asyncio.gather(*(_save(store, queue, tell) for _ in range(CONNECTIONS)))
    seconds = time.perf_counter() - begin
    totals = await store.totals()
    return Filled(totals.articles, sightings, totals.iocs, seconds)


async def _save(store: Store, queue: Iterator[tuple[int, Report]], tell: Tell) -> None:
    for number, report in queue:
        if number and not number % _TOLD_EVERY:
            tell(f"  {number} articles")
        await store.articles.save(report.article, report.sightings, [report.article.url or ""])


async def _ask_everything(
    world: World, store: Store, filled: Filled, size: Size, pace: Pace, tell: Tell
) -> WorldReport:
    asked, deep = operations(size), f"page {deep_page(size)}"
    async with world.raw() as raw:
        with ExitStack() as stack:
            api = await _open_api(stack, world, store)
            walk = await _walk(store, api, size, deep)
            ways = {
                name: {RAW: raw.way([each.query for each in questions]), STORE: _store_way(store, questions)}
                | (api.ways(questions, with_visitor=name not in walk) if api else {})
                for name, questions in {**asked, **walk}.items()
            }
            await _check(ways)
            speeds = await compare(ways, pace, tell)
    pages = {name: speeds.pop(name) for name in walk}
    return WorldReport(world.name, filled, speeds, pages, deep)


@dataclass(frozen=True, slots=True)
class Api:
    """The running service, asked by a visitor and by the holder of a key."""

    client: Client
    key: str

    def ways(self, questions: Sequence[Question], *, with_visitor: bool) -> dict[str, Way]:
        visitor = {API: self._way(questions, {})} if with_visitor else {}
        return visitor | {API_WITH_KEY: self._way(questions, self.headers)}

    @property
    def headers(self) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {self.key}"}

    def _way(self, questions: Sequence[Question], headers: Mapping[str, str]) -> Way:
        prepared = [self.client.request("GET", question.path, headers) for question in questions]
        return Way(lambda number: self.client.ask(prepared[number % len(prepared)]), _items_in)


async def _open_api(stack: ExitStack, world: World, store: Store) -> Api | None:
    if not world.whole:
        return None
    account = Account(account_id("bench@localhost"), "bench@localhost", "!", utc_now())
    await store.accounts.create(account)
    new = await Keys(store, utc_now).create(account.id, "bench")
    client = stack.enter_context(closing(Client(stack.enter_context(served(world.environment)))))
    await client.connect()
    return Api(client, new.secret)


async def _walk(store: Store, api: Api | None, size: Size, deep: str) -> dict[str, list[Question]]:
    """Return the first page of the whole list, and one far down, which store and API are walked to."""
    first = Question(IocQuery(limit=PAGE), f"/api/v1/iocs?limit={PAGE}")
    query, path = first.query, first.path
    assert isinstance(query, IocQuery)  # noqa: S101 - as it was made above
    for _ in range(1, deep_page(size)):
        query = replace(query, after=(await store.iocs.find(query)).next)
        if api is not None:
            body = await api.client.ask(api.client.request("GET", path, api.headers))
            path = f"{first.path}&cursor={orjson.loads(body)['next_cursor']}"
    return {FIRST_PAGE: [first], deep: [Question(query, path)]}


def _store_way(store: Store, questions: Sequence[Question]) -> Way:
    async def ask(number: int) -> int:
        query = questions[number % len(questions)].query
        page = await (store.iocs.find(query) if isinstance(query, IocQuery) else store.articles.find(query))
        return len(page.items)

    return Way(ask, int)


def _items_in(body: bytes) -> int:
    return len(orjson.loads(body)["items"])


async def _check(ways: Mapping[str, Ways]) -> None:
    """Every way but a visitor's, who gets fewer results of a search, must find the same number of records."""
    for operation, by_name in ways.items():
        for number in range(_CHECKED_QUESTIONS):
            found = {name: way.found(await way.ask(number)) for name, way in by_name.items() if name != API}
            if len(set(found.values())) != 1 or not all(found.values()):
                raise Disagreement(f"{operation}, question {number}: {found}")


async def _measure_buckets(world: World, redis_address: str | None, pace: Pace, tell: Tell) -> Speeds:
    tell("Token buckets: measuring")
    kinds = {"none": "none", "memory": "memory"} | ({"redis": redis_address} if redis_address else {})
    with ExitStack() as stack:
        ways = {}
        for kind, value in kinds.items():
            address = stack.enter_context(served({**world.environment, limited.VARIABLE: value}, limited.APP))
            client = stack.enter_context(closing(Client(address)))
            await client.connect()
            ways[kind] = _light_way(client)
        return await compare({"newest 1": ways}, pace, tell)


def _light_way(client: Client) -> Way:
    request = client.request("GET", _LIGHT_PATH)
    return Way(lambda _: client.ask(request), _items_in)
