"""Quick routes read and refuse query parameters as FastAPI's own do, and describe them alike."""

from __future__ import annotations

from typing import Annotated, Literal

import httpx
from fastapi import APIRouter, FastAPI, Query
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from api.parameters import LimitParameter, SearchParameter
from api.query_route import QueryRoute

QUERIES = (
    "", "q=", "q=a&q=b", "limit=5", "limit=0", "limit=x&status=y", "limit=%205", "limit=9" + "9" * 30, "limit=",
    "deep=1", "deep=maybe", "status=old", "status=new&other=1", "types=a&types=b", "types=", "q=%ff%00", "Q=1",
    "name=a", "limit",
)  # fmt: skip


async def endpoint(
    request: Request,
    q: SearchParameter = None,
    limit: LimitParameter = None,
    status: Literal["new", "old"] | None = None,
    deep: Annotated[bool, Query()] = False,
    types: Annotated[list[str] | None, Query()] = None,
    given: Annotated[str | None, Query(alias="name")] = None,
) -> Response:
    return JSONResponse([request.url.query, q, limit, status, deep, types, given])


async def in_the_path(request: Request, id: str, q: SearchParameter = None) -> Response:
    return JSONResponse([id, q])


def app_of(kind: type[APIRoute]) -> FastAPI:
    router = APIRouter(route_class=kind)
    router.get("/list")(endpoint)
    router.get("/one/{id}")(in_the_path)
    app = FastAPI()
    app.include_router(router, prefix="/api")
    return app


async def test_what_is_asked_is_read_and_refused_as_by_any_other_route() -> None:
    ours, theirs = (httpx.ASGITransport(app_of(kind)) for kind in (QueryRoute, APIRoute))
    async with (
        httpx.AsyncClient(transport=ours, base_url="http://test") as quick,
        httpx.AsyncClient(transport=theirs, base_url="http://test") as usual,
    ):
        for path in ("/api/list", "/api/one/a"):
            for query in QUERIES:
                answers = [await client.get(f"{path}?{query}") for client in (quick, usual)]
                assert answers[0].status_code == answers[1].status_code, query
                assert answers[0].content == answers[1].content, query


def test_the_description_is_the_same() -> None:
    assert app_of(QueryRoute).openapi() == app_of(APIRoute).openapi()
