"""Replaces uvicorn's protocol with ours, whoever started uvicorn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import structlog
from fastapi import FastAPI
from fastapi.middleware.asyncexitstack import AsyncExitStackMiddleware
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn import Config

from api.limits.client_address import Network
from api.metrics import Metrics
from api.server.connections import Connections
from api.server.limits import connection_limits, raise_open_files
from api.server.protocol import BoundedProtocol
from api.service import Service
from intel.settings import Settings

log = structlog.get_logger()


class BoundedApp(FastAPI):
    """An application that makes the uvicorn which starts it keep to `ConnectionLimits`.

    uvicorn asks its configuration for the protocol at every new connection, and the application starts before the first
    one. So `ioc serve` and `uvicorn api.app:create_app --factory` are bounded alike; any other server is warned about.
    The service stands in `state.service` before the start. A request goes through the application's own middlewares and
    `quick`, which may answer it before the router does; what FastAPI would put around them measures, limits and answers
    what they do already.
    """

    quick: Callable[[ASGIApp], ASGIApp]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            service: Service = self.state.service
            bound(receive, service.settings, service.metrics)
            await super().__call__(scope, receive, send)
            return
        scope["app"] = self
        if self.middleware_stack is None:
            self.middleware_stack = self.build_middleware_stack()
        await self.middleware_stack(scope, receive, send)

    def build_middleware_stack(self) -> ASGIApp:
        """Return the middlewares around the answers to errors, around `quick`, around the router."""
        app: ASGIApp = ExceptionMiddleware(self.quick(AsyncExitStackMiddleware(self.router)), self.exception_handlers)
        for made in reversed(self.user_middleware):
            app = made.cls(app, *made.args, **made.kwargs)
        return app


def bound(receive: Receive, settings: Settings, metrics: Metrics) -> None:
    """Bound the uvicorn whose lifespan messages come from `receive`."""
    config = getattr(getattr(receive, "__self__", None), "config", None)
    if not isinstance(config, Config):
        log.warning("connections are not limited: this server is not uvicorn; start the service by `ioc serve`")
        return
    limits = connection_limits(settings, raise_open_files())
    asked = settings.ioc_most_connections
    if asked is not None and asked > limits.connections:
        log.warning("IOC_MOST_CONNECTIONS is more than the open-files limit allows", most=limits.connections)
    connections = Connections(limits, observe=metrics.connected, refused=metrics.refused_connection)
    take_over(config, connections, settings.ioc_trusted_proxies)


def take_over(config: Config, connections: Connections, trusted: Sequence[Network] = ()) -> None:
    """Have a uvicorn serve all new connections within the limits of `connections`."""
    bounded: Any = partial(BoundedProtocol, connections, trusted)
    config.http_protocol_class = bounded
