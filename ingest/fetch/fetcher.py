"""Fetch one page from a web that cannot be trusted."""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final, NamedTuple

from ingest.body import ARTICLE_TYPES, article_type, essence, is_feed
from ingest.fetch import wire
from ingest.fetch.addresses import Address, FetchAllow
from ingest.fetch.decoding import BoundedDecoder, body_too_large, content_coding
from ingest.fetch.limits import FetchLimits
from ingest.fetch.resolving import Resolver, SystemResolver, dialable_addresses
from ingest.fetch.urls import SubmittableUrl, check_url
from intel.errors import FetchFailed
from intel.times import utc_now

USER_AGENT: Final = "ioc-intelligence/1.0 (reads threat reports)"

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_PERMANENT: Final = frozenset({301, 308})
_RETRYABLE: Final = frozenset({408, 425, 429})
_FEED_TYPES: Final = frozenset(
    {"application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json"}
)
_XML_TYPES: Final = frozenset({"application/xml", "text/xml"})
_KEPT_HEADERS: Final = ("etag", "last-modified", "content-language", "cache-control")
_LONGEST_RETRY_AFTER_SECONDS: Final = 3600.0
_CHARSET: Final = re.compile(r";\s*charset\s*=\s*[\"']?([A-Za-z0-9_:.-]{1,40})", re.I)
_VISIBLE: Final = re.compile(r"[\x20-\x7e]+")
_MEDIA_TYPE: Final = re.compile(r"[a-z0-9.+-]{1,60}/[a-z0-9.+-]{1,60}")


