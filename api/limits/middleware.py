"""Decides for every request to the API, before its body is read, who pays for it and whether it passes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import unquote_plus

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.limits.authorization import MalformedAuthorization, key_in
from api.limits.bucket import Decision
from api.limits.caller import CALLER, TIER, Caller, KeyIdentity
from api.limits.client_address import Network, client_address
from api.limits.headers import limit_headers, retry_after
from api.limits.policy import Access, Policies, is_search
from api.limits.port import Limiter
from api.limits.tiers import Charge, Tiers
from intel.errors import StoreDamaged, StoreUnavailable

Authenticate = Callable[[str], Awaitable[KeyIdentity | None]]
Problem = Callable[[int, str, str, Mapping[str, str]], ASGIApp]

_TOKEN = "token"  # noqa: S105 - the name of a parameter
_CHALLENGE = {"WWW-Authenticate": "Bearer"}
# Programs that know Basic alone look for its name first.
_BASIC_CHALLENGE = {"WWW-Authenticate": 'Basic realm="any user, the API key as password", Bearer'}
_MISSING_KEY = "This needs an API key: send it as Authorization: Bearer <key>."
_INVALID_KEY = "This API key is not valid: it is malformed, unknown, expired or revoked."
_WRONG_ADDRESS = "This feed token is not valid: it is malformed, unknown or revoked. Settings, Feeds makes a new one."
_LACKING = (
    "This API key may not be used for this: it needs the scope {needed}, and has {held}. Make another key for it."
)
_TOO_MANY = "Too many requests: this one is answered again in {seconds} s."
_STORE_UNAVAILABLE = "The API key cannot be checked at the moment; try again shortly."


@dataclass(frozen=True, slots=True)
class _Refusal:
    status: int
    code: str
    detail: str
    headers: Mapping[str, str]
    decision: Decision


class _Request(NamedTuple):
    query: str
    authorization: Sequence[str]
    tokens: Sequence[str]
    address: str
    access: Access


class LimitMiddleware:
    """ASGI middleware that holds the table of limits over everything under `/api/v1`.

    Wrap the whole application in it, so that answers to unforeseen errors carry the headers too. An admitted request
    has its `Caller` in the scope under `CALLER`. `policies` says what each route asks. `authenticate` tells whom a key
    stands for, None for one that is unknown, revoked or malformed; StoreUnavailable from it is answered with 503.
    `authenticate_token` does the same for a feed token, which is read from the address for routes that say so alone.
    `problem(status, code, detail, headers)` renders a refusal. `trusted` are the networks of proxies whose
    X-Forwarded-For is believed.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        limiter: Limiter,
        tiers: Tiers,
        policies: Policies,
        trusted: Sequence[Network],
        authenticate: Authenticate,
        authenticate_token: Authenticate,
        problem: Problem,
    ) -> None:
        self._app = app
        self._limiter = limiter
        self._tiers = tiers
        self._policies = policies
        self._trusted = trusted
        self._authenticate = authenticate
        self._authenticate_token = authenticate_token
        self._problem = problem

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        access = self._policies.of(scope["method"], scope["path"]) if scope["type"] == "http" else None
        if access is None or not access.watched:
            await self._app(scope, receive, send)
            return
        request = self._read(scope, access)
        verdict = await self._judge(request)
        scope[TIER] = verdict.decision.policy
        answer = _with_headers(send, verdict.decision)
        if isinstance(verdict, _Refusal):
            refuse = self._problem(verdict.status, verdict.code, verdict.detail, verdict.headers)
            await refuse(scope, receive, answer)
            return
        # In place: whoever answers for an error further out finds the caller in the same scope.
        scope[CALLER] = verdict
        await self._app(scope, receive, answer if access.costs else send)

    def _read(self, scope: Scope, access: Access) -> _Request:
        peer = scope.get("client")
        tokens = _taken_tokens(scope) if access.token else ()
        return _Request(
            tokens=tokens,
            query=scope["query_string"].decode("latin-1"),
            authorization=_values(scope, b"authorization"),
            address=client_address(peer[0] if peer else None, _values(scope, b"x-forwarded-for"), self._trusted),
            access=access,
        )

    async def _judge(self, request: _Request) -> Caller | _Refusal:
        try:
            key = key_in(request.authorization, basic=request.access.basic)
            if key is None and request.tokens:
                return await self._token_holder(request)
            identity = await self._authenticate(key) if key is not None else None
        except MalformedAuthorization:
            return await self._unauthorized(request, "invalid_api_key", _INVALID_KEY)
        except StoreUnavailable as error:
            return await self._unchecked(request, error)
        if key is None:
            return await self._visitor(request)
        if identity is None:
            return await self._unauthorized(request, "invalid_api_key", _INVALID_KEY)
        return await self._key_holder(request, identity)

    async def _key_holder(self, request: _Request, identity: KeyIdentity) -> Caller | _Refusal:
        charge_for = self._tiers.for_export if request.access.export else self._tiers.for_key
        charge = charge_for(identity.key_id)
        if request.access.costs:
            admitted = await self._admit(request, identity, charge)
        else:
            decision = await self._limiter.peek(charge.bucket, charge.tier.rate)
            admitted = Caller(identity, charge.tier, decision, request.address)
        needed = request.access.scopes
        if isinstance(admitted, _Refusal) or not needed or set(needed) & set(identity.scopes):
            return admitted
        return _lacking(needed, identity.scopes, admitted.decision)

    async def _token_holder(self, request: _Request) -> Caller | _Refusal:
        identity = await self._authenticate_token(request.tokens[0]) if len(request.tokens) == 1 else None
        if identity is None:
            return await self._unauthorized(request, "invalid_api_key", _WRONG_ADDRESS)
        return await self._admit(request, identity, self._tiers.for_account(identity.account_id))

    async def _visitor(self, request: _Request) -> Caller | _Refusal:
        if request.access.needs_key(request.query):
            return await self._unauthorized(request, "missing_api_key", _MISSING_KEY)
        charge = self._tiers.for_visitor(request.address, searching=is_search(request.query))
        return await self._admit(request, None, charge)

    async def _admit(self, request: _Request, identity: KeyIdentity | None, charge: Charge) -> Caller | _Refusal:
        decision = await self._limiter.take(charge.bucket, charge.tier.rate)
        if not decision.allowed:
            return _too_many(decision)
        return Caller(identity, charge.tier, decision, request.address)

    async def _unauthorized(self, request: _Request, code: str, detail: str) -> _Refusal:
        charge = self._tiers.for_wrong_key(request.address)
        decision = await self._limiter.take(charge.bucket, charge.tier.rate)
        if not decision.allowed:
            return _too_many(decision)
        return _Refusal(401, code, detail, _BASIC_CHALLENGE if request.access.basic else _CHALLENGE, decision)

    async def _unchecked(self, request: _Request, error: StoreUnavailable) -> _Refusal:
        # Right keys and wrong ones look the same now, so nobody pays.
        charge = self._tiers.for_wrong_key(request.address)
        decision = await self._limiter.peek(charge.bucket, charge.tier.rate)
        wait = {"Retry-After": str(error.retry_after_seconds)}
        detail = error.told if isinstance(error, StoreDamaged) else _STORE_UNAVAILABLE
        return _Refusal(503, "store_unavailable", detail, wait, decision)


