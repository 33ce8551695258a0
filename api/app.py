"""The composition root of the API: one ASGI app, embedded or on the real engines as the settings say."""

from __future__ import annotations

import asyncio
import contextlib
import gc
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import datetime

import structlog
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Match, Mount
from starlette.types import ASGIApp, Receive, Scope, Send

from api import VERSION
from api.accounts.keys import Keys
from api.accounts.passwords import Passwords
from api.answering import AnswerMiddleware, BlankParametersMiddleware, HeadMiddleware, UnforeseenErrorMiddleware
from api.apart import Apart
from api.cursors import Cursors
from api.limits.bucket import Rate
from api.limits.fallback import FallbackLimiter
from api.limits.memory import MemoryLimiter
from api.limits.middleware import LimitMiddleware
from api.limits.policy import Policies
from api.limits.port import Limiter
from api.limits.redis_limiter import RedisLimiter
from api.limits.tiers import Tiers
from api.metrics import Metrics
from api.openapi import describe
from api.problems import CODES_BY_STATUS, Problem, ProblemResponse, problem_of, respond
from api.routes import (
    articles,
    atom,
    awareness,
    candidates,
    catalogues,
    changes,
    description,
    focus,
    health,
    iocs,
    revisions,
    sources,
    submit,
    usage,
    votes,
    weekly,
)
from api.secret import secret_of
from api.server.hosts import HostMiddleware
from api.server.taking_over import BoundedApp
from api.service import Service
from api.web import add_pages, error_page, is_page
from ingest.assembly import Ingest, open_following, open_ingest
from ingest.queue.embedded import EmbeddedQueue
from ingest.queue.port import Queue
from ingest.queue.redis import ArqQueue
from ingest.roundups import build_newest_weeks, keep_weeks
from ingest.submitting import Submitting
from ingest.work import upkeep
from intel.awareness import load_lessons
from intel.errors import IocError, StoreUnavailable
from intel.focus import Focus
from intel.settings import Settings, load_settings
from intel.store import Store, open_store
from intel.times import utc_now

log = structlog.get_logger()

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_ANSWERED_ALIKE = {"GET": ("GET", "HEAD")}

_ROOMS = (
    iocs,
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
    submit,
    usage,
    description,
)


