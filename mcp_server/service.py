"""Define what the tools need of the service, and how it fails."""

from __future__ import annotations

from typing import Protocol

from mcp_server.results import Answer


class ServiceFailure(Exception):
    """The service gave no usable answer; the text is a sentence that says what to do."""


class Service(Protocol):
    """The service's indicators, as its REST API gives them; each call may raise ServiceFailure."""

    async def search(self, query: str, type: str | None, limit: int) -> Answer:
        """Return the indicators that match every word of `query`, best match first."""

    async def newest(self, type: str | None, limit: int) -> Answer:
        """Return the indicators, newest `last_seen` first."""

    async def exact(self, value: str) -> Answer:
        """Return the indicators that `value`, possibly defanged, names."""

    async def aclose(self) -> None:
        """Close the connections; nothing may be called after."""
