"""Ask again elsewhere: a read that gets no answer is put to the nodes that are there, to answer without the one that is
not.

A node that stands still keeps what other nodes ask of it waiting until the cluster notices, half a minute by default.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

import orjson

from intel.errors import StoreUnavailable
from intel.store.elastic.nodes import Answer, NoAnswer, Node, Nodes

# A read that takes longer is put to other nodes as well.
LATE_SECONDS: Final = 0.7
# Some take so long because there is much to read: those are put to others only while a node is away.
_LONG_LATE_SECONDS: Final = 2.0
_THERE_SECONDS: Final = 0.5
# How long what was found of the nodes holds.
_KNOWN_SECONDS: Final = 1.0
_MOST_AT_ONCE: Final = 32
_NODES_ASKED: Final = 2
_NODES_ASKED_LONG: Final = 1
_SEARCH_HEADER: Final = re.compile(rb'^\{"index":"', re.MULTILINE)

# Sends a request (method, target, body, headers) to a node.
Send = Callable[[Node, str, str, bytes | None, Mapping[str, str]], Awaitable[Answer]]


class Elsewhere:
    """Puts reads that take long to other nodes, a bounded number of them at once."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self._at_once = 0
        self._looking: asyncio.Future[list[tuple[str, Node]]] | None = None
        self._looked_at = 0.0
        self._found: list[tuple[str, Node]] = []

    async def first_answer(
        self,
        send: Send,
        node: Node,
        method: str,
        target: str,
        body: bytes | None,
        headers: Mapping[str, str],
        *,
        is_long: bool,
    ) -> Answer:
        """Return the answer of this node, or of whichever answers first once this one takes long.

        A node that stands still is asked after the others from then on, for nothing else would tell: its request is
        given up once another node answers. What a node that is known to be away has copies of is read from others.
        """
        begun = time.monotonic()
        known = self._found if self._nodes.is_any_passed_over else []
        aimed, aimed_body = preferring([id for id, each in known if not each.is_passed_over], target, body)
        first = asyncio.ensure_future(send(node, method, aimed, aimed_body, headers))
        asked: set[asyncio.Future[Answer]] = {first}
        try:
            await asyncio.wait(asked, timeout=_LONG_LATE_SECONDS if is_long else LATE_SECONDS)
            if is_long:
                await self._while_all_are_there(first)
            if first.done() or self._at_once >= _MOST_AT_ONCE:
                return await first
            self._at_once += 1
            try:
                there = await self._there()
                target, body = preferring([id for id, _ in there], target, body)
                others = [each for _, each in there if each is not node] or [each for _, each in there]
                most = _NODES_ASKED_LONG if is_long else _NODES_ASKED
                requests = (send(each, method, target, body, headers) for each in others[:most])
                asked |= {asyncio.ensure_future(request) for request in requests}
                answer = await _first_good(asked)
                if not first.done() and not node.answered_since(begun):
                    node.pass_over()
                return answer
            finally:
                self._at_once -= 1
        finally:
            unanswered = [each for each in asked if each.cancel()]
            if unanswered:
                await asyncio.gather(*unanswered, return_exceptions=True)

    async def _while_all_are_there(self, request: asyncio.Future[Answer]) -> None:
        """Wait for an answer until a node is away: until then it takes so long because there is much to read."""
        while not request.done() and len(await self._there()) == len(self._nodes.all):
            await asyncio.wait({request}, timeout=_LONG_LATE_SECONDS)

    async def _there(self) -> list[tuple[str, Node]]:
        """Return the nodes that answer at this moment, with their ids in the cluster."""
        if self._looking is None or (self._looking.done() and time.monotonic() - self._looked_at > _KNOWN_SECONDS):
            self._looked_at = time.monotonic()
            self._looking = asyncio.ensure_future(self._look())
        return await asyncio.shield(self._looking)

    async def _look(self) -> list[tuple[str, Node]]:
        nodes = [node for node in self._nodes.all if not node.is_passed_over] or self._nodes.all
        ids = await asyncio.gather(*(_id_of(node) for node in nodes))
        self._found = [(id, node) for id, node in zip(ids, nodes, strict=True) if id]
        return self._found


async def _id_of(node: Node) -> str:
    """Return a node's id; an empty text where it does not answer at once."""
    try:
        async with asyncio.timeout(_THERE_SECONDS):
            answer = await node.send("GET", "/_nodes/_local?filter_path=nodes.*.name", None, {})
        return next(iter(orjson.loads(answer.body)["nodes"]), "") if answer.status == 200 else ""
    except TimeoutError:
        node.pass_over()
        return ""
    except (NoAnswer, StoreUnavailable, ValueError, KeyError, TypeError):
        return ""


async def _first_good(requests: set[asyncio.Future[Answer]]) -> Answer:
    """Return the first answer that is none of a failing node, else whatever came last."""
    waiting = requests
    while True:
        done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for request in done:
            if request.exception() is None and request.result().status < 500:
                return request.result()
        if not waiting:
            return await done.pop()


def preferring(ids: Sequence[str], target: str, body: bytes | None) -> tuple[str, bytes | None]:
    """Return a read that is answered from copies of the shards on these nodes, wherever they have any."""
    path, _, query = target.partition("?")
    preference = f"_prefer_nodes:{','.join(ids)}"
    if not ids or path == "/_search":  # what a point in time holds lies where it was opened
        return target, body
    if path.endswith("/_msearch"):
        return target, _SEARCH_HEADER.sub(b'{"preference":"%b","index":"' % preference.encode(), body or b"")
    if "/_doc/" in path or path.endswith(("/_mget", "/_search")):
        return f"{path}?{query}&preference={preference}" if query else f"{path}?preference={preference}", body
    return target, body
