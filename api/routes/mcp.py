"""`/mcp`: the tools for AI clients over streamable HTTP, in place of a local process."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from api.ai_clients import AiClients
from api.limits.policy import access
from api.problems import Problem
from api.service import service_of
from api.web.forgery import comes_from_here

router = APIRouter(include_in_schema=False)


class _AnswerBy(Response):
    """An answer that another ASGI app gives; it also reads the request's body."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__()
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


@router.post("/mcp")
@access(key=True, costs=False, scopes=("read",))
async def mcp(request: Request) -> Response:
    """Answer a message of an AI client; a tool call asks the REST API with the same key and costs what that costs."""
    if not comes_from_here(request.headers, service_of(request).settings.ioc_base_url):
        raise Problem(403, "foreign_origin", "AI clients that run on a page of another site are not served.")
    clients: AiClients = request.app.state.ai_clients
    return _AnswerBy(await clients.server())
