"""One tool call from a real MCP client, in this process, over real HTTP to the stand-in."""

from __future__ import annotations

import asyncio
from functools import cache
from typing import Any

from mcp import Client
from mcp.server.mcpserver import MCPServer
from mcp_types import CallToolResult, ListToolsResult, TextContent

from mcp_server.client import RestService
from mcp_server.server import build_server
from mcp_server.service import OneService, Service
from mcp_server.settings import Settings
from tests.mcp_server.stand_in import KEY, StandIn


class Now:
    """The service of the call that is under way: one server serves all, for making one takes longer."""

    def __init__(self) -> None:
        self.service: OneService

    def of(self, request: Any) -> Service:
        return self.service.of(request)

    async def aclose(self) -> None:
        await self.service.aclose()


@cache
def now_and_server() -> tuple[Now, MCPServer[None]]:
    now = Now()
    return now, build_server(now, "1")


def client_of(settings: Settings, timeout_seconds: float = 10.0) -> Client:
    """A client of the server over the service that the settings name."""
    now, server = now_and_server()
    now.service = OneService(lambda: RestService(settings, "1", timeout_seconds))
    return Client(server)


def call(
    service: StandIn, tool: str, arguments: dict[str, Any], *, key: str = KEY, timeout_seconds: float = 10.0
) -> CallToolResult:
    return call_at(Settings(service.base_url, key), tool, arguments, timeout_seconds)


def call_at(settings: Settings, tool: str, arguments: dict[str, Any], timeout_seconds: float = 10.0) -> CallToolResult:
    async def called() -> CallToolResult:
        async with client_of(settings, timeout_seconds) as client:
            return await client.call_tool(tool, arguments)

    return asyncio.run(called())


def tools_of(service: StandIn) -> ListToolsResult:
    async def listed() -> ListToolsResult:
        async with client_of(Settings(service.base_url, KEY)) as client:
            return await client.list_tools()

    return asyncio.run(listed())


def text_of(result: CallToolResult) -> str:
    """All text of a result; fails on content of another kind."""
    texts = [part.text for part in result.content if isinstance(part, TextContent)]
    assert len(texts) == len(result.content)
    return "\n".join(texts)


def data_of(result: CallToolResult) -> dict[str, Any]:
    """The structured content of a result that is no error."""
    assert not result.is_error, text_of(result)
    assert isinstance(result.structured_content, dict)
    return result.structured_content


def sentence_of(result: CallToolResult) -> str:
    """The text of a failed call, which has to be one plain line."""
    text = text_of(result)
    assert result.is_error
    assert len(text.splitlines()) == 1
    assert "pydantic" not in text and "Error executing" not in text
    return text
