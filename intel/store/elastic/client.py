"""Ask the cluster: a request goes out, its answer or one of these errors comes back.

StoreUnavailable     out of reach, or refusing every write
├── Overloaded       the cluster turned the request away and did nothing: it bears repetition
├── Starting         what it goes to is not there yet, or no longer: it bears repetition for a moment
└── AnswerLost       the connection broke: whether the request was carried out is unknown
Refused              an answer that the caller may know how to handle
├── Conflict         the document exists, or was changed since it was read
├── WritesBlocked    the index is being replaced by a rebuilt one; its alias will lead there soon
└── IndexMissing     no such alias or index
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlencode

import orjson
import structlog

from intel.errors import CredentialsRefused, IocError, StoreUnavailable, WritesRefused
from intel.settings import ElasticsearchSettings
from intel.store.elastic.elsewhere import LATE_SECONDS, Elsewhere
from intel.store.elastic.nodes import Answer, NoAnswer, Node, Nodes
from intel.store.observing import Observe, unobserved
from intel.store.read_time import read_time

log = structlog.get_logger()

T = TypeVar("T")

# While shards start, one request passes and the next does not: that is one outage still.
STEADY_SECONDS = 5.0
_UNBLOCKING_SECONDS = 5.0
# A request that gets no answer for so long is given up only if the node does not answer anything else either.
_SILENT_SECONDS = 2.0
_PROBE_SECONDS = 0.8
# Where there is no other node to ask, nothing is won by giving up soon: on a busy machine it may take that long.
_ONLY_PROBE_SECONDS = 4.0
_BUSY_SECONDS = 20.0
_REPEATS = 2
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.02, 0.5
_OVERLOADED = 429
_STARTING = (502, 503, 504)
_TOO_LATE = 408
_UNAUTHORISED = (401, 403)
_JSON = {"Content-Type": "application/json"}
_LINES = {"Content-Type": "application/x-ndjson"}


class AnswerLost(StoreUnavailable):
    """The connection broke or the time was up: the request may or may not have been carried out."""


class Overloaded(StoreUnavailable):
    """The cluster has too much to do at the moment and turned the request away."""


class Starting(StoreUnavailable):
    """A node or shard is not there yet, or no longer."""


class Refused(IocError):
    """Elasticsearch answered with an error; `kind` is its name for it."""

    def __init__(self, status: int, kind: str, reason: str) -> None:
        super().__init__(f"{status} {kind}: {reason[:500]}")
        self.status = status
        self.kind = kind


class Conflict(Refused):
    """The document exists already, or was changed since it was read."""


class WritesBlocked(Refused):
    """The index takes no writes while, or because, a rebuilt one takes its place."""


class IndexMissing(Refused):
    """There is no such alias or index."""


@dataclass(frozen=True, slots=True)
class _Wait:
    """How long one answer may take, and whether a node that answers others meanwhile may take longer; how long to ask
    again while the cluster has too much to do, and while it starts; and whether a request that got no answer is sent
    again. Reads are put to other nodes as well once they take long: all of them together may take `whole_seconds`,
    while a node that is the only one is waited for as long as it is there.
    """

    answer_seconds: float | None
    overloaded_seconds: float
    starting_seconds: float
    repeats: bool
    while_there: bool = True
    whole_seconds: float | None = None


class Patience(Enum):
    """How long to wait for an answer, and whether a request may be sent again by itself."""

    READ = _Wait(None, overloaded_seconds=10, starting_seconds=2.5, repeats=True, whole_seconds=5)
    # Before a read: what stands still and holds a copy that nobody reads keeps it waiting.
    REFRESH = _Wait(None, overloaded_seconds=10, starting_seconds=2.5, repeats=True, whole_seconds=1.5)
    LONG = _Wait(60, overloaded_seconds=60, starting_seconds=2.5, repeats=True, while_there=False)
    WRITE = _Wait(5, overloaded_seconds=5, starting_seconds=0, repeats=False)
    LONG_WRITE = _Wait(60, overloaded_seconds=60, starting_seconds=0, repeats=False, while_there=False)


class Cluster:
    """The connection to the nodes; makes no request by itself."""

    def __init__(
        self,
        settings: ElasticsearchSettings,
        steady_seconds: float = STEADY_SECONDS,
        observe: Observe = unobserved,
    ) -> None:
        """`steady_seconds`: how long after its last trouble an answer says that an outage is over.

        `observe` is told how long each answer took, repetitions and failures included.
        """
        self._nodes = Nodes(settings)
        self._elsewhere = Elsewhere(self._nodes)
        self._observe = observe
        self._steady_seconds = steady_seconds
        self._troubled: dict[bool, float] = {}
        self._make_indices: Callable[[], Awaitable[None]] | None = None
        self._unblock: Callable[[], Awaitable[None]] | None = None
        self._next_unblocking = 0.0

    def repair_by(self, make_indices: Callable[[], Awaitable[None]], unblock: Callable[[], Awaitable[None]]) -> None:
        """Set how indices are made anew in an emptied cluster, and how a leftover write block is lifted."""
        self._make_indices = make_indices
        self._unblock = unblock

    async def ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | bytes | None = None,
        patience: Patience = Patience.READ,
        **params: Any,
    ) -> Any:
        """Return the body of the answer, also for a missing document. `path` is quoted already; bytes are lines of
        JSON.
        """
        try:
            return await self.ask_once(method, path, body, patience, **params)
        except IndexMissing:
            await self.make_missing()
            return await self.ask_once(method, path, body, patience, **params)

    async def make_missing(self) -> None:
        """Make the indices that no longer exist."""
        if self._make_indices is not None:
            await self._make_indices()

    async def met_block(self) -> None:
        """Lift a write block, if whoever set it is gone; look at most every few seconds."""
        if self._unblock is not None and time.monotonic() > self._next_unblocking:
            self._next_unblocking = time.monotonic() + _UNBLOCKING_SECONDS
            await self._unblock()

    async def ask_once(
        self, method: str, path: str, body: Mapping[str, Any] | bytes | None, patience: Patience, **params: Any
    ) -> Any:
        """Do as `ask`, but raise IndexMissing at once."""
        lines = body if isinstance(body, bytes) else None
        sent = lines if body is None or lines is not None else orjson.dumps(body)
        target = f"{path}?{urlencode(params)}" if params else path
        writes = patience in (Patience.WRITE, Patience.LONG_WRITE)
        begun = time.perf_counter()
        try:
            headers = _JSON if lines is None else _LINES
            answer = await self._within(patience, self._answer(method, target, sent, headers, patience.value))
        except (NoAnswer, TimeoutError) as error:
            raise self._trouble(writes, str(error) or type(error).__name__, AnswerLost()) from None
        finally:
            self._observe("write" if writes else "read", time.perf_counter() - begun)
        return self._read(answer, writes)

    async def within_answer(self, read: Awaitable[T]) -> T:
        """Return what a read gives that was asked for together with those of other answers."""
        try:
            return await self._within(Patience.READ, read)
        except TimeoutError as error:
            raise self._trouble(False, type(error).__name__, AnswerLost()) from None

    async def close(self) -> None:
        """Close the connections; may be called again."""
        await self._nodes.close()

    async def _within(self, patience: Patience, read: Awaitable[T]) -> T:
        """Return what a read of several nodes gives within its time, and within what is left to its answer.

        A read takes nothing of that where it is answered soon, or no node is known to be away.
        """
        seconds, shared = patience.value.whole_seconds, read_time()
        if seconds is None or len(self._nodes.all) == 1:
            return await read
        begun = time.monotonic()
        try:
            async with asyncio.timeout(seconds if shared is None else min(seconds, max(shared.left, LATE_SECONDS))):
                return await read
        finally:
            ended = time.monotonic()
            if shared is not None and ended - begun >= LATE_SECONDS and self._nodes.is_any_passed_over:
                shared.spend(begun, ended)

    async def _answer(
        self, method: str, target: str, body: bytes | None, headers: Mapping[str, str], wait: _Wait
    ) -> Answer:
        """Return the answer, after sending the request again where that is right."""
        begun, pause, repeats = time.monotonic(), _FIRST_PAUSE_SECONDS, _REPEATS if wait.repeats else 0
        while True:
            node = self._nodes.choose()
            try:
                answer = await self._first_answer(node, method, target, body, headers, wait)
            except (NoAnswer, TimeoutError) as error:
                node.pass_over()
                if not repeats or (isinstance(error, TimeoutError) and len(self._nodes.all) == 1):
                    raise
                repeats -= 1
                continue
            if time.monotonic() - begun >= _again_seconds(answer, wait):
                return answer
            await asyncio.sleep(random.uniform(pause / 4, pause))
            pause = min(pause * 1.5, _LONGEST_PAUSE_SECONDS)

    async def _first_answer(
        self, node: Node, method: str, target: str, body: bytes | None, headers: Mapping[str, str], wait: _Wait
    ) -> Answer:
        """Return the answer of a node; a read that takes long is put to others as well."""
        if not wait.repeats or len(self._nodes.all) == 1:
            return await self._answer_of(node, method, target, body, headers, wait)
        send = partial(self._answer_of, wait=wait)
        is_long = wait.answer_seconds is not None
        return await self._elsewhere.first_answer(send, node, method, target, body, headers, is_long=is_long)

    async def _answer_of(
        self, node: Node, method: str, target: str, body: bytes | None, headers: Mapping[str, str], wait: _Wait
    ) -> Answer:
        if not wait.while_there:
            async with asyncio.timeout(wait.answer_seconds):
                return await node.send(method, target, body, headers)
        is_only = len(self._nodes.all) == 1
        silent = wait.answer_seconds or _SILENT_SECONDS / (1 if is_only else 2)
        probe = _ONLY_PROBE_SECONDS if is_only else _PROBE_SECONDS
        async with asyncio.timeout(silent + probe) as limit, _Watch(node, limit, silent, probe):
            return await node.send(method, target, body, headers)

    def _read(self, answer: Answer, writes: bool) -> Any:
        """Return the body of an answer, also of "there is no such document", or raise the error."""
        content = _content(answer)
        if answer.status < 300 or (answer.status == 404 and isinstance(content, dict) and "error" not in content):
            self._works_again(writes)
            return content
        kind, reason = _kind_and_reason(content.get("error", content) if isinstance(content, dict) else content)
        refused = as_error(answer.status, kind, reason)
        raise self._trouble(writes, str(refused), refused) from None

    def _trouble(self, writes: bool, reason: str, error: Exception) -> Exception:
        if isinstance(error, StoreUnavailable):
            if writes not in self._troubled:
                log.warning("Elasticsearch is out of reach", writes=writes, reason=reason)
            self._troubled[writes] = time.monotonic()
        return error

    def _works_again(self, writes: bool) -> None:
        if writes in self._troubled and time.monotonic() - self._troubled[writes] >= self._steady_seconds:
            del self._troubled[writes]
            log.info("Elasticsearch answers again", writes=writes)


def as_error(status: int, kind: str, reason: str) -> Exception:
    """Return the error for an answer, or for one item of a bulk answer."""
    if status == 409 or kind == "document_missing_exception":
        return Conflict(status, kind, reason)
    if kind == "index_not_found_exception":
        return IndexMissing(status, kind, reason)
    if kind == "cluster_block_exception" and "index write (api)" in reason:
        return WritesBlocked(status, kind, reason)
    if kind == "cluster_block_exception" and "read-only" in reason:
        return WritesRefused("the store takes no writes: its disk is nearly full or its indices are read-only")
    if status == _OVERLOADED:
        return Overloaded("the store has too much to do at the moment")
    if status in _STARTING:
        return Starting("the store refuses requests at the moment")
    is_lost = status == 404 and kind == "search_phase_execution_exception"  # what a point in time held
    if kind == "cluster_block_exception" or status == _TOO_LATE or status >= 500 or is_lost:
        return StoreUnavailable("the store refuses requests at the moment")
    if status in _UNAUTHORISED:
        return CredentialsRefused(
            f"Elasticsearch does not accept this service's credentials ({status}): correct ELASTICSEARCH_API_KEY, "
            "or ELASTICSEARCH_USERNAME and ELASTICSEARCH_PASSWORD"
        )
    return Refused(status, kind, reason)


def bearable_seconds(error: Exception, patience: Patience) -> float:
    """Return for how long after its beginning a request that met this error is sent again."""
    if isinstance(error, Overloaded):
        return patience.value.overloaded_seconds
    return patience.value.starting_seconds if isinstance(error, Starting) else 0


def _kind_and_reason(details: object) -> tuple[str, str]:
    if not isinstance(details, dict):
        return "", str(details)
    return str(details.get("type")), str(details.get("reason"))


def _content(answer: Answer) -> Any:
    try:
        return orjson.loads(answer.body) if answer.body else {}
    except orjson.JSONDecodeError:
        return answer.body.decode(errors="replace")


def _again_seconds(answer: Answer, wait: _Wait) -> float:
    """Return for how long after its beginning a request with that answer is sent again."""
    if answer.status == _OVERLOADED:
        # A full disk is told with the same status.
        return 0 if b"cluster_block_exception" in answer.body else wait.overloaded_seconds
    return wait.starting_seconds if answer.status in _STARTING else 0


class _Watch:
    """Prolongs the wait for an answer while its node answers something else: the cluster is busy, not away."""

    def __init__(self, node: Node, limit: asyncio.Timeout, silent_seconds: float, probe_seconds: float) -> None:
        self._node = node
        self._limit = limit
        self._silent_seconds = silent_seconds
        self._probe_seconds = probe_seconds
        self._loop = asyncio.get_running_loop()
        self._give_up = self._loop.time() + _BUSY_SECONDS
        self._probe: asyncio.Task[None] | None = None

    async def __aenter__(self) -> None:
        self._later = self._loop.call_later(self._silent_seconds, self._look)

    async def __aexit__(self, *error: object) -> None:
        self._later.cancel()
        if self._probe is not None:
            self._probe.cancel()

    def _look(self) -> None:
        self._probe = asyncio.create_task(self._prolong())

    async def _prolong(self) -> None:
        if self._loop.time() < self._give_up and await self._node.is_there():
            self._limit.reschedule(self._loop.time() + self._silent_seconds + self._probe_seconds)
            self._later = self._loop.call_later(self._silent_seconds, self._look)
