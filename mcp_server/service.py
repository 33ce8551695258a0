"""Define what the tools need of the service, and how it fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from mcp_server.documents import ArticleDocument, FocusPage, WeekDocument
from mcp_server.results import Answer


class ServiceFailure(Exception):
    """The service gave no usable answer; the text is a sentence that says what to do."""


class Unknown(ServiceFailure):
    """The service has no such article or week."""


class Service(Protocol):
    """The service's indicators and articles, as its REST API gives them; each call may raise ServiceFailure."""

    async def search(self, query: str, only: Mapping[str, str], limit: int) -> Answer:
        """Return the indicators that match every word of `query`, best match first.

        `only` are filters, named as the parameters of the REST API, and the `cursor` of a page.
        """

    async def newest(self, only: Mapping[str, str], limit: int) -> Answer:
        """Return the indicators, newest `last_seen` first; `only` as for `search`."""

    async def exact(self, value: str) -> Answer:
        """Return the indicators that `value`, possibly defanged, names."""

    async def article(self, id: str) -> ArticleDocument:
        """Return the article with that id; raise Unknown where there is none."""

    async def week(self, id: str) -> WeekDocument:
        """Return the roundup of that week, or of the newest for an empty `id`; raise Unknown where there is none."""

    async def focus(self) -> FocusPage:
        """Return what is in focus, most severe first."""

    async def aclose(self) -> None:
        """Close the connections; nothing may be called after."""


class Services(Protocol):
    """The service as different callers may use it."""

    def of(self, request: Any) -> Service:
        """Return it as the caller of a request may use it; the request is the HTTP transport's, None over stdio."""

    async def aclose(self) -> None:
        """Close what was opened; nothing may be called after."""


class OneService:
    """One service for every request, opened by the first one, which keeps the start quick."""

    def __init__(self, open: Callable[[], Service]) -> None:
        self._open = open
        self._opened: Service | None = None

    def of(self, request: Any) -> Service:
        if self._opened is None:
            self._opened = self._open()
        return self._opened

    async def aclose(self) -> None:
        if self._opened is not None:
            await self._opened.aclose()
