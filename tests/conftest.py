"""The engines as fixtures: a test that names one runs on the real thing, or is left out with the reason."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import pytest_asyncio
import redis
import structlog
from hypothesis import settings

from intel.store import Store
from intel.store.sqlite.store import SqliteStore
from tests.engines.chromium import chromium
from tests.engines.docker_engine import docker_engine
from tests.engines.elasticsearch_server import elasticsearch
from tests.engines.engine import Engine, NotToBeHad, Source
from tests.engines.redis_server import redis_server
from tests.examples import QUICK
from tests.indices import MadeIndices, unmade
from tests.order import long_first
from tests.shared_tls import share_contexts
from tests.stores import lay_store

ENGINES = {"elasticsearch_url", "redis_url", "chromium_path", "docker_version"}
ENGINES_AS_PARAMETERS = {"elasticsearch", "redis", "served"}
# After so many collections of younger objects all objects are looked through, which takes up to a second.
RARELY = 200
PROCESSES = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
SLOW_PATHS = {
    Path(__file__).parent / name for name in ("api/cli", "api/test_fuzz.py", "browser", "end_to_end", "scripts")
}


def pytest_addoption(parser: pytest.Parser) -> None:
    without = "leave out what is slow, needs an engine, browser or container, or starts the installed commands"
    parser.addoption("--quick", action="store_true", help=without)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return True if config.getoption("quick") and collection_path in SLOW_PATHS else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("quick"):
        left_out = {item for item in items if item.get_closest_marker("slow") or needs_engine(item)}
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]
    if PROCESSES > 1:
        by_file: dict[str, list[pytest.Item]] = {}
        for item in items:
            by_file.setdefault(item.nodeid.partition("::")[0], []).append(item)
        items[:] = long_first(by_file, PROCESSES)


def needs_engine(item: pytest.Item) -> bool:
    if not isinstance(item, pytest.Function):
        return False
    parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return not ENGINES.isdisjoint(item.fixturenames) or any(
        isinstance(value, str) and value in ENGINES_AS_PARAMETERS for value in parameters
    )


# As the service logs: the library's own way of printing an exception takes seconds.
structlog.configure(
    processors=[
        *structlog.get_config()["processors"][:-1],
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback),
    ]
)

share_contexts()

# No test fails by the clock: a busy machine may take a second over any example. Nor by chance where a failure refuses a
# change that has nothing to do with it: there, the same tests try the same examples.
settings.register_profile("unhurried", deadline=None, derandomize=os.environ.get("CI") == "true")
settings.load_profile("unhurried")
settings.register_profile(QUICK, settings.get_profile("unhurried"), max_examples=20)

# A run in a shell's background ignores Ctrl-C, and so would the commands whose Ctrl-C is tested.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported and collected stays to the end: to look through it again and again for garbage takes seconds."""
    gc.disable()
    try:
        return (yield)
    finally:
        # Handed to the oldest generation unread, and not left frozen: to ask how much is frozen counts it each time.
        gc.freeze()
        gc.unfreeze()
        young, middle, _ = gc.get_threshold()
        gc.set_threshold(young, middle, RARELY)
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """Look through everything for garbage once, for what it may say of itself: pytest does so five times in the end."""
    gc.collect()
    gc.freeze()


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("quick"):
        settings.load_profile(QUICK)
    # A run that is told to end stops the engines that it started, as Ctrl-C makes it do.
    signal.signal(signal.SIGTERM, signal.default_int_handler)


@contextmanager
def at_hand(name: str, source: Source) -> Iterator[Engine]:
    """Skips the test where the engine is not to be had; where CI=true, fails it."""
    engine, why = None, ""
    with ExitStack() as stack:
        try:
            engine = stack.enter_context(source())
        except NotToBeHad as reason:
            why = f"{name} is not to be had: {reason}"
        if engine is None and os.environ.get("CI") == "true":
            pytest.fail(why, pytrace=False)
        if engine is None:
            pytest.skip(why)
        yield engine


@pytest.fixture(scope="session")
def elasticsearch_url() -> Iterator[str]:
    with at_hand("Elasticsearch", elasticsearch) as engine:
        yield engine.address


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """A Redis server; tests take `redis_database`, unless they stand on no key of its."""
    with at_hand("Redis", redis_server) as engine:
        yield engine.address


@pytest.fixture(scope="session")
def chromium_path() -> Iterator[str]:
    with at_hand("Chromium", chromium) as engine:
        yield engine.address


@pytest.fixture(scope="session")
def docker_version() -> Iterator[str]:
    """A Docker engine is the one thing that even CI may lack."""
    with ExitStack() as stack:
        try:
            yield stack.enter_context(docker_engine()).address
        except NotToBeHad as reason:
            pytest.skip(str(reason))


@pytest.fixture(scope="session")
def made_indices(elasticsearch_url: str) -> Iterator[MadeIndices]:
    made = MadeIndices(elasticsearch_url)
    yield made
    made.drop()


@pytest.fixture
def index_prefix(made_indices: MadeIndices) -> Iterator[str]:
    """The prefix of an empty store that is set up and belongs to this test alone."""
    with made_indices.lent() as prefix:
        yield prefix


@pytest.fixture
def unmade_prefix(elasticsearch_url: str) -> Iterator[str]:
    """A prefix under which nobody made an index; what stands there afterwards is deleted."""
    with unmade(elasticsearch_url) as prefix:
        yield prefix


@pytest.fixture(params=("embedded", "served"))
def either_engines(request: pytest.FixtureRequest) -> dict[str, str]:
    """Settings of a service: once those of the embedded parts, once the addresses of real engines, both empty."""
    if request.param == "embedded":
        return {}
    return {
        "ELASTICSEARCH_URL": request.getfixturevalue("elasticsearch_url"),
        "ELASTICSEARCH_INDEX_PREFIX": request.getfixturevalue("index_prefix"),
        "REDIS_URL": request.getfixturevalue("redis_database"),
        "IOC_SECRET_KEY": "a secret of this test alone",
    }


@pytest.fixture
def redis_database(redis_url: str) -> Iterator[str]:
    """The URL of a database that was empty and belongs to this test alone; emptied afterwards."""
    first = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    with redis.Redis.from_url(redis_url) as client:
        count = int(client.config_get("databases")["databases"])
    for number in range(1 + first, count, PROCESSES):
        with redis.Redis.from_url(redis_url, db=number) as client:
            if client.dbsize() == 0:
                yield f"{redis_url.rstrip('/')}/{number}"
                client.flushdb()
                return
    pytest.fail(f"no empty database at {redis_url}")


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    """An empty store in a file of its own; suites that run on every engine have one of each instead."""
    opened = SqliteStore(lay_store(tmp_path / "store.db"))
    await opened.setup()
    yield opened
    await opened.close()


@pytest.fixture(scope="session")
def httpserver_listen_address() -> tuple[str, int]:
    """A literal address: the name `localhost` is refused by its form."""
    return ("127.0.0.1", 0)