# Raises RefusedUrl for a host that is not to be asked.
CheckHost = Callable[[SubmittableUrl], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """What came back: `content_type` without parameters, `body` decompressed, `redirects` the addresses on the way.

    `status` is 200 (or 203), or 304 with an empty body where `unless` was given. `headers` holds, where sent, `etag`,
    `last-modified`, `content-language` and `cache-control`. `moved_to` is where permanent redirects alone lead from
    `url`, if anywhere: not from https to http.
    """

    url: str
    final_url: str
    status: int
    content_type: str
    charset: str | None
    body: bytes
    headers: Mapping[str, str]
    redirects: tuple[str, ...] = ()
    moved_to: str | None = None


class _Redirect(NamedTuple):
    location: str
    is_permanent: bool


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a caller asks for: media `types` (None: articles, judged by their bytes too), `unless` certain headers."""

    types: Collection[str] | None = None
    unless: Mapping[str, str] | None = None

    def headers(self) -> list[tuple[str, str]]:
        """Return the request's headers, but for Host."""
        accept = ", ".join(sorted(self.types or ARTICLE_TYPES))
        fixed = [("User-Agent", USER_AGENT), ("Accept", f"{accept}, */*;q=0.1"), ("Accept-Encoding", "gzip, deflate")]
        return [*fixed, ("Connection", "close"), *(self.unless or {}).items()]


class Fetcher:
    """Fetches pages from public addresses only, each fetch on connections of its own, within `limits`.

    `resolver` gives a name's addresses; `tls` verifies certificates; `clock` reads Retry-After dates. A `proxy` is used
    for names that have no forbidden address, as far as that can be told from here.
    """

    def __init__(
        self,
        allow: FetchAllow,
        limits: FetchLimits | None = None,
        *,
        resolver: Resolver | None = None,
        tls: ssl.SSLContext | None = None,
        clock: Callable[[], datetime] = utc_now,
        proxy: str | None = None,
        check_host: CheckHost | None = None,
    ) -> None:
        self._allow = allow
        self._limits = limits or FetchLimits()
        self._resolve = resolver or SystemResolver()
        self._tls = tls
        self._clock = clock
        self._proxy = proxy
        self._check_host = check_host

    async def fetch(
        self, url: str, *, types: Collection[str] | None = None, unless: Mapping[str, str] | None = None
    ) -> FetchedPage:
        """Fetch a page, following at most `limits.redirects` redirects.

        `types` are the media types that are acceptable besides none at all; by default those of articles, which are
        told apart by their first bytes too. `unless` holds If-None-Match and If-Modified-Since.
        Raises FetchFailed, or RefusedUrl for an address (of a redirect too) that may not be fetched.
        """
        try:
            async with asyncio.timeout(self._limits.total_seconds):
                return await self._follow(url, Wanted(types, unless))
        except TimeoutError:
            detail = f"Fetching the page took longer than {self._limits.total_seconds:g} seconds."
            raise FetchFailed("timeout", detail) from None

    async def _follow(self, url: str, wanted: Wanted) -> FetchedPage:
        passed: list[str] = []
        here, moved_to, for_good = url, None, True
        while True:
            target = check_url(here, self._allow)
            if self._check_host is not None:
                await self._check_host(target)
            for_good = for_good and not (target.scheme == "http" and url.lower().startswith("https:"))
            moved_to = str(target) if passed and for_good else moved_to
            outcome = await self._ask(target, url, wanted, tuple(passed))
            if isinstance(outcome, FetchedPage):
                return replace(outcome, moved_to=moved_to)
            passed.append(str(target))
            if len(passed) > self._limits.redirects:
                detail = f"The site redirects more than {self._limits.redirects} times."
                raise FetchFailed("too_many_redirects", detail)
            here, for_good = outcome.location, for_good and outcome.is_permanent

    async def _ask(
        self, target: SubmittableUrl, url: str, wanted: Wanted, passed: tuple[str, ...]
    ) -> FetchedPage | _Redirect:
        """Return the page at an address, or where it redirects to."""
        addresses = await self._addresses(target)
        tls = await self._tls_for(target)
        async with wire.exchange(
            "GET", target, addresses, wanted.headers(), tls, self._limits, self._proxy
        ) as response:
            if response.status in _REDIRECTS:
                return _Redirect(_redirect_of(response, target), response.status in _PERMANENT)
            if response.status == 304 and wanted.unless:
                return FetchedPage(url, str(target), 304, "", None, b"", _kept(response), passed)
            if response.status not in (200, 203):
                raise _status_failure(response, self._clock())
            declared = response.field("content-type")
            _check_declared(declared, wanted)
            body = await self._body(response)
        content_type = _checked_type(declared, body, wanted)
        kept = _kept(response)
        return FetchedPage(url, str(target), response.status, content_type, _charset(declared), body, kept, passed)

    async def _tls_for(self, target: SubmittableUrl) -> ssl.SSLContext | None:
        """Return the TLS context for an https address, made off the event loop; None for any other."""
        if target.scheme != "https":
            return None
        return self._tls or await asyncio.to_thread(wire.public_tls)

    async def _addresses(self, target: SubmittableUrl) -> tuple[Address, ...]:
        try:
            return await dialable_addresses(target, self._resolve, self._allow)
        except FetchFailed:
            # Where there is a proxy, often only it can resolve the names of the internet.
            if self._proxy is None:
                raise
            return ()

    async def _body(self, response: wire.Response) -> bytes:
        limits = self._limits
        if _announced_bytes(response) > limits.body_bytes:
            raise body_too_large(limits.body_bytes)
        decoder = BoundedDecoder(content_coding(response.fields("content-encoding")), limits.body_bytes)
        body = bytearray()
        on_wire = pieces = 0
        async with aclosing(response.pieces()) as arriving:
            async for piece in arriving:
                on_wire += len(piece)
                pieces += 1
                if on_wire > limits.body_bytes:
                    raise body_too_large(limits.body_bytes)
                if pieces > limits.body_pieces:
                    raise FetchFailed("bad_response", "The site sent the page in too many tiny pieces.")
                body += decoder.feed(piece)
        decoder.finish()
        return bytes(body)


def _announced_bytes(response: wire.Response) -> int:
    length = response.field("content-length") or ""
    return int(length) if re.fullmatch(r"[0-9]{1,20}", length) else 0


def _redirect_of(response: wire.Response, target: SubmittableUrl) -> str:
    locations = response.fields("location")
    if len(locations) != 1 or not locations[0].strip():
        raise FetchFailed("bad_redirect", "The site redirects without saying where to.")
    # Browsers take a plain space in a redirect for %20, and sites rely on that.
    location = locations[0].strip().replace(" ", "%20")
    try:
        return target.join(location)
    except ValueError:
        raise FetchFailed("bad_redirect", "The site redirects to something that is no web address.") from None


def _status_failure(response: wire.Response, now: datetime) -> FetchFailed:
    status = response.status
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "an unknown status"
    retryable = status in _RETRYABLE or status >= 500
    wait = _retry_after(response.field("retry-after"), now) if retryable else None
    detail = f"The site answered {status} ({phrase})."
    return FetchFailed(f"http_{status}", detail, retryable=retryable, retry_after_seconds=wait)


def _retry_after(text: str | None, now: datetime) -> float | None:
    """Return the seconds to wait, from seconds or a date; at most an hour, None for nonsense."""
    if text is None:
        return None
    if re.fullmatch(r"[0-9]{1,9}", text.strip()):
        seconds = float(text)
    else:
        try:
            seconds = (parsedate_to_datetime(text) - now).total_seconds()
        except (ValueError, TypeError, OverflowError):
            return None
    return min(max(seconds, 0.0), _LONGEST_RETRY_AFTER_SECONDS)


def _check_declared(declared: str | None, wanted: Wanted) -> None:
    """Refuse by the declared type before the body is read."""
    kind = essence(declared)
    if wanted.types is None and kind in _FEED_TYPES:
        raise _is_a_feed()
    # A feed is often declared as mere XML; its bytes tell.
    accepted = ARTICLE_TYPES | _XML_TYPES if wanted.types is None else wanted.types
    if kind is not None and kind not in accepted:
        raise _unsupported(kind)


def _checked_type(declared: str | None, body: bytes, wanted: Wanted) -> str:
    if wanted.types is not None:
        return essence(declared) or "application/octet-stream"
    if is_feed(body):
        raise _is_a_feed()
    found = article_type(declared, body)
    if found is None:
        raise _unsupported(essence(declared))
    return found


def _unsupported(kind: str | None) -> FetchFailed:
    named = f" ({kind})" if kind and _MEDIA_TYPE.fullmatch(kind) else ""
    detail = f"The address leads to something{named} that is not a page, a text or a PDF."
    return FetchFailed("unsupported_content_type", detail)


def _is_a_feed() -> FetchFailed:
    detail = "This is the address of a feed, not of an article; feeds are added with `ioc feeds add`."
    return FetchFailed("is_a_feed", detail)


def _charset(content_type: str | None) -> str | None:
    match = _CHARSET.search(content_type or "")
    return match[1].lower() if match else None


def _kept(response: wire.Response) -> dict[str, str]:
    fields = ((name, response.field(name)) for name in _KEPT_HEADERS)
    return {name: value for name, value in fields if value and len(value) <= 1000 and _VISIBLE.fullmatch(value)}
