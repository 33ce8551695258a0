"""The composition root of the API: one ASGI app, embedded or on the real engines as the settings say."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gc
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import ModuleType

import structlog
from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from api import VERSION
from api.accounts.boxes import Box
from api.accounts.keys import FEED_TOKENS, Keys
from api.accounts.open_id import OpenId
from api.accounts.passwords import Passwords
from api.ai_clients import AiClients
from api.answering import AnswerMiddleware, BlankParametersMiddleware, HeadMiddleware, UnforeseenErrorMiddleware
from api.apart import Apart
from api.compressing import CompressMiddleware
from api.conditional import ConditionalMiddleware
from api.cursors import Cursors
from api.limits.bucket import Rate
from api.limits.fallback import FallbackLimiter
from api.limits.memory import MemoryLimiter
from api.limits.middleware import LimitMiddleware
from api.limits.policy import PREFIX, Policies
from api.limits.port import Limiter
from api.limits.redis_limiter import RedisLimiter
from api.limits.shared import SharedLimiter
from api.limits.tiers import Tiers
from api.metrics import Metrics
from api.openapi import describe, operation_id
from api.options import OptionsMiddleware, allowed_methods
from api.problems import CODES_BY_STATUS, Problem, ProblemResponse, problem_of, respond
from api.query_route import QuickRoutes
from api.routes import (
    articles,
    atom,
    awareness,
    candidates,
    catalogues,
    changes,
    description,
    export,
    extract,
    focus,
    health,
    iocs,
    mcp,
    misp,
    notes,
    revisions,
    searches,
    sharing,
    sources,
    submit,
    tags,
    taxii,
    usage,
    votes,
    weekly,
)
from api.searches.telling import open_telling
from api.secret import secret_of
from api.server.hosts import HostMiddleware
from api.server.memory import give_back_unused
from api.server.taking_over import BoundedApp
from api.service import Service
from api.uploads import Uploads
from api.web.rendering import FIRST_PAGES
from api.web.routes import add_pages, error_page, is_page
from api.worker import Worker
from ingest.assembly import Ingest, fetch_allow, open_catalogues, open_following, open_ingest
from ingest.fetch.provider import Provider
from ingest.queue.embedded import EmbeddedQueue
from ingest.queue.hints import HintingQueue
from ingest.queue.port import Queue
from ingest.queue.redis import ArqQueue
from ingest.retention import open_retention
from ingest.roundups import Roundups, build_newest_weeks, keep_weeks
from ingest.submitting import Submitting
from ingest.work import keep_marking, upkeep
from intel.awareness import load_lessons
from intel.errors import IocError, StoreDamaged, StoreUnavailable
from intel.focus import Focus
from intel.settings import Settings, load_settings
from intel.store import Store, open_store
from intel.times import utc_now
from intel.tracing import start_tracing

log = structlog.get_logger()

_ROOMS = (
    iocs,
    export,
    tags,
    notes,
    sharing,
    votes,
    changes,
    articles,
    revisions,
    candidates,
    weekly,
    focus,
    awareness,
    atom,
    catalogues,
    sources,
    searches,
    submit,
    extract,
    usage,
    description,
)

_ROOMS_AT_ROOT = (mcp, misp, taxii)

# A change of threads costs a hundredth of it.
_TURN_SECONDS = 0.0005
# After so many new objects, a megabyte or two, the garbage collector looks at them; each tenth time also at older ones.
_SELDOM = (10_000, 10, 10)


def create_app(
    settings: Settings | None = None, clock: Callable[[], datetime] = utc_now, worker: Worker | None = None
) -> FastAPI:
    """Return the whole service as one ASGI app; None reads the settings from the environment.

    `worker` says which part this process has where several serve together. Raises ConfigurationError.
    """
    settings = settings or load_settings()
    start_tracing(settings.ioc_traces, "server", VERSION)
    service, ingest = _assemble(settings, clock, worker)
    keep = _upkeep(service, ingest, worker)
    app = BoundedApp(
        title="IOC Intelligence",
        version=VERSION,
        lifespan=lambda app: _running(app, service, ingest, keep),
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    policies = Policies(_routes(_ROOMS), _routes(_ROOMS_AT_ROOT))
    app.state.service = service
    app.state.ai_clients = AiClients(app)
    app.openapi = lambda: describe(app, policies)  # type: ignore[method-assign]
    app.router.routes += _included().routes
    add_pages(app)
    app.quick = lambda router: QuickRoutes(router, PREFIX, _routes(_ROOMS))
    _add_error_answers(app)
    app.add_middleware(UnforeseenErrorMiddleware)
    app.add_middleware(ConditionalMiddleware)
    app.add_middleware(CompressMiddleware)
    app.add_middleware(HeadMiddleware)
    app.add_middleware(
        LimitMiddleware,
        limiter=service.limiter,
        tiers=service.tiers,
        policies=policies,
        trusted=settings.ioc_trusted_proxies,
        authenticate=service.keys.authenticate,
        authenticate_token=service.feed_tokens.authenticate,
        problem=_refusal,
    )
    app.add_middleware(OptionsMiddleware, origins=settings.ioc_cors_origins)
    app.add_middleware(BlankParametersMiddleware)
    app.add_middleware(HostMiddleware, settings=settings, refuse=_wrong_host)
    app.add_middleware(AnswerMiddleware, metrics=service.metrics, https=settings.base_url.startswith("https://"))
    return app


@functools.cache
def _included() -> APIRouter:
    """Return the endpoints at their places. What FastAPI prepares on their first use takes longer than the rest of an
    application, and is the same for all of one process.
    """
    router = APIRouter(redirect_slashes=False, generate_unique_id_function=operation_id)
    for room in _ROOMS:
        router.include_router(room.router, prefix=PREFIX)
    for room in (health, *_ROOMS_AT_ROOT):
        router.include_router(room.router)
    return router


def _routes(rooms: Iterable[ModuleType]) -> Iterator[BaseRoute]:
    for room in rooms:
        yield from room.router.routes


def _assemble(settings: Settings, clock: Callable[[], datetime], worker: Worker | None) -> tuple[Service, Ingest]:
    metrics = Metrics(worker.number, worker.metrics) if worker else Metrics()
    store = open_store(settings, clock, metrics.work.store_answered)
    ingest = open_ingest(settings, store, clock, metrics.work)
    redis = settings.redis_address
    queue, lessons = _queue(redis, ingest, worker), load_lessons()
    service = Service(
        settings=settings,
        store=store,
        queue=queue,
        limiter=_limiter(redis, metrics, worker),
        tiers=Tiers(
            key=Rate.parse(settings.ioc_rate_key),
            list=Rate.parse(settings.ioc_rate_list),
            search=Rate.parse(settings.ioc_rate_search),
            wrong_key=Rate.parse(settings.ioc_rate_wrong_key),
            export=Rate.parse(settings.ioc_rate_export),
        ),
        keys=Keys(store, clock),
        feed_tokens=Keys(store, clock, FEED_TOKENS),
        passwords=Passwords(),
        cursors=Cursors(secret_of(settings)),
        submitting=Submitting(store, queue, ingest.fetch_allow, clock),
        lessons=lessons,
        focus=Focus(store),
        roundups=Roundups(store, lessons, clock),
        metrics=metrics,
        clock=clock,
        apart=Apart(),
        isolation=ingest.isolation,
        uploads=Uploads(),
        open_id=_open_id(settings),
    )
    return service, ingest


def _open_id(settings: Settings) -> OpenId | None:
    if settings.ioc_oidc_issuer is None or settings.ioc_oidc_client_id is None:
        return None
    secret = settings.ioc_oidc_client_secret
    return OpenId(
        issuer=settings.ioc_oidc_issuer,
        client_id=settings.ioc_oidc_client_id,
        client_secret=secret.get_secret_value() if secret else None,
        domains=tuple(domain.casefold() for domain in settings.ioc_oidc_domains),
        provider=Provider(settings.ioc_oidc_issuer, fetch_allow(settings)),
        box=Box(secret_of(settings)),
    )


def _upkeep(service: Service, ingest: Ingest, worker: Worker | None) -> Callable[[], Awaitable[None]]:
    """Return what goes on beside requests: of several workers the first one does it for all."""
    if worker is not None and not worker.is_first:
        return service.metrics.keep_published
    beside: list[Callable[[], Awaitable[None]]] = [service.metrics.keep_published] if worker else []
    # Served, `ioc worker` does these.
    if not service.settings.served:
        beside += _chores(service, ingest)
        if worker is not None:
            beside.append(lambda: worker.hints.pass_on(service.store, service.queue))
    return lambda: upkeep(service.store, service.queue, service.clock, *beside)


def _chores(service: Service, ingest: Ingest) -> tuple[Callable[[], Awaitable[None]], ...]:
    following = open_following(service.settings, service.store, ingest, service.submitting, service.clock)
    build_weeks = build_newest_weeks(service.store, service.lessons, service.clock)
    telling = open_telling(service.settings, service.store, ingest, service.clock)
    retention = open_retention(service.settings, service.store, service.clock)
    fresh = open_catalogues(service.settings, service.store, ingest, service.clock)

    async def weeks() -> None:
        # What large weeks there are is computed from the start on: readers are told less until then.
        await service.roundups.compute_large()
        await keep_weeks(service.roundups.compute_large, build_weeks)

    async def marking() -> None:
        await keep_marking(service.store)

    return following, weeks, telling, marking, *([retention.keep] if retention else ()), *fresh


def _queue(redis: str | None, ingest: Ingest, worker: Worker | None) -> Queue:
    if redis is not None:
        return ArqQueue(redis)
    return EmbeddedQueue(ingest.work.read) if worker is None or worker.is_first else HintingQueue(worker.hints)


def _limiter(redis: str | None, metrics: Metrics, worker: Worker | None) -> Limiter:
    local = MemoryLimiter() if worker is None else SharedLimiter(worker.buckets)
    if redis is None:
        return local
    return FallbackLimiter(RedisLimiter(redis), local, on_fallback=metrics.limited_without_redis)


@contextlib.asynccontextmanager
async def _running(
    app: FastAPI, service: Service, ingest: Ingest, keep: Callable[[], Awaitable[None]]
) -> AsyncIterator[None]:
    """Prepare the store, `keep` it meanwhile, and close everything at the end.

    Embedded, a store that cannot be made ends the start, but one that is damaged does not: it is logged, `/readyz` says
    so, and what can be read is. Served, the store may come after us.
    """
    if not service.settings.served:
        with contextlib.suppress(StoreDamaged):
            await service.store.setup()
    _prepare(app)
    keeping = asyncio.ensure_future(keep())
    checking = asyncio.create_task(_checked(service.store))
    trimming = asyncio.create_task(give_back_unused())
    try:
        with _short_collections(), _short_turns():
            yield
    finally:
        keeping.cancel()
        checking.cancel()
        trimming.cancel()
        await asyncio.gather(keeping, checking, trimming, return_exceptions=True)
        await app.state.ai_clients.close()
        await service.roundups.close()
        await service.queue.close()
        await ingest.close()
        await service.limiter.close()
        service.apart.close()
        await service.store.close()


@contextlib.contextmanager
def _short_collections() -> Iterator[None]:
    """Keep the garbage collector from looking again at what lasts as long as the service, and often at what does not.

    Those are 130,000 objects: a full collection of them stops every thread for 60 to 100 ms, in the midst of a request.
    What requests make goes without it, but for rare cycles: to look every 700 objects took a twentieth of the time of a
    list.
    """
    usual = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*_SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()


@contextlib.contextmanager
def _short_turns() -> Iterator[None]:
    """Let no thread that computes hold back for long whoever answers: requests come in while articles are saved and
    weeks are told, and each would wait for a turn of 5 ms to end, ten times as long as a look-up takes.
    """
    usual = sys.getswitchinterval()
    sys.setswitchinterval(_TURN_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


def _prepare(app: FastAPI) -> None:
    """Do before the first request what it would wait for: routes and templates are made on their first use, once in a
    process, which takes longer than a page.
    """
    for route in app.routes:
        route.matches({"type": "http", "method": "GET", "path": "/\0", "root_path": "", "headers": []})
    app.state.templates.compile(FIRST_PAGES)


async def _checked(store: Store) -> None:
    """Look once, beside the first requests, whether the store is whole; it logs and remembers what is not."""
    with contextlib.suppress(StoreUnavailable):
        await store.check()


def _refusal(status: int, code: str, detail: str, headers: Mapping[str, str]) -> ASGIApp:
    async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
        answer = ProblemResponse(Problem(status, code, detail, headers=headers), scope["path"])
        await answer(scope, receive, send)

    return refuse


def _wrong_host(status: int, detail: str) -> ASGIApp:
    problem = _refusal(status, "unknown_host" if status == 421 else "invalid_host", detail, {})
    plain = PlainTextResponse(f"{detail}\n", status)

    async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
        await (plain if is_page(scope["path"]) else problem)(scope, receive, send)

    return refuse


def _add_error_answers(app: FastAPI) -> None:
    async def problem(request: Request, error: Exception) -> Response:
        assert isinstance(error, Problem)  # noqa: S101 - registered for Problem alone
        return await _answer(request, error)

    async def ours(request: Request, error: Exception) -> Response:
        assert isinstance(error, IocError)  # noqa: S101 - registered for IocError alone
        answer = problem_of(error)
        if answer.status == 500:
            log.error("an error without an answer of its own", error=repr(error))
        return await _answer(request, answer)

    async def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for that alone
        return await _answer(request, _invalid(error))

    async def plain(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # noqa: S101 - registered for HTTPException alone
        code = CODES_BY_STATUS.get(error.status_code, "error")
        headers = {"Allow": _allowed(request)} if error.status_code == 405 else error.headers
        return await _answer(request, Problem(error.status_code, code, _sentences(error), headers=headers))

    app.add_exception_handler(Problem, problem)
    app.add_exception_handler(IocError, ours)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, plain)


async def _answer(request: Request, problem: Problem) -> Response:
    """Answer people with a page, programs with the one error shape."""
    if is_page(request.url.path):
        return await error_page(request, problem)
    return respond(request, problem)


def _invalid(error: RequestValidationError) -> Problem:
    errors = [{"field": _field(item["loc"]), "message": str(item["msg"])[:200]} for item in error.errors()[:20]]
    return Problem(422, "invalid_parameter", f"{errors[0]['field']}: {errors[0]['message']}", errors=errors)


def _allowed(request: Request) -> str:
    return ", ".join(allowed_methods(request.scope, request.app.routes) or ["GET", "HEAD"])


def _field(place: Sequence[int | str]) -> str:
    """Return the parameter or member that a place names, without its place in a list."""
    return next((name for name in reversed(place) if isinstance(name, str)), "request")


def _sentences(error: HTTPException) -> str:
    if error.status_code == 404:
        return "There is nothing at this address."
    if error.status_code == 405:
        return "This address does not answer to that method."
    return str(error.detail)
