"""The one file that knows the Elasticsearch client's transport: nodes, which of them answer, and one request to one."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from intel.errors import ConfigurationError, StoreUnavailable
from intel.imports import without
from intel.settings import ElasticsearchSettings
from intel.store.elastic.connections import Broken, Connections

# Each is one more way to connect; with what they stand on, these take 20 MB.
with without("aiohttp", "httpx", "requests"):
    from elastic_transport import NodeConfig
    from elastic_transport._node._base import DEFAULT_CA_CERTS, ssl_context_from_node_config
    from elastic_transport.client_utils import basic_auth_to_header, url_to_node_config

_CONNECTIONS_PER_NODE = 64
_PASSED_OVER_SECONDS = 1.0
_LONGEST_PASSED_OVER_SECONDS = 30.0
# A node that answered anything so short a time ago is there, whatever else it keeps waiting.
_ANSWERED_LATELY_SECONDS = 1.0


class NoAnswer(Exception):
    """The connection could not be made, or broke before the whole answer was there."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a node said."""

    status: int
    body: bytes


class Node:
    """One node of the cluster, with the connections to it; connects when first asked.

    Once closed, it stays closed: a request that is tried again would connect anew, and nobody would close that.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._closed = False
        self._failures = 0
        self._answered_at = self.passed_over_until = 0.0

    async def send(self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]) -> Answer:
        """Return the answer to one request, however long that takes; NoAnswer where there is none."""
        if self._closed:
            raise StoreUnavailable("the store is closed")
        try:
            status, content = await self._connections.ask(method, target, body, headers)
        except Broken as error:
            self.pass_over()
            raise NoAnswer(str(error)) from None
        self._failures, self._answered_at, self.passed_over_until = 0, time.monotonic(), 0.0
        return Answer(status, content)

    async def is_there(self) -> bool:
        """Tell whether the node answered anything a moment ago, or does so now; waits as long as the caller lets it."""
        if time.monotonic() - self._answered_at < _ANSWERED_LATELY_SECONDS:
            return True
        try:
            await self.send("HEAD", "/", None, {})
        except (NoAnswer, StoreUnavailable):
            return False
        return True

    def answered_since(self, moment: float) -> bool:
        """Tell whether the node answered anything after a moment (monotonic seconds)."""
        return self._answered_at > moment

    @property
    def is_passed_over(self) -> bool:
        """Whether other nodes are asked before this one."""
        return self.passed_over_until > time.monotonic()

    def pass_over(self) -> None:
        """Let other nodes be asked before this one for a while, longer each time that it fails; what fails meanwhile,
        such as requests that were sent together, is the same failure.
        """
        if not self.is_passed_over:
            self._failures = min(self._failures + 1, 16)
        pause = min(_PASSED_OVER_SECONDS * 2 ** (self._failures - 1), _LONGEST_PASSED_OVER_SECONDS)
        self.passed_over_until = time.monotonic() + pause

    async def close(self) -> None:
        """Close the connections, also those that wait for an answer."""
        self._closed = True
        await self._connections.close()


class Nodes:
    """All nodes of the cluster; each request goes to the next one that is not passed over."""

    def __init__(self, settings: ElasticsearchSettings) -> None:
        try:
            self.all: Sequence[Node] = [Node(_connections(node, settings)) for node in settings.nodes]
        except (ValueError, OSError) as error:
            raise ConfigurationError(f"ELASTICSEARCH_URL or ELASTICSEARCH_CA_CERTS cannot be used: {error}") from None
        self._next = 0

    @property
    def is_any_passed_over(self) -> bool:
        """Whether some node did not answer lately."""
        return any(node.is_passed_over for node in self.all)

    def choose(self) -> Node:
        """Return the node to ask: one in turn, or the one that is to be asked again soonest."""
        self._next += 1
        if len(self.all) == 1:
            return self.all[0]
        count = len(self.all)
        in_turn = [self.all[(self._next + place) % count] for place in range(count)]
        return min(in_turn, key=lambda node: node.passed_over_until if node.is_passed_over else 0.0)

    async def close(self) -> None:
        """Close all connections; may be called again."""
        await asyncio.gather(*(node.close() for node in self.all))


def _connections(node: str, settings: ElasticsearchSettings) -> Connections:
    place = url_to_node_config(_with_port(node))
    if place.scheme not in ("http", "https"):
        raise ValueError("a node is asked over http or https")
    tls = _tls(place, settings.ca_certs) if place.scheme == "https" else None
    headers = {**place.headers, **_authorization(settings)}
    return Connections(place.host, place.port, place.path_prefix, headers, tls, _CONNECTIONS_PER_NODE)


def _tls(place: NodeConfig, authority: Path | None) -> ssl.SSLContext:
    context = ssl_context_from_node_config(place)
    trusted = authority or DEFAULT_CA_CERTS
    if trusted is not None:
        is_folder = Path(trusted).is_dir()
        context.load_verify_locations(capath=trusted) if is_folder else context.load_verify_locations(cafile=trusted)
    return context


def _authorization(settings: ElasticsearchSettings) -> dict[str, str]:
    """Return what the settings say; credentials in the address of a node are the client's to send."""
    if settings.api_key is not None:
        return {"authorization": f"ApiKey {settings.api_key.get_secret_value()}"}
    if settings.username is not None and settings.password is not None:
        return {"authorization": basic_auth_to_header((settings.username, settings.password.get_secret_value()))}
    return {}


def _with_port(node: str) -> str:
    scheme, separator, rest = node.partition("://")
    host, slash, path = rest.partition("/")
    if scheme != "http" or host.rpartition("@")[2].rpartition("]")[2].count(":"):
        return node
    return f"{scheme}{separator}{host}:9200{slash}{path}"
