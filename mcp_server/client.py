"""Call the REST API: the one file that knows httpx, and what each failure asks a person to do."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from typing import Any, TypeVar

import httpx
from pydantic import BaseModel, ValidationError

from mcp_server.documents import MOST_ROWS, ArticleDocument, FocusPage, WeekDocument, WeeksPage
from mcp_server.results import Answer
from mcp_server.safe_text import cleaned
from mcp_server.service import ServiceFailure, Unknown
from mcp_server.settings import Settings

MOST_BODY_BYTES = 1_000_000
# The longest article that the service keeps, with its first 1,000 indicators, is shorter.
MOST_DOCUMENT_BYTES = 16_000_000
TIMEOUT_SECONDS = 10.0
_IN_PROCESS = "http://localhost"
_Shape = TypeVar("_Shape", bound=BaseModel)


class _NotFound(ServiceFailure):
    """A 404; `detail` is empty where it is not the service that says so."""

    def __init__(self, sentence: str, body: bytes) -> None:
        super().__init__(sentence)
        problem = _json(body)
        known = isinstance(problem, dict) and problem.get("code") == "not_found"
        self.detail = _problem_detail(body) if known else ""


class RestService:
    """Calls the service over HTTP: one connection pool, GET only, no redirects; every call may raise ServiceFailure.

    `timeout_seconds` bounds a call from connecting to the last byte. `transport` carries the calls in place of the
    network, `headers` go with each.
    """

    def __init__(
        self,
        settings: Settings,
        version: str,
        timeout_seconds: float = TIMEOUT_SECONDS,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._base_url = settings.base_url
        self._timeout_seconds = timeout_seconds
        self._http = httpx.AsyncClient(
            transport=transport,
            headers={
                **(headers or {}),
                "Authorization": f"Bearer {settings.api_key}",
                "Accept": "application/json",
                "Accept-Encoding": "identity",
                "User-Agent": f"ioc-mcp/{version}",
            },
            timeout=timeout_seconds,
            follow_redirects=False,
            # Shorter than servers keep an idle connection, so that none closes under a request.
            limits=httpx.Limits(keepalive_expiry=2.0),
            # A proxy of the environment would read the key of a plain http call, and has no way to loopback.
            trust_env=settings.base_url.startswith("https:"),
        )

    async def search(self, query: str, only: Mapping[str, str], limit: int) -> Answer:
        return await self._iocs({"q": query, "limit": str(limit), **only})

    async def newest(self, only: Mapping[str, str], limit: int) -> Answer:
        return await self._iocs({"limit": str(limit), **only})

    async def exact(self, value: str) -> Answer:
        return await self._iocs({"value": value})

    async def article(self, id: str) -> ArticleDocument:
        return await self._document(ArticleDocument, f"/api/v1/articles/{id}", {})

    async def week(self, id: str) -> WeekDocument:
        if id:
            return await self._document(WeekDocument, f"/api/v1/weekly/{id}", {})
        newest = await self._document(WeeksPage, "/api/v1/weekly", {"limit": "1"})
        if not newest.items:
            raise Unknown("The service has no article yet, so there is no week to tell of.")
        return newest.items[0]

    async def focus(self) -> FocusPage:
        return await self._document(FocusPage, "/api/v1/focus", {"limit": str(MOST_ROWS)})

    async def check(self) -> None:
        """Make a request that needs the key and costs nothing; return if the service accepts the key."""
        if not isinstance(_json(await self._get("/api/v1/usage", {})), dict):
            raise self._stranger()

    async def aclose(self) -> None:
        await self._http.aclose()

    async def _iocs(self, parameters: Mapping[str, str]) -> Answer:
        body = await self._get("/api/v1/iocs", parameters)
        try:
            return Answer.model_validate_json(body)
        except ValidationError:
            raise self._stranger() from None

    async def _document(self, shape: type[_Shape], path: str, parameters: Mapping[str, str]) -> _Shape:
        try:
            body = await self._get(path, parameters, MOST_DOCUMENT_BYTES)
            # An article may be megabytes long.
            return await asyncio.to_thread(shape.model_validate_json, body)
        except _NotFound as failure:
            raise (Unknown(failure.detail) if failure.detail else failure) from None
        except ValidationError:
            raise self._stranger() from None

    async def _get(self, path: str, parameters: Mapping[str, str], most_bytes: int = MOST_BODY_BYTES) -> bytes:
        try:
            async with asyncio.timeout(self._timeout_seconds):
                async with self._http.stream("GET", self._base_url + path, params=parameters) as response:
                    return await self._body(response, most_bytes)
        except (TimeoutError, httpx.TimeoutException):
            raise ServiceFailure(
                f"The service at {self._base_url} gave no answer within {self._timeout_seconds:g} seconds: try again, "
                "or check SERVICE_BASE_URL."
            ) from None
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError, OSError) as error:
            raise self._out_of_reach(error) from None

    def _out_of_reach(self, error: Exception) -> ServiceFailure:
        if "CERTIFICATE_VERIFY_FAILED" in str(error):
            return ServiceFailure(
                f"The certificate of {self._base_url} is not trusted: set SSL_CERT_FILE to its authority's, "
                "or correct SERVICE_BASE_URL."
            )
        return ServiceFailure(f"No service can be reached at {self._base_url}: start it, or correct SERVICE_BASE_URL.")

    async def _body(self, response: httpx.Response, most_bytes: int) -> bytes:
        body = await self._read(response, most_bytes)
        if response.status_code == 200:
            return body
        sentence = failure_sentence(response.status_code, response.headers.get("Retry-After", ""), body)
        raise _NotFound(sentence, body) if response.status_code == 404 else ServiceFailure(sentence)

    async def _read(self, response: httpx.Response, most_bytes: int) -> bytes:
        # Raw bytes are counted: a decoder could hand out a bomb in one piece.
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise self._stranger()
        body = bytearray()
        async for piece in response.aiter_raw(65_536):
            body += piece
            if len(body) > most_bytes:
                raise self._stranger()
        return bytes(body)

    def _stranger(self) -> ServiceFailure:
        return ServiceFailure(
            f"What answers at {self._base_url} is not the IOC service (or an incompatible one): check SERVICE_BASE_URL."
        )


class InProcess:
    """The service of an ASGI app in this process; asked with the key, and from the address, of each request's caller.

    A request is a starlette one that was let in with its key.
    """

    def __init__(self, app: Any, version: str) -> None:
        self._app = app
        self._version = version

    def of(self, request: Any) -> RestService:
        address, port = request.client or ("127.0.0.1", 0)
        forwarded = request.headers.getlist("x-forwarded-for")
        return RestService(
            Settings(_IN_PROCESS, request.headers["authorization"].split()[-1]),
            self._version,
            transport=httpx.ASGITransport(self._app, raise_app_exceptions=False, client=(address, port)),
            headers={"X-Forwarded-For": ", ".join(forwarded)} if forwarded else None,
        )

    async def aclose(self) -> None:
        """Do nothing: no connection is held."""


def failure_sentence(status: int, retry_after: str, body: bytes) -> str:
    """Return what a person should do after a refusal; `body` is a problem+json document, or anything."""
    when = f"in {int(retry_after)} seconds" if re.fullmatch(r"[0-9]{1,6}", retry_after) else "later"
    if status in (400, 422):
        return f"The service refused the arguments: {_problem_detail(body)}"
    if 300 <= status < 400:
        return "The service answered with a redirect, which is not followed: set SERVICE_BASE_URL to its final address."
    sentences = {
        401: "The service refused the key: set SERVICE_API_KEY to a live one (Settings > API Keys) and start anew.",
        403: "The service forbids this to the key in SERVICE_API_KEY: use a key with the scope read.",
        404: "There is no IOC service at this address: check SERVICE_BASE_URL (without /api/v1).",
        429: f"The rate limit of the key is used up: try again {when}.",
        503: f"The service is not ready or its store is out of reach: try again {when}.",
    }
    return sentences.get(status, f"The service failed (HTTP {status}): try again later.")


def _problem_detail(body: bytes) -> str:
    problem = _json(body)
    if not isinstance(problem, dict):
        return "no reason given."
    said = [problem.get("detail") or problem.get("title"), *_field_errors(problem.get("errors"))]
    return cleaned("; ".join(str(text) for text in said if text), 500) or "no reason given."


def _field_errors(errors: object) -> list[str]:
    listed = errors[:5] if isinstance(errors, list) else []
    return [f"{error.get('field', '')}: {error.get('message', '')}" for error in listed if isinstance(error, dict)]


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None
