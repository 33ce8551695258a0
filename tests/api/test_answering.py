"""How long the reads of one answer may wait in all."""

from __future__ import annotations

import math

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from api.answering import AnswerMiddleware
from api.metrics import Metrics
from intel.store.read_time import ANSWER_SECONDS, ReadTime, read_time


@pytest.mark.asyncio
async def test_each_answer_has_its_own_time_for_reads_until_it_begins() -> None:
    seen: list[tuple[ReadTime | None, float, float]] = []

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        shared = read_time()
        assert shared is not None
        before = shared.left
        shared.spend(1.0, 2.0)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        seen.append((shared, before, shared.left))
        await send({"type": "http.response.body", "body": b""})

    transport = httpx.ASGITransport(AnswerMiddleware(answer, Metrics(), https=False))
    async with httpx.AsyncClient(transport=transport, base_url="http://service.test") as client:
        for path in ("/api/v1/iocs", "/"):
            assert (await client.get(path)).status_code == 200
    assert [(before, after) for _, before, after in seen] == [(ANSWER_SECONDS, math.inf)] * 2
    assert seen[0][0] is not seen[1][0]


def test_reads_beside_each_other_take_the_time_of_an_answer_once() -> None:
    shared = ReadTime()
    shared.spend(10.0, 12.0)
    shared.spend(11.0, 13.0)
    assert shared.left == ANSWER_SECONDS - 3
    shared.spend(13.0, 99.0)
    assert shared.left == 0
