"""The one file that knows the Elasticsearch client: a request goes out, its answer or one of these errors comes back.

StoreUnavailable     out of reach, overloaded, or refusing every write
└── AnswerLost       the connection broke: whether the request was carried out is unknown
Refused              an answer that the caller may know how to handle
├── Conflict         the document exists, or was changed since it was read
├── WritesBlocked    the index is being replaced by a rebuilt one; its alias will lead there soon
└── IndexMissing     no such alias or index
"""

from __future__ import annotations

import asyncio
import io
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from enum import Enum
from typing import Any

import structlog
from elastic_transport import AiohttpHttpNode
from elasticsearch import ApiError, AsyncElasticsearch, SerializationError, TransportError
from elasticsearch.serializer import OrjsonSerializer

from intel.errors import ConfigurationError, CredentialsRefused, IocError, StoreUnavailable, WritesRefused
from intel.settings import ElasticsearchSettings

log = structlog.get_logger()

_CONNECTIONS_PER_NODE = 32
_READ_SECONDS = 2.8
_UNBLOCKING_SECONDS = 5.0
_LARGE_BODY_BYTES = 1_000_000
# While shards start, one request passes and the next does not: that is one outage still.
STEADY_SECONDS = 5.0
_OVERLOADED = (429, 502, 503, 504)
_TOO_LATE = 408
_UNAUTHORISED = (401, 403)
_JSON = {"accept": "application/json", "content-type": "application/json"}
_LINES = {"accept": "application/json", "content-type": "application/x-ndjson"}


class _Node(AiohttpHttpNode):
    """Sends large bodies in pieces: sent in one they block the event loop, and aiohttp warns of it.

    Without the client's log of requests, which would read them whole. Once closed, it stays closed: of itself it
    would connect anew, be it to try a request again that was under way, and nobody would close that.
    """

    _closed = False

    async def perform_request(  # type: ignore[override]  # as the client's own asynchronous nodes do
        self, method: str, target: str, body: bytes | None = None, **rest: Any
    ) -> Any:
        if self._closed:
            raise StoreUnavailable("the store is closed")
        if body is None or len(body) <= _LARGE_BODY_BYTES:
            return await super().perform_request(method, target, body, **rest)
        pieces: Any = io.BytesIO(body)
        return await super().perform_request(method, target, pieces, **rest)

    async def close(self) -> None:  # type: ignore[override]  # as above
        self._closed = True
        await super().close()

    def _log_request(self, *_: Any, **__: Any) -> None:
        return


class AnswerLost(StoreUnavailable):
    """The connection broke or the time was up: the request may or may not have been carried out."""


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


class Patience(Enum):
    """How long to wait for an answer, and whether a request may be sent again by itself."""

    READ = "read"
    LONG = "long"
    WRITE = "write"
    LONG_WRITE = "long write"


class Cluster:
    """The connection to the nodes; makes no request by itself."""

    def __init__(self, settings: ElasticsearchSettings, steady_seconds: float = STEADY_SECONDS) -> None:
        """`steady_seconds`: how long after its last trouble an answer says that an outage is over."""
        # The client warns at each failed attempt; an outage is told once, below.
        logging.getLogger("elastic_transport").setLevel(logging.ERROR)
        self._client = _connect(settings)
        nodes = len(settings.nodes)
        self._clients = {
            Patience.READ: self._client.options(
                request_timeout=_READ_SECONDS / min(nodes, 2),
                max_retries=2,
                retry_on_status=_OVERLOADED,
                retry_on_timeout=nodes > 1,
            ),
            Patience.LONG: self._client.options(request_timeout=60, max_retries=2, retry_on_status=(502, 503, 504)),
            Patience.WRITE: self._client.options(request_timeout=5, max_retries=0),
            Patience.LONG_WRITE: self._client.options(request_timeout=60, max_retries=0),
        }
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
        headers = _LINES if isinstance(body, bytes) else _JSON
        client = self._clients[patience]
        writes = patience in (Patience.WRITE, Patience.LONG_WRITE)
        try:
            async with asyncio.timeout(3 if patience is Patience.READ else None):
                answer = await client.perform_request(method, path, params=params, headers=headers, body=body)
        except ApiError as error:
            return self._refused(error, writes)
        except (TransportError, TimeoutError) as error:
            if isinstance(error, SerializationError):
                raise
            raise self._trouble(writes, type(error).__name__, AnswerLost()) from None
        self._works_again(writes)
        return answer.body

    async def close(self) -> None:
        """Close the connections; may be called again."""
        await self._client.close()

    def _refused(self, error: ApiError, writes: bool) -> Any:
        """Return the body of "there is no such document", or raise the error."""
        details = error.body.get("error") if isinstance(error.body, dict) else str(error.body)
        if error.status_code == 404 and details is None:
            self._works_again(writes)
            return error.body
        kind, reason = _kind_and_reason(details)
        refused = as_error(error.status_code, kind, reason)
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
    if kind == "cluster_block_exception" or status in (_TOO_LATE, *_OVERLOADED) or status >= 500:
        return StoreUnavailable("the store refuses requests at the moment")
    if status in _UNAUTHORISED:
        return CredentialsRefused(
            f"Elasticsearch does not accept this service's credentials ({status}): correct ELASTICSEARCH_API_KEY, "
            "or ELASTICSEARCH_USERNAME and ELASTICSEARCH_PASSWORD"
        )
    return Refused(status, kind, reason)


def _kind_and_reason(details: object) -> tuple[str, str]:
    if not isinstance(details, dict):
        return "", str(details)
    return str(details.get("type")), str(details.get("reason"))


def _connect(settings: ElasticsearchSettings) -> AsyncElasticsearch:
    options: dict[str, Any] = {}
    if settings.api_key is not None:
        options["api_key"] = settings.api_key.get_secret_value()
    elif settings.username is not None and settings.password is not None:
        options["basic_auth"] = (settings.username, settings.password.get_secret_value())
    if settings.ca_certs is not None:
        options["ca_certs"] = str(settings.ca_certs)
    nodes = [_with_port(node) for node in settings.nodes]
    try:
        return AsyncElasticsearch(
            nodes,
            node_class=_Node,
            serializer=OrjsonSerializer(),
            connections_per_node=_CONNECTIONS_PER_NODE,
            max_retries=0,
            **options,
        )
    except (ValueError, OSError) as error:
        raise ConfigurationError(f"ELASTICSEARCH_URL or ELASTICSEARCH_CA_CERTS cannot be used: {error}") from None


def _with_port(node: str) -> str:
    scheme, separator, rest = node.partition("://")
    host, slash, path = rest.partition("/")
    if scheme != "http" or host.rpartition("@")[2].rpartition("]")[2].count(":"):
        return node
    return f"{scheme}{separator}{host}:9200{slash}{path}"
