"""The MCP server within the API: loaded with its first request, since most installations never need it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.types import ASGIApp

from api import VERSION

if TYPE_CHECKING:
    from mcp_server.server import HttpServer


class AiClients:
    """Serve AI clients from an app's REST API."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._loading = asyncio.Lock()
        self._server: HttpServer | None = None

    async def server(self) -> HttpServer:
        """Return the ASGI app that answers them."""
        async with self._loading:
            if self._server is None:
                self._server = await asyncio.to_thread(_load, self._app)
        return self._server

    async def close(self) -> None:
        if self._server is not None:
            await self._server.aclose()


def _load(app: ASGIApp) -> HttpServer:
    from mcp_server.client import InProcess
    from mcp_server.server import HttpServer

    return HttpServer(InProcess(app, VERSION), VERSION)
