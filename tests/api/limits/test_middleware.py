"""The middleware around a small real application, asked over HTTP in process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from ipaddress import ip_network

import httpx
import pytest
import pytest_asyncio
from fastapi import APIRouter
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from api.limits.bucket import Rate
from api.limits.caller import CALLER, Caller
from api.limits.memory import MemoryLimiter
from api.limits.middleware import LimitMiddleware
from api.limits.policy import Policies, access
from api.limits.tiers import Tiers
from intel.errors import StoreUnavailable
from intel.records import SCOPES, Role
from intel.records import Scope as KeyScope
from tests.cases import each
from tests.contract.limiter.worlds import ManualClock

pytestmark = pytest.mark.asyncio

RIGHT = {"Authorization": "Bearer ioc_right"}
WRONG = {"Authorization": "Bearer ioc_wrong"}


@dataclass(frozen=True)
class Identity:
    key_id: str
    account_id: str
    role: Role = "submitter"
    scopes: tuple[KeyScope, ...] = SCOPES
    expires_at: datetime | None = None


described = APIRouter()


@described.get("/iocs")
@described.get("/articles")
@described.get("/walked/{id}/list")
async def paged(cursor: str | None = None) -> None: ...


@described.post("/iocs/lookup")
@described.post("/submit")
@described.put("/iocs/{id}/vote")
async def written() -> None: ...


@described.post("/told")
@access()
async def told() -> None: ...


@described.get("/submissions/{id}")
@access(key=True)
async def own() -> None: ...


@described.get("/usage")
@access(key=True, costs=False)
async def usage() -> None: ...


@described.get("/openapi.json")
@described.get("/docs")
@access(watched=False)
async def description() -> None: ...


class Accounts:
    """The keys `ioc_right` and `ioc_other`, until the store is gone."""

    def __init__(self) -> None:
        self.out_of_reach = False
        self.asked: list[str] = []

    async def authenticate(self, key: str) -> Identity | None:
        self.asked.append(key)
        if self.out_of_reach:
            raise StoreUnavailable(retry_after_seconds=7)
        return Identity(key, "account-1") if key in ("ioc_right", "ioc_other") else None


class Service:
    """The application behind the middleware, and the world it stands in."""

    def __init__(self) -> None:
        self.accounts = Accounts()
        self.clock = ManualClock()
        routes = [
            Route("/api/v1/iocs", self._whoami),
            Route("/api/v1/iocs/lookup", self._read_body, methods=["POST"]),
            Route("/api/v1/submit", self._read_body, methods=["POST"]),
            Route("/api/v1/broken", self._break),
            Route("/api/v1/busy", self._busy),
            Route("/api/v1/told", self._whoami, methods=["POST"]),
            Route("/api/v1/iocs/{id}/vote", self._whoami, methods=["PUT"]),
            Route("/{path:path}", self._whoami),
        ]
        self.app = LimitMiddleware(
            Starlette(routes=routes),
            limiter=MemoryLimiter(clock=self.clock),
            policies=Policies(described.routes),
            tiers=Tiers(key=Rate(100, 60), list=Rate(30, 60), search=Rate(10, 3600), wrong_key=Rate(10, 60)),
            trusted=[ip_network("127.0.0.0/8")],
            authenticate=self.accounts.authenticate,
            authenticate_token=self.accounts.authenticate,
            problem=problem,
        )

    def client(self, address: str = "192.0.2.1") -> httpx.AsyncClient:
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False, client=(address, 4711))
        return httpx.AsyncClient(transport=transport, base_url="http://service.example")

    async def _whoami(self, request: Request) -> Response:
        caller: Caller | None = request.scope.get(CALLER)
        if caller is None:
            return JSONResponse({"tier": None})
        account = caller.identity.account_id if caller.identity else None
        results = caller.results_limit(1_000)
        return JSONResponse({"tier": caller.tier.name, "account": account, "results": results, "from": caller.address})

    async def _read_body(self, request: Request) -> Response:
        return JSONResponse({"read": len(await request.body())})

    async def _break(self, request: Request) -> Response:
        raise RuntimeError("unforeseen")

    async def _busy(self, request: Request) -> Response:
        return Response(status_code=503, headers={"Retry-After": "9"})


class Problem:
    """A refusal as the application renders it."""

    def __init__(self, status: int, body: Mapping[str, object], headers: Mapping[str, str]) -> None:
        self._response = JSONResponse(body, status, headers, "application/problem+json")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._response(scope, receive, send)


def problem(status: int, code: str, detail: str, headers: Mapping[str, str]) -> Problem:
    return Problem(status, {"status": status, "code": code, "detail": detail}, headers)


@pytest.fixture
def service() -> Service:
    return Service()


@pytest_asyncio.fixture
async def client(service: Service) -> AsyncIterator[httpx.AsyncClient]:
    async with service.client() as made:
        yield made


async def statuses(client: httpx.AsyncClient, times: int, path: str, headers: Mapping[str, str]) -> list[int]:
    return [(await client.get(path, headers=headers)).status_code for _ in range(times)]


def limit_of(answer: httpx.Response) -> tuple[str, str]:
    return answer.headers["ratelimit-policy"], answer.headers["x-ratelimit-remaining"]


LIST_POLICY, SEARCH_POLICY = '"list";q=30;w=60', '"search";q=10;w=3600'
KEY_POLICY, WRONG_POLICY = '"key";q=100;w=60', '"wrong-key";q=10;w=60'


async def test_a_visitor_s_list_costs_one_of_thirty_a_minute(client: httpx.AsyncClient) -> None:
    answer = await client.get("/api/v1/iocs")
    assert answer.json() == {"tier": "list", "account": None, "results": 50, "from": "192.0.2.1"}
    assert limit_of(answer) == (LIST_POLICY, "29")
    assert "retry-after" not in answer.headers


async def test_a_visitor_s_search_costs_one_of_ten_an_hour_and_answers_ten(client: httpx.AsyncClient) -> None:
    answer = await client.get("/api/v1/iocs?q=evil")
    assert (answer.json()["tier"], answer.json()["results"]) == ("search", 10)
    assert limit_of(answer) == (SEARCH_POLICY, "9")


async def test_a_key_pays_for_everything_from_its_own_bucket(client: httpx.AsyncClient) -> None:
    first = await client.get("/api/v1/iocs?q=evil", headers=RIGHT)
    second = await client.post("/api/v1/submit", headers=RIGHT, content=b"{}")
    third = await client.get("/api/v1/iocs", headers={"Authorization": "Bearer ioc_other"})
    assert [limit_of(answer) for answer in (first, second, third)] == [
        (KEY_POLICY, "99"),
        (KEY_POLICY, "98"),
        (KEY_POLICY, "99"),
    ]
    assert first.json() == {"tier": "key", "account": "account-1", "results": 50, "from": "192.0.2.1"}


@each("query", ["q=%20", "q=", "q=+%09", "q=%E3%80%80", "value=", "q=&value=%20", "type=q", "Q=evil", "limit=3"])
async def test_a_blank_q_is_absent(client: httpx.AsyncClient, query: str) -> None:
    assert limit_of(await client.get(f"/api/v1/iocs?{query}"))[0] == LIST_POLICY


@each("query", ["q=%3F%3F", "value=a", "%71=evil", "q=&q=evil", "q=evil&q=", "q=%00", "q=%ff"])
async def test_anything_else_in_q_or_value_is_a_search(client: httpx.AsyncClient, query: str) -> None:
    assert limit_of(await client.get(f"/api/v1/iocs?{query}"))[0] == SEARCH_POLICY


async def test_an_empty_bucket_answers_429_with_a_true_retry_after(service: Service, client: httpx.AsyncClient) -> None:
    assert await statuses(client, 11, "/api/v1/iocs?q=evil", {}) == [200] * 10 + [429]
    refusal = await client.get("/api/v1/iocs?q=evil")
    assert (refusal.json()["code"], refusal.headers["retry-after"]) == ("rate_limited", "360")
    assert refusal.headers["content-type"] == "application/problem+json"
    assert limit_of(refusal) == (SEARCH_POLICY, "0")
    service.clock.now += 360
    assert await statuses(client, 2, "/api/v1/iocs?q=evil", {}) == [200, 429]


async def test_an_empty_search_bucket_leaves_lists_alone(client: httpx.AsyncClient) -> None:
    await statuses(client, 11, "/api/v1/iocs?q=evil", {})
    assert (await client.get("/api/v1/iocs")).status_code == 200


async def test_another_address_has_buckets_of_its_own(service: Service, client: httpx.AsyncClient) -> None:
    assert (await statuses(client, 31, "/api/v1/iocs", {}))[-1] == 429
    async with service.client("192.0.2.2") as neighbour:
        assert (await neighbour.get("/api/v1/iocs")).status_code == 200


async def test_behind_a_trusted_proxy_the_bucket_is_the_forwarded_client_s(service: Service) -> None:
    async with service.client("127.0.0.1") as proxy:
        plain = await proxy.get("/api/v1/iocs", headers={"X-Forwarded-For": "203.0.113.7"})
        forged = await proxy.get("/api/v1/iocs", headers={"X-Forwarded-For": "198.51.100.1, 203.0.113.7"})
    assert (limit_of(plain)[1], limit_of(forged)[1]) == ("29", "28")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/api/v1/iocs/x/y", 200), ("POST", "/api/v1/iocs", 405), ("GET", "/api/v1/broken", 500)],
)
async def test_every_answer_of_a_limited_path_costs_and_says_so(
    client: httpx.AsyncClient, method: str, path: str, status: int
) -> None:
    answer = await client.request(method, path)
    assert (answer.status_code, limit_of(answer)) == (status, (LIST_POLICY, "29"))


async def test_an_answer_that_has_its_own_retry_after_keeps_it_alone(client: httpx.AsyncClient) -> None:
    answer = await client.get("/api/v1/busy")
    assert answer.headers.get_list("retry-after") == ["9"]


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS"])
async def test_other_reading_methods_are_limited_as_get(client: httpx.AsyncClient, method: str) -> None:
    answer = await client.request(method, "/api/v1/iocs?q=evil")
    assert limit_of(answer) == (SEARCH_POLICY, "9")


@each("path", ["/healthz", "/", "/api/v1/openapi.json", "/api/v1/docs", "/api/v2/iocs", "/api/v1x"])
async def test_other_paths_are_never_limited(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.get(path, headers=WRONG)
    assert answer.json() == {"tier": None}
    assert not [name for name in answer.headers if "ratelimit" in name]


@pytest.mark.parametrize(
    "value",
    [
        "",
        "Bearer",
        "Bearer ",
        "Basic Zm9vOmJhcg==",
        "ioc_right",
        "Bearer ioc_right ioc_right",
        "Bearer ioc_right, Bearer ioc_right",
        "Bearer\tioc_right",
        "Bearer " + "x" * 3_000,
        "Bearer ioc_right\xe9",
    ],
)
async def test_a_malformed_authorization_is_401_and_never_the_anonymous_tier(
    service: Service, client: httpx.AsyncClient, value: str
) -> None:
    answer = await client.get("/api/v1/iocs", headers=[(b"Authorization", value.encode("latin-1"))])
    assert (answer.status_code, answer.json()["code"]) == (401, "invalid_api_key")
    assert answer.headers["www-authenticate"] == "Bearer"
    assert limit_of(answer) == (WRONG_POLICY, "9")
    assert service.accounts.asked == []


async def test_two_authorization_headers_are_401(client: httpx.AsyncClient) -> None:
    twice: Sequence[tuple[str, str]] = [*RIGHT.items(), *RIGHT.items()]
    answer = await client.get("/api/v1/iocs", headers=twice)
    assert (answer.status_code, answer.json()["code"]) == (401, "invalid_api_key")


async def test_the_scheme_is_read_in_any_case(client: httpx.AsyncClient) -> None:
    assert (await client.get("/api/v1/iocs", headers={"Authorization": "bearer ioc_right"})).status_code == 200


async def test_ten_wrong_keys_a_minute_are_told_so_and_then_refused(client: httpx.AsyncClient) -> None:
    assert await statuses(client, 12, "/api/v1/iocs", WRONG) == [401] * 10 + [429] * 2


async def test_where_wrong_keys_were_tried_right_ones_and_visitors_still_pass(client: httpx.AsyncClient) -> None:
    await statuses(client, 12, "/api/v1/iocs", WRONG)
    assert await statuses(client, 1, "/api/v1/iocs", RIGHT) == [200]
    assert await statuses(client, 1, "/api/v1/iocs", {}) == [200]


KEYED = [
    ("POST", "/api/v1/iocs/lookup"),
    ("POST", "/api/v1/submit"),
    ("GET", "/api/v1/submissions/abc"),
    ("HEAD", "/api/v1/submissions/abc"),
    ("GET", "/api/v1/usage"),
    ("GET", "/api/v1/iocs?cursor=abc"),
    ("GET", "/api/v1/articles?q=x&cursor=abc"),
    ("GET", "/api/v1/walked/abc/list?cursor=abc"),
    ("PUT", "/api/v1/iocs/abc/vote"),
]


@pytest.mark.parametrize(("method", "path"), KEYED)
async def test_what_needs_a_key_is_401_without_one(client: httpx.AsyncClient, method: str, path: str) -> None:
    answer = await client.request(method, path)
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert limit_of(answer) == (WRONG_POLICY, "9")
    if method != "HEAD":
        assert answer.json()["code"] == "missing_api_key"


@each(("method", "path"), KEYED)
async def test_what_needs_a_key_is_answered_to_one(client: httpx.AsyncClient, method: str, path: str) -> None:
    assert (await client.request(method, path, headers=RIGHT)).status_code == 200


async def test_a_route_that_says_so_takes_posts_from_everybody(client: httpx.AsyncClient) -> None:
    assert (await client.post("/api/v1/told")).status_code == 200


async def test_a_blank_cursor_is_absent(client: httpx.AsyncClient) -> None:
    assert (await client.get("/api/v1/iocs?cursor=%20")).status_code == 200


async def test_a_cursor_where_nothing_is_paged_is_ignored(client: httpx.AsyncClient) -> None:
    assert (await client.get("/api/v1/iocs/abc?cursor=abc")).status_code == 200


@pytest.mark.parametrize("headers", [[], [(b"authorization", b"Bearer ioc_wrong")]])
async def test_401_comes_before_the_body_is_read(service: Service, headers: list[tuple[bytes, bytes]]) -> None:
    sent: list[Message] = []

    async def receive() -> Message:
        raise AssertionError("the body was asked for")

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/api/v1/submit", "query_string": b"", "headers": headers}
    await service.app(scope, receive, send)
    assert sent[0]["status"] == 401


async def test_usage_costs_nothing_and_passes_beside_an_empty_bucket(client: httpx.AsyncClient) -> None:
    await statuses(client, 100, "/api/v1/iocs", RIGHT)
    assert await statuses(client, 5, "/api/v1/usage", RIGHT) == [200] * 5
    assert (await client.get("/api/v1/iocs", headers=RIGHT)).status_code == 429


async def test_usage_tells_its_handler_who_asks(client: httpx.AsyncClient) -> None:
    answer = await client.get("/api/v1/usage", headers=RIGHT)
    assert answer.json()["account"] == "account-1"
    assert "ratelimit" not in answer.headers


async def test_guessing_keys_at_usage_is_limited_too(client: httpx.AsyncClient) -> None:
    assert await statuses(client, 11, "/api/v1/usage", WRONG) == [401] * 10 + [429]


async def test_a_key_that_cannot_be_checked_is_503_and_costs_nothing(
    service: Service, client: httpx.AsyncClient
) -> None:
    service.accounts.out_of_reach = True
    answers = [await client.get("/api/v1/iocs", headers=RIGHT) for _ in range(15)]
    assert {(answer.status_code, answer.json()["code"]) for answer in answers} == {(503, "store_unavailable")}
    assert answers[-1].headers.get_list("retry-after") == ["7"]
    assert limit_of(answers[-1]) == (WRONG_POLICY, "10")
