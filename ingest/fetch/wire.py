"""Exchange one HTTP request and answer with one checked address; the only file that knows httpcore.

httpcore rather than a client on top of it: there are no cookies, proxies, redirects, netrc or decompression to switch
off, and its network backend is the place where the address to dial is fixed.
"""

from __future__ import annotations

import contextlib
import functools
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Sequence
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import httpcore

from ingest.fetch.addresses import Address
from ingest.fetch.limits import FetchLimits
from ingest.fetch.urls import SubmittableUrl
from intel.errors import FetchFailed

_MOST_ADDRESSES: Final = 4
_READ_BYTES: Final = 16 * 1024  # small, so that a flood of tiny chunks holds up the event loop for milliseconds only


class Response:
    """Status and headers of an answer, and its body as it arrives."""

    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer
        self.status = answer.status

    def fields(self, name: str) -> list[str]:
        """Return the values of every header line of that name, in order."""
        wanted = name.lower().encode("ascii")
        return [_text(value) for key, value in self._answer.headers if key.lower() == wanted]

    def field(self, name: str) -> str | None:
        """Return the first value of that header."""
        return next(iter(self.fields(name)), None)

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """Yield the body with chunking undone, content coding not."""
        with _as_fetch_failures():
            async for piece in self._answer.aiter_stream():
                yield piece


@functools.cache
def public_tls() -> ssl.SSLContext:
    """Return the TLS context that verifies against the system's and the bundled authorities.

    Reading them takes 100 ms, so this is done once, for the first page that is fetched over https.
    """
    return httpcore.default_ssl_context()


@contextlib.asynccontextmanager
async def exchange(
    method: str,
    url: SubmittableUrl,
    addresses: Sequence[Address],
    headers: Iterable[tuple[str, str]],
    tls: ssl.SSLContext | None,
    limits: FetchLimits,
    proxy: str | None = None,
    body: bytes = b"",
) -> AsyncIterator[Response]:
    """Send one request to the first of the addresses that answers, and yield its response once the headers are there.

    Host header, SNI and certificate check use the URL's name, never the address. Through a proxy (its address, with
    credentials where it wants some) the name is asked for, and the addresses are not used. Only https needs `tls`.
    Raises FetchFailed.
    """
    backend = _PinnedBackend(None if proxy else addresses, limits.header_bytes)
    lines = [(b"Host", url.authority.encode("ascii"))]
    lines += [(name.encode("ascii"), value.encode("latin-1")) for name, value in headers]
    timeouts = {"connect": limits.connect_seconds, "read": limits.read_seconds, "write": limits.read_seconds}
    destination = httpcore.URL(
        scheme=url.scheme.encode("ascii"),
        host=url.host.encode("ascii"),
        port=url.port,
        target=url.target.encode("ascii"),
    )
    async with httpcore.AsyncConnectionPool(
        ssl_context=tls,
        max_connections=1,
        max_keepalive_connections=0,
        network_backend=backend,
        proxy=_proxy(proxy) if proxy else None,
    ) as pool:
        with _as_fetch_failures():
            request = httpcore.Request(
                method, destination, headers=lines, content=body or None, extensions={"timeout": timeouts}
            )
            answer = await pool.handle_async_request(request)
        try:
            backend.end_of_head()
            yield Response(answer)
        finally:
            await answer.aclose()


class _PinnedBackend(httpcore.AsyncNetworkBackend):
    """Dials the addresses it was made with, whatever host it is asked for: the name is never resolved a second time.

    Without any it dials what it is asked for, which is the operator's proxy.
    """

    def __init__(self, addresses: Sequence[Address] | None, header_bytes: int) -> None:
        self._addresses = None if addresses is None else tuple(map(str, addresses[:_MOST_ADDRESSES]))
        self._meter = _HeadMeter(header_bytes)
        self._network = httpcore.AnyIOBackend()

    def end_of_head(self) -> None:
        self._meter.room = None

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        failure: Exception = httpcore.ConnectError("no address")
        for address in (host,) if self._addresses is None else self._addresses:
            try:
                return _MeteredStream(await self._network.connect_tcp(address, port, timeout), self._meter)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure


class _HeadMeter:
    """Counts the bytes that a response's head, interim responses included, may still take; None once the head is
    over.
    """

    def __init__(self, room: int) -> None:
        self.room: int | None = room

    def next_read(self, most: int) -> int:
        if self.room is None:
            return most
        if self.room == 0:
            raise FetchFailed("headers_too_large", "The site sent too many or too large headers.")
        return min(most, self.room)

    def count(self, data: bytes) -> None:
        if self.room is not None:
            self.room -= len(data)


class _MeteredStream(httpcore.AsyncNetworkStream):
    def __init__(self, stream: httpcore.AsyncNetworkStream, meter: _HeadMeter) -> None:
        self._stream = stream
        self._meter = meter

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data = await self._stream.read(self._meter.next_read(min(max_bytes, _READ_BYTES)), timeout)
        self._meter.count(data)
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.AsyncNetworkStream:
        return _MeteredStream(await self._stream.start_tls(ssl_context, server_hostname, timeout), self._meter)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


@contextlib.contextmanager
def _as_fetch_failures() -> Iterator[None]:
    try:
        yield
    except httpcore.TimeoutException:
        raise FetchFailed("timeout", "The site did not answer in time.", retryable=True) from None
    except httpcore.ProxyError:
        detail = "The proxy that pages are fetched through refused this one."
        raise FetchFailed("proxy_refused", detail, retryable=True) from None
    except httpcore.ConnectError as error:
        raise _connect_failure(error) from None
    except ssl.SSLError:
        raise _tls_failed() from None
    except httpcore.RemoteProtocolError:
        detail = "The site broke off its answer, or answered with something that is not HTTP."
        raise FetchFailed("bad_response", detail, retryable=True) from None
    except (httpcore.NetworkError, OSError):
        raise FetchFailed("connection_lost", "The connection to the site broke off.", retryable=True) from None
    except httpcore.LocalProtocolError:
        raise FetchFailed("malformed_url", "This address cannot be asked for over HTTP.") from None


def _proxy(address: str) -> httpcore.Proxy:
    parts = urlsplit(address)
    auth = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
    return httpcore.Proxy(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}", auth=auth)


def _connect_failure(error: Exception) -> FetchFailed:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError | ssl.CertificateError):
            return _tls_failed()
        cause = cause.__context__  # httpcore clears __cause__
    return FetchFailed("connect_failed", "No connection to the site could be made.", retryable=True)


def _tls_failed() -> FetchFailed:
    detail = "The site's certificate does not fit its name, or no secure connection could be made."
    return FetchFailed("tls_failed", detail)


def _text(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")
