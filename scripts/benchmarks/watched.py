"""The service with a watch on its event loop (on Linux); `STALLS` tells what was measured since it was asked before."""

from __future__ import annotations

import asyncio
import resource
import time
from pathlib import Path

import orjson
from starlette.types import ASGIApp, Receive, Scope, Send

from api import app as service

APP = f"{__name__}:create_app"
STALLS = "/-/stalls"
_LOOK_SECONDS = 0.002


class Watch:
    """Measures the longest time between two looks at the loop, in seconds.

    `held`: the processor time of the loop's own thread, which no other load on the machine changes. `late`: how late
    the look came, at most the processor time of the whole process; it counts waits for threads that hold Python too.
    """

    def __init__(self) -> None:
        self.held = self.late = 0.0
        self._cpu = time.process_time()

    async def look(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            wall, own, all = time.perf_counter(), time.thread_time(), time.process_time()
            await asyncio.sleep(_LOOK_SECONDS)
            self.held = max(self.held, time.thread_time() - own)
            late = time.perf_counter() - wall - _LOOK_SECONDS
            self.late = max(self.late, min(late, time.process_time() - all))

    def taken(self) -> bytes:
        """Return what was measured since the last call, as JSON, and the resident memory in bytes."""
        cpu = time.process_time()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        found = {"cpu": cpu - self._cpu, "held": self.held, "late": self.late}
        self._cpu, self.held, self.late = cpu, 0.0, 0.0
        return orjson.dumps(found | {"memory": pages * resource.getpagesize()})


def create_app() -> ASGIApp:
    """The whole service, watched from its first request on."""
    app, watch = service.create_app(), Watch()
    looking: list[asyncio.Task[None]] = []

    async def watched(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != STALLS:
            await app(scope, receive, send)
            return
        if not looking:
            looking.append(asyncio.create_task(watch.look()))
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
        await send({"type": "http.response.body", "body": watch.taken()})

    return watched
