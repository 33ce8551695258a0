"""Three nodes of Elasticsearch with copies, Redis by Sentinel, two API servers and three workers, all with TLS: parts
of them are killed, stopped and blocked amid submissions, reads and writes, and in the end everything is counted.
"""

from __future__ import annotations

import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from pytest_httpserver import HTTPServer

from tests.end_to_end.processes import Installation, Server, until
from tests.end_to_end.unrest import REASONS, Page, Press, counted
from tests.engines.authority import make_certificates
from tests.engines.elasticsearch_cluster import AS_DEPLOYED, ElasticsearchCluster, elasticsearch_cluster
from tests.engines.redis_cluster import RedisCluster, redis_cluster

from .reading import Read, Reader, longest_failure, slowest

_KINDS = ("report",) * 16 + ("flaky", "absent", "empty", "slow")
_MOST_FAILING_SECONDS = 5.0
_MOST_READ_SECONDS = 5.0
# Two cores that hold the whole cluster read one page in two seconds.
_ENDED_SECONDS = 1_200.0
_KEYS = 10
_WORKERS = 3


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened, and when it began and was over (monotonic seconds)."""

    what: str
    begun: float
    over: float


@dataclass
class Outcome:
    """What was acknowledged, and what became of it."""

    accepted: dict[str, Page] = field(default_factory=dict)
    turned_away: Counter[str] = field(default_factory=Counter)
    votes: dict[str, str] = field(default_factory=dict)
    keys: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)


class Storm:
    """A whole cluster at work."""

    def __init__(self, here: Installation, nodes: ElasticsearchCluster, redis: RedisCluster, press: Press) -> None:
        self.here, self.nodes, self.redis, self.press = here, nodes, redis, press
        self.servers: list[Server] = [here.serve(), here.serve()]
        for _ in range(_WORKERS):
            here.start("worker")
        self.key = here.key()
        self.outcome = Outcome()
        self._done = threading.Event()

    def submit(self, pages: Sequence[Page], seconds: float) -> None:
        """Submit pages spread over so many seconds; what is turned away is submitted again."""
        begun = time.monotonic()
        for number, page in enumerate(pages):
            self._done.wait(max(0.0, begun + seconds * number / len(pages) - time.monotonic()))
            body = {"url": self.press.url(page), "source_name": page.source_name}
            while (answer := self._post(number, "/submit", body)) is None:
                time.sleep(0.5)
            self.outcome.accepted[answer["id"]] = page

    def _post(self, number: int, path: str, body: dict[str, Any]) -> dict[str, Any] | None:
        address = self.servers[number % len(self.servers)].address
        headers = {"Authorization": f"Bearer {self.key}"}
        try:
            answer = httpx.post(f"{address}/api/v1{path}", json=body, headers=headers, timeout=30)
        except httpx.HTTPError as error:
            self.outcome.turned_away[type(error).__name__] += 1
            return None
        if answer.status_code not in (200, 202):
            self.outcome.turned_away[str(answer.status_code)] += 1
            return None
        told: dict[str, Any] = answer.json()
        return told

    def write_by_key(self) -> None:
        """Vote on indicators again and again, and make keys, until the storm is over; note what was acknowledged."""
        number = 0
        while not self._done.wait(1.0):
            number += 1
            server = self.servers[number % len(self.servers)]
            with_key = {"Authorization": f"Bearer {self.key}"}
            try:
                found = server.get("/iocs", self.key, limit=20).json().get("items", [])
                for ioc in found[:1]:
                    note = f"note {number}"
                    path = f"{server.address}/api/v1/iocs/{ioc['id']}/false-positive"
                    answer = httpx.put(path, json={"note": note}, headers=with_key, timeout=30)
                    # What got no answer may have passed or not: nothing is known of this one.
                    self.outcome.votes.pop(ioc["id"], None)
                    if answer.status_code == 200:
                        self.outcome.votes[ioc["id"]] = note
            except (httpx.HTTPError, ValueError):
                continue

    def make_keys(self, every_seconds: float) -> None:
        """Make accounts with a key each; note the keys that were printed."""
        for number in range(_KEYS):
            if self._done.wait(every_seconds):
                return
            email = f"analyst-{number}@storm.example"
            made = self.here.run("account", "create", email, typed="correct horse battery staple\n", seconds=120)
            if made.returncode == 0:
                created = self.here.run("key", "create", email, seconds=120)
                if created.returncode == 0:
                    self.outcome.keys.append(created.stdout.strip())

    def befall(self, what: str, do: Callable[[], None], nodes: int = 3) -> None:
        """Let something happen, wait until the cluster is whole again, and a while longer."""
        print(f"  {what}", flush=True)
        begun = time.monotonic()
        do()
        self.nodes.wait_until_whole(nodes, 180)
        self.outcome.events.append(Event(what, begun, time.monotonic()))
        time.sleep(3)

    def another(self, *but: int) -> int:
        """Return a node that is not the master, and none of these."""
        master = self.nodes.master()
        return next(number for number in range(3) if number != master and number not in but)

    def kill(self, number: int) -> None:
        self.nodes.kill(number)
        time.sleep(8)
        self.nodes.start_again(number)
        time.sleep(2)

    def stand_still(self, number: int, seconds: float) -> None:
        self.nodes.stop(number)
        time.sleep(seconds)
        self.nodes.go_on(number)
        time.sleep(2)

    def block(self, seconds: float) -> None:
        """Block writes as Elasticsearch does where a disk is full."""
        for index in ("iocs", "articles", "sightings", "submissions"):
            self.nodes.put(f"/{index}/_settings", {"index.blocks.read_only_allow_delete": True})
        time.sleep(seconds)
        for index in ("iocs", "articles", "sightings", "submissions"):
            self.nodes.put(f"/{index}/_settings", {"index.blocks.read_only_allow_delete": None})

    def blow(self) -> None:
        """Let everything happen, one after the other."""
        self.befall("a node is killed with -9", lambda: self.kill(self.another()))
        self.befall("the master of Redis is killed", self.redis.kill_master)
        self.befall("a node stands still for 20 s", lambda: self.stand_still(self.another(), 20))
        self.befall("the elected master is killed with -9", lambda: self.kill(self.nodes.master()))
        self.befall("indices are read-only for 10 s, as with a full disk", lambda: self.block(10))

    def finish(self) -> None:
        self._done.set()


def check(storm: Storm, pages: Sequence[Page]) -> list[str]:
    """Count everything; return what is wrong."""
    outcome, wrong = storm.outcome, list[str]()
    server = storm.servers[0]

    def ended(id: str) -> dict[str, Any] | None:
        answer = server.get(f"/submissions/{id}", storm.key)
        if answer.status_code != 200:
            return None if answer.status_code == 503 else {"status": f"answered {answer.status_code}"}
        state: dict[str, Any] = answer.json()
        return state if state["status"] in ("done", "failed") else None

    end = time.monotonic() + _ENDED_SECONDS
    for id, page in outcome.accepted.items():
        reason = REASONS[page.kind]
        state = until(lambda id=id: ended(id), f"{page} ends", max(1.0, end - time.monotonic()))  # type: ignore[misc]
        if (state["status"], state.get("reason")) != ("failed" if reason else "done", reason):
            wrong.append(f"{page}: {state['status']}, {state.get('reason')}")
    found = {ioc["value"]: (ioc["sightings"], ioc["sources"]) for ioc in exported(server, storm.key)}
    expected = counted([page for page in pages if page in set(outcome.accepted.values())])
    wrong += [
        f"{value}: {found.get(value)}, not {count}" for value, count in expected.items() if found.get(value) != count
    ]
    wrong += [f"{value}: nobody named it" for value in found.keys() - expected.keys()]
    wrong += [f"a key of {key[:8]}… is lost" for key in outcome.keys if server.get("/usage", key).status_code != 200]
    for id, note in outcome.votes.items():
        votes = server.get(f"/iocs/{id}", storm.key).json()
        if note not in str(votes):
            wrong.append(f"the vote on {id} is lost")
    return wrong


def exported(server: Server, key: str) -> list[dict[str, Any]]:
    answer = server.get("/export", key, format="ndjson")
    return [httpx.Response(200, text=line).json() for line in answer.text.splitlines() if line]


def tell(storm: Storm, reads: Sequence[Read], torn: Sequence[str], wrong: Sequence[str]) -> int:
    """Print the figures; return the exit status."""
    outcome = storm.outcome
    bad = [read for read in reads if read.status != 200]
    print(f"accepted {len(outcome.accepted)}, turned away meanwhile {dict(outcome.turned_away)}")
    print(f"votes acknowledged {len(outcome.votes)}, keys acknowledged {len(outcome.keys)}")
    print(f"reads {len(reads)}, failed {len(bad)} {dict(Counter(read.status for read in bad))}, ", end="")
    print(f"slowest {slowest(reads):.1f} s, longest failing {longest_failure(reads):.1f} s, half written {len(torn)}")
    for event in outcome.events:
        during = [read for read in reads if event.begun <= read.answered <= event.over + 3]
        failed = [read for read in during if read.status != 200]
        last = max((read.answered for read in failed), default=event.begun) - event.begun
        print(f"  {event.what}: {event.over - event.begun:.0f} s; reads {len(during)}, failed {len(failed)}, ", end="")
        print(
            f"last after {last:.1f} s, slowest {slowest(during):.1f} s, longest failing {longest_failure(during):.1f} s"
        )
    problems = [*wrong, *torn]
    if longest_failure(reads) > _MOST_FAILING_SECONDS:
        problems.append(f"reads failed for {longest_failure(reads):.1f} s")
    if slowest(reads) > _MOST_READ_SECONDS:
        problems.append(f"a read took {slowest(reads):.1f} s")
    if "Traceback" in storm.here.output():
        problems.append("a process logged a traceback")
    for problem in problems[:40]:
        print(f"WRONG: {problem}")
    print("nothing was lost" if not problems else f"{len(problems)} things are wrong")
    return 1 if problems else 0


def run(submissions: int) -> int:
    """Bring the cluster up, let the storm pass, count; return the exit status."""
    pages = [Page(_KINDS[number % len(_KINDS)], number) for number in range(submissions)]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="storm-", ignore_cleanup_errors=True)))
        certificates = make_certificates(folder / "certificates")
        print("starting three nodes of Elasticsearch, two of Redis, three Sentinels", flush=True)
        nodes = stack.enter_context(elasticsearch_cluster(3, certificates, AS_DEPLOYED))
        redis = stack.enter_context(redis_cluster(folder / "redis", certificates))
        settings = {**nodes.environment, "REDIS_URL": redis.url, "IOC_SECRET_KEY": uuid.uuid4().hex}
        here = Installation(folder, settings)
        stack.callback(here.close)
        press = Press(stack.enter_context(HTTPServer("127.0.0.1", threaded=True)))
        stack.callback(press.close)
        press.publish(pages)
        storm = Storm(here, nodes, redis, press)
        reader = Reader([server.address for server in storm.servers], storm.key)
        work = [
            threading.Thread(target=storm.submit, args=(pages, submissions * 0.5), daemon=True),
            threading.Thread(target=storm.write_by_key, daemon=True),
            threading.Thread(target=storm.make_keys, args=(8.0,), daemon=True),
        ]
        reader.start()
        for thread in work:
            thread.start()
        storm.blow()
        work[0].join()
        storm.finish()
        for thread in work:
            thread.join(130)
        wrong = check(storm, pages)
        reader.stop()
        keep = folder / "output"
        Path(tempfile.gettempdir(), "storm-output.log").write_bytes(keep.read_bytes())
        return tell(storm, reader.reads, reader.torn, wrong)
