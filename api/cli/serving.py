"""`ioc serve` and `ioc worker`."""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
import sys

import uvicorn

from api.app import create_app
from api.cli.first_run import greet
from api.cli.preflight import check_parts
from api.cli.running import say
from api.logs import configure_logs
from ingest.assembly import open_following, open_ingest
from ingest.queue.redis import ArqQueue, run_worker
from ingest.roundups import build_newest_weeks
from ingest.submitting import Submitting
from ingest.work import upkeep
from intel.awareness import load_lessons
from intel.errors import ConfigurationError, IocError
from intel.settings import Settings, load_settings
from intel.store import open_store
from intel.times import utc_now

_SHUTDOWN_SECONDS = 5
_LISTEN_HINTS = {
    errno.EADDRINUSE: "another program (perhaps this service) listens there; try --port 8001",
    errno.EACCES: "this user may not take that port; try --port 8001",
}


def serve(host: str | None, port: int | None, *, first_run: bool) -> None:
    """Serve until Ctrl-C or SIGTERM."""
    settings = load_settings()
    given = {name: value for name, value in (("ioc_host", host), ("ioc_port", port)) if value is not None}
    settings = settings.model_copy(update=given)
    listening = _listen(settings)
    check_parts(settings)
    settings = settings.model_copy(update={"ioc_port": listening.getsockname()[1]})
    app = create_app(settings)
    if first_run:
        greet(settings)
    else:
        say(f"IOC Intelligence at {settings.base_url} (Ctrl-C ends it)")
    configure_logs()
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
    server = uvicorn.Server(config)
    # The server raises the signal again once it has shut down in order.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:
        say("stopped")
    if not server.started:
        raise IocError("the service could not start; the lines above say why")


def _listen(settings: Settings) -> socket.socket:
    """Bind the port before anything is made or printed."""
    family = socket.AF_INET6 if ":" in settings.ioc_host else socket.AF_INET
    try:
        taken = socket.socket(family)
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind((settings.ioc_host, settings.ioc_port))
    except OSError as error:
        where = f"{settings.ioc_host}:{settings.ioc_port}"
        hint = _LISTEN_HINTS.get(error.errno or 0, "give --host or IOC_HOST an address of this machine")
        raise IocError(f"cannot listen on {where} ({error.strerror}): {hint}") from None
    return taken


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
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    store, queue = open_store(settings), ArqQueue(redis_address)
    ingest = open_ingest(settings, store)
    following = open_following(settings, store, ingest, Submitting(store, queue, ingest.fetch_allow, utc_now))
    build_weeks = build_newest_weeks(store, load_lessons(), utc_now)
    ingest.isolation.start()
    keeping = asyncio.create_task(upkeep(store, queue, utc_now, following))
    say("reading submissions (Ctrl-C ends it)")
    try:
        await run_worker(redis_address, ingest.work.read, stopping, build_weeks)
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
        await ingest.close()
        await queue.close()
        await store.close()