def _lacking(needed: Sequence[str], held: Sequence[str], decision: Decision) -> _Refusal:
    detail = _LACKING.format(needed=" or ".join(needed), held=", ".join(held))
    challenge = f'Bearer error="insufficient_scope", scope="{" ".join(needed)}"'
    return _Refusal(403, "forbidden", detail, {"WWW-Authenticate": challenge}, decision)


def _values(scope: Scope, header: bytes) -> list[str]:
    return [value.decode("latin-1") for name, value in scope["headers"] if name == header]


def _too_many(decision: Decision) -> _Refusal:
    detail = _TOO_MANY.format(seconds=decision.retry_after_seconds)
    return _Refusal(429, "rate_limited", detail, retry_after(decision), decision)


def _taken_tokens(scope: Scope) -> list[str]:
    """Take the feed tokens out of a request's address, so that nobody who writes that anywhere writes them."""
    tokens, rest = [], []
    for pair in scope["query_string"].decode("latin-1").split("&"):
        name, _, value = pair.partition("=")
        if unquote_plus(name) == _TOKEN:
            tokens.append(unquote_plus(value))
        else:
            rest.append(pair)
    scope["query_string"] = "&".join(rest).encode("latin-1")
    return tokens


def _with_headers(send: Send, decision: Decision) -> Send:
    async def answer(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *limit_headers(decision)]
        await send(message)

    return answer
