"""`ioc serve` and `ioc worker`."""

from __future__ import annotations

import asyncio
import errno
import functools
import signal
import socket
import sys
from collections.abc import Callable, Sequence

import uvicorn
from fastapi import FastAPI

from api import VERSION
from api.app import create_app
from api.cli.preflight import check_parts
from api.cli.running import say
from api.limits.shared import SharedBuckets
from api.logs import configure_logs
from api.metrics import tell_work
from api.searches.telling import open_telling
from api.server.memory import use_one_heap
from api.server.shared_texts import SharedTexts
from api.server.workers import Workers
from api.worker import Worker
from ingest.assembly import open_catalogues, open_following, open_ingest
from ingest.queue.hints import Hints
from ingest.queue.redis import ArqQueue, run_worker
from ingest.retention import open_retention
from ingest.roundups import build_newest_weeks
from ingest.submitting import Submitting
from ingest.work import keep_marking, upkeep
from intel.awareness import load_lessons
from intel.errors import ConfigurationError, IocError
from intel.settings import Settings, load_settings
from intel.store import open_store
from intel.times import utc_now
from intel.tracing import start_tracing

_SHUTDOWN_SECONDS = 5
_LISTEN_HINTS = {
    errno.EADDRINUSE: "another program (perhaps this service) listens there; try --port 8001",
    errno.EACCES: "this user may not take that port; try --port 8001",
}


def serve(host: str | None, port: int | None, *, workers: int, first_run: bool) -> None:
    """Serve until Ctrl-C or SIGTERM, in as many processes."""
    use_one_heap()
    settings = load_settings()
    given = {name: value for name, value in (("ioc_host", host), ("ioc_port", port)) if value is not None}
    settings = settings.model_copy(update=given)
    listening = _listen(settings, workers)
    check_parts(settings)
    settings = settings.model_copy(update={"ioc_port": listening[0].getsockname()[1]})
    if workers == 1:
        app = create_app(settings)
        _greet(settings, first_run=first_run)
        _serve(app, listening[0], lambda: None)
        return
    _greet(settings, first_run=first_run)
    status = _serve_together(settings, listening)
    if status:
        sys.exit(status)
    say("stopped")


def _greet(settings: Settings, *, first_run: bool) -> None:
    if first_run:
        # What it prints in frames takes 4 MB.
        from api.cli.first_run import greet

        greet(settings)
    else:
        say(f"IOC Intelligence at {settings.base_url} (Ctrl-C ends it)")
    configure_logs()


def _serve_together(settings: Settings, listening: Sequence[socket.socket]) -> int:
    """Serve from one process for each socket; return the exit status."""
    buckets, hints, metrics = SharedBuckets(), Hints.open(), SharedTexts(len(listening))

    def work(number: int, is_ready: Callable[[], None]) -> None:
        app = create_app(settings, worker=Worker(number, buckets, hints, metrics))
        _serve(app, listening[number], is_ready)

    return Workers(len(listening), work).run()


class _Server(uvicorn.Server):
    """A server that says when it is ready."""

    def __init__(self, config: uvicorn.Config, is_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._is_ready = is_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._is_ready()


def _serve(app: FastAPI, listening: socket.socket, is_ready: Callable[[], None]) -> None:
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        # X-Forwarded-For is read by the limits alone, and from trusted proxies only.
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        http="httptools",
        ws="none",
    )
    server = _Server(config, is_ready)
    # The server raises the signal again once it has shut down in order.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:
        say("stopped")
    if not server.started:
        raise IocError("the service could not start; the lines above say why")


def _listen(settings: Settings, count: int) -> list[socket.socket]:
    """Bind the port before anything is made or printed.

    Each process accepts from a socket of its own, among which the kernel divides connections evenly: from one socket
    whoever is idle takes all that wait.
    """
    try:
        first = _bound(settings.ioc_host, settings.ioc_port)
        if count == 1:
            return [first]
        # Only where nobody else listens may several sockets share the port.
        port = first.getsockname()[1]
        first.close()
        return [_bound(settings.ioc_host, port, socket.SO_REUSEPORT) for _ in range(count)]
    except OSError as error:
        where = f"{settings.ioc_host}:{settings.ioc_port}"
        hint = _LISTEN_HINTS.get(error.errno or 0, "give --host or IOC_HOST an address of this machine")
        raise IocError(f"cannot listen on {where} ({error.strerror}): {hint}") from None


def _bound(host: str, port: int, *options: int) -> socket.socket:
    bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    for option in (socket.SO_REUSEADDR, *options):
        bound.setsockopt(socket.SOL_SOCKET, option, 1)
    bound.bind((host, port))
    return bound


def work() -> None:
    """Read submissions until SIGTERM or Ctrl-C, also while Elasticsearch or Redis is out of reach."""
    settings = load_settings()
    if not settings.served or settings.redis_address is None:
        raise ConfigurationError(
            "ioc worker needs ELASTICSEARCH_URL and REDIS_URL; embedded, `ioc serve` does the worker's job itself"
        )
    configure_logs()
    check_parts(settings)
    asyncio.run(_work(settings, settings.redis_address))


async def _work(settings: Settings, redis_address: str) -> None:
    start_tracing(settings.ioc_traces, "worker", VERSION)
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    told = tell_work(settings.ioc_metrics_port, settings.ioc_host) if settings.ioc_metrics_port else None
    store = open_store(settings, observe=told.store_answered) if told else open_store(settings)
    queue, ingest = ArqQueue(redis_address), open_ingest(settings, store, observer=told)
    following = open_following(settings, store, ingest, Submitting(store, queue, ingest.fetch_allow, utc_now))
    telling = open_telling(settings, store, ingest)
    build_weeks = build_newest_weeks(store, load_lessons(), utc_now)
    retention = open_retention(settings, store, utc_now)
    chores = [*([retention.keep] if retention else []), *open_catalogues(settings, store, ingest)]
    ingest.isolation.start()
    marking = functools.partial(keep_marking, store)
    keeping = asyncio.create_task(upkeep(store, queue, utc_now, following, telling, marking, *chores))
    say("reading submissions (Ctrl-C ends it)")
    try:
        await run_worker(redis_address, ingest.work.read, stopping, build_weeks)
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
        await ingest.close()
        await queue.close()
        await store.close()
