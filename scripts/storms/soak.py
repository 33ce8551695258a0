"""The service on Elasticsearch and Redis under five times its limits, among clients that hold connections."""

from __future__ import annotations

import random
import statistics
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

from pytest_httpserver import HTTPServer

from tests.end_to_end.processes import Installation
from tests.end_to_end.unrest import Page, Press
from tests.engines.elasticsearch_server import elasticsearch
from tests.engines.redis_server import redis_server

from .clients import HOLDERS, UNREAD, Asked, Clients, is_fine, percentile
from .tree import Held, held_by

# As the limits are by default: a key 100 a minute, without one 30 lists a minute and 10 searches an hour.
_LIMITS = {"IOC_RATE_KEY": "100/minute"}
_TIMES = 5
_KEYS = 3
_PAGES = 400
_IDLE, _UNREAD_CONNECTIONS = 1_000, 500
_SAMPLE_SECONDS = 5.0
_FLAT = 1.05
# What comes and goes with single requests, and connections that the clients just open or have not seen closed.
_SLACK = Held(memory=5, files=50, sockets=50, threads=4)


def run(minutes: float) -> int:
    """Load for so long, print the figures; return the exit status."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="soak-", ignore_cleanup_errors=True)))
        engine, redis = stack.enter_context(elasticsearch()), stack.enter_context(redis_server())
        settings = {
            **_LIMITS,
            "ELASTICSEARCH_URL": engine.address,
            "ELASTICSEARCH_INDEX_PREFIX": f"soak-{uuid.uuid4().hex[:8]}-",
            "REDIS_URL": redis.address,
            "IOC_SECRET_KEY": uuid.uuid4().hex,
        }
        here = Installation(folder, settings)
        stack.callback(here.close)
        server, worker = here.serve(), here.start("worker")
        press = Press(stack.enter_context(HTTPServer("127.0.0.1", threaded=True)))
        stack.callback(press.close)
        pages = [Page("report", number) for number in range(_PAGES)]
        press.publish(pages)
        keys = [here.key(f"analyst-{number}@soak.example") for number in range(_KEYS)]
        clients = _clients(server.address, keys, [press.url(page) for page in pages])
        print(f"{minutes:g} minutes of load", flush=True)
        samples = _sample([server.process.pid, worker.pid], minutes * 60)
        clients.stop()
        ended = [process.poll() for process in (server.process, worker)]
        return _tell(samples, clients.asked, ended, here.output())


def _clients(address: str, keys: Sequence[str], urls: Sequence[str]) -> Clients:
    clients = Clients(address)
    for number, key in enumerate(keys):
        with_key = {"Authorization": f"Bearer {key}"}
        clients.ask(f"key {number}", 100 * _TIMES, with_key, lambda chance: _by_key(chance, urls))
    clients.ask("no key, lists", 30 * _TIMES, {}, lambda chance: ("GET", "/api/v1/iocs", None))
    clients.ask("no key, searches", 10 * _TIMES / 60, {}, lambda chance: ("GET", "/api/v1/iocs?q=kestrel", None))
    clients.ask("health", 60, {}, lambda chance: ("GET", "/healthz", None))
    clients.ask(
        "everybody else", 30, {"Authorization": f"Bearer {keys[0]}"}, lambda chance: ("GET", "/api/v1/usage", None)
    )
    clients.hold(_IDLE)
    clients.hold(_UNREAD_CONNECTIONS, UNREAD)
    clients.hold(1, b"GET / HTTP/1.1\r\nX: ", b"a")
    return clients


def _by_key(chance: random.Random, urls: Sequence[str]) -> tuple[str, str, object]:
    """Choose what analysts do: mostly they read."""
    number = chance.randrange(len(urls))
    return chance.choices(
        [
            ("GET", "/api/v1/iocs?limit=50", None),
            ("GET", f"/api/v1/iocs?q=c{number}.kestrel-files.net", None),
            ("GET", f"/api/v1/iocs?value=shared{number % 4}.kestrel-hub.org", None),
            ("GET", "/api/v1/articles?limit=20", None),
            ("POST", "/api/v1/iocs/lookup", {"values": [f"c{number}.kestrel-files.net"]}),
            ("POST", "/api/v1/submit", {"url": urls[number], "source_name": f"Source {number % 9}"}),
        ],
        (3, 3, 3, 2, 2, 1),
    )[0]


def _sample(pids: Sequence[int], seconds: float) -> list[Held]:
    """Look every few seconds; the connections that clients hold on to are not counted."""
    samples, end = list[Held](), time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(_SAMPLE_SECONDS)
        samples.append(held_by(pids, but_from=HOLDERS))
    return samples


def _tell(samples: Sequence[Held], asked: dict[str, Asked], ended: Sequence[int | None], output: str) -> int:
    """Print what was held in the second quarter of the time and in the last one, and what became of requests."""
    problems = []
    quarter = max(1, len(samples) // 4)
    then, now = (_median(part) for part in (samples[quarter : 2 * quarter], samples[-quarter:]))
    slack = asdict(_SLACK)
    for what, before in asdict(then).items():
        after = asdict(now)[what]
        print(f"{what}: {before:.0f} in the second quarter, {after:.0f} in the last")
        if after > max(before * _FLAT, before + slack[what]):
            problems.append(f"{what} grew")
    statuses = Counter[int]()
    for name, one in asked.items():
        statuses.update(one.statuses)
        told = ", ".join(f"{status}: {count}" for status, count in sorted(one.statuses.items()))
        print(f"{name}: {told}; p50 {percentile(one.seconds, 50):.3f} s, p99 {percentile(one.seconds, 99):.3f} s")
    problems += [f"{count} answers of {status}" for status, count in statuses.items() if not is_fine(status)]
    for told, count in sum((one.failures for one in asked.values()), Counter[str]()).most_common(20):
        print(f"{count} × {told}")
    problems += [f"a process ended with {status}" for status in ended if status is not None]
    if "Traceback" in output:
        problems.append("a process logged a traceback")
        Path(tempfile.gettempdir(), "soak-output.log").write_text(output)
    for problem in problems:
        print(f"WRONG: {problem}")
    print("flat, and nothing failed" if not problems else f"{len(problems)} things are wrong")
    return 1 if problems else 0


def _median(samples: Sequence[Held]) -> Held:
    return Held(*(statistics.median(asdict(each)[name] for each in samples) for name in asdict(samples[0])))