def create_app(settings: Settings | None = None, clock: Callable[[], datetime] = utc_now) -> FastAPI:
    """Return the whole service as one ASGI app; None reads the settings from the environment. Raises
    ConfigurationError.
    """
    settings = settings or load_settings()
    service, ingest = _assemble(settings, clock)
    # Served, the worker does these.
    beside = () if settings.served else _chores(settings, service, ingest)
    app = BoundedApp(
        title="IOC Intelligence",
        version=VERSION,
        lifespan=lambda _: _running(service, ingest, beside),
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    policies = Policies(route for room in _ROOMS for route in room.router.routes)
    app.state.service = service
    app.openapi = lambda: describe(app, policies)  # type: ignore[method-assign]
    for room in _ROOMS:
        app.include_router(room.router, prefix="/api/v1")
    app.include_router(health.router)
    add_pages(app)
    _add_error_answers(app)
    app.add_middleware(UnforeseenErrorMiddleware)
    app.add_middleware(HeadMiddleware)
    app.add_middleware(
        LimitMiddleware,
        limiter=service.limiter,
        tiers=service.tiers,
        policies=policies,
        trusted=settings.ioc_trusted_proxies,
        authenticate=service.keys.authenticate,
        problem=_refusal,
    )
    app.add_middleware(BlankParametersMiddleware)
    app.add_middleware(HostMiddleware, settings=settings, refuse=_wrong_host)
    app.add_middleware(AnswerMiddleware, metrics=service.metrics, https=settings.base_url.startswith("https://"))
    return app


def _assemble(settings: Settings, clock: Callable[[], datetime]) -> tuple[Service, Ingest]:
    store, metrics = open_store(settings, clock), Metrics()
    ingest = open_ingest(settings, store, clock)
    redis = settings.redis_address
    queue: Queue = ArqQueue(redis) if redis else EmbeddedQueue(ingest.work.read)
    service = Service(
        settings=settings,
        store=store,
        queue=queue,
        limiter=_limiter(redis, metrics),
        tiers=Tiers(
            key=Rate.parse(settings.ioc_rate_key),
            list=Rate.parse(settings.ioc_rate_list),
            search=Rate.parse(settings.ioc_rate_search),
            wrong_key=Rate.parse(settings.ioc_rate_wrong_key),
        ),
        keys=Keys(store, clock),
        passwords=Passwords(),
        cursors=Cursors(secret_of(settings)),
        submitting=Submitting(store, queue, ingest.fetch_allow, clock),
        lessons=load_lessons(),
        focus=Focus(store),
        metrics=metrics,
        clock=clock,
        apart=Apart(),
    )
    return service, ingest


def _chores(settings: Settings, service: Service, ingest: Ingest) -> tuple[Callable[[], Awaitable[None]], ...]:
    following = open_following(settings, service.store, ingest, service.submitting, service.clock)
    build_weeks = build_newest_weeks(service.store, service.lessons, service.clock)
    return following, lambda: keep_weeks(build_weeks)


def _limiter(redis: str | None, metrics: Metrics) -> Limiter:
    if redis is None:
        return MemoryLimiter()
    return FallbackLimiter(RedisLimiter(redis), MemoryLimiter(), on_fallback=metrics.limited_without_redis)


@contextlib.asynccontextmanager
async def _running(
    service: Service, ingest: Ingest, beside: Sequence[Callable[[], Awaitable[None]]]
) -> AsyncIterator[None]:
    """Prepare the store, sweep what is due, do what is to be done beside, and close everything at the end.

    Embedded, a store that cannot be made ends the start; served, it may come after us.
    """
    if not service.settings.served:
        await service.store.setup()
    keeping = asyncio.create_task(upkeep(service.store, service.queue, service.clock, *beside))
    checking = asyncio.create_task(_checked(service.store))
    try:
        with _short_collections():
            yield
    finally:
        keeping.cancel()
        checking.cancel()
        await asyncio.gather(keeping, checking, return_exceptions=True)
        await service.queue.close()
        await ingest.close()
        await service.limiter.close()
        service.apart.close()
        await service.store.close()


@contextlib.contextmanager
def _short_collections() -> Iterator[None]:
    """Keep the garbage collector from looking again at what lasts as long as the service.

    Those are 130,000 objects: a full collection of them stops every thread for 60 to 100 ms, in the midst of a request.
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


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
    """People get a page, programs the one error shape."""
    if is_page(request.url.path):
        return await error_page(request, problem)
    return respond(request, problem)


def _invalid(error: RequestValidationError) -> Problem:
    errors = [{"field": _field(item["loc"]), "message": str(item["msg"])[:200]} for item in error.errors()[:20]]
    return Problem(422, "invalid_parameter", f"{errors[0]['field']}: {errors[0]['message']}", errors=errors)


def _allowed(request: Request) -> str:
    """Return the methods that the address does answer to, over all routes that lead there."""
    routes = [route for route in request.app.routes if not isinstance(route, Mount)]
    tried = ((method, {**request.scope, "method": method}) for method in _METHODS)
    found = [name for name, scope in tried if any(route.matches(scope)[0] is Match.FULL for route in routes)]
    return ", ".join(name for method in found or ["GET"] for name in _ANSWERED_ALIKE.get(method, (method,)))


def _field(place: Sequence[int | str]) -> str:
    """Return the parameter or member that a place names, without its place in a list."""
    return next((name for name in reversed(place) if isinstance(name, str)), "request")


def _sentences(error: HTTPException) -> str:
    if error.status_code == 404:
        return "There is nothing at this address."
    if error.status_code == 405:
        return "This address does not answer to that method."
    return str(error.detail)
