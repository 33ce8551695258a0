"""`/mcp` asked by the SDK's own client and by hand, over a real socket."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, EmbeddedResource, TextResourceContents

from tests.api.serving import serving
from tests.mcp_server.calls import data_of, sentence_of, text_of
from tests.mcp_server.wire import ROOT

KNOWN = "login-kestrel.example"
JSON_RPC = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A running service that knows one domain: its address, and a key."""
    with serving(tmp_path_factory.mktemp("mcp"), f"domain {KNOWN}", ioc_rate_wrong_key="100000/second") as started:
        yield started


def call(address: str, key: str, tool: str, *each: dict[str, Any]) -> list[CallToolResult]:
    """The answers to calls of one client, one after the other."""

    async def called() -> list[CallToolResult]:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}) as http,
            Client(streamable_http_client(f"{address}/mcp", http_client=http)) as client,
        ):
            return [await client.call_tool(tool, arguments) for arguments in each]

    return asyncio.run(called())


def post(service: tuple[str, str], method: str, params: dict[str, Any], **headers: str) -> httpx.Response:
    address, key = service
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    sent = JSON_RPC | {"Authorization": f"Bearer {key}"} | headers
    return httpx.post(f"{address}/mcp", json=body, headers=sent, timeout=60)


@pytest.mark.slow
@pytest.mark.promise("mcp.over-http")
def test_the_sdks_client_looks_up_searches_and_lists(service: tuple[str, str]) -> None:
    (known, unknown) = call(*service, "lookup_ioc", {"value": "login-kestrel[.]example"}, {"value": "x.example"})
    assert data_of(known)["items"][0]["value"] == KNOWN
    assert text_of(known).startswith("domain login-kestrel[.]example |")
    assert data_of(unknown)["found"] is False
    (found,) = call(*service, "search_iocs", {"query": "kestrel"})
    assert data_of(found)["total"] == 1
    (listed,) = call(*service, "list_iocs", {"limit": 5})
    assert data_of(listed)["total"] == 1


@pytest.mark.parametrize("version", ["2025-03-26", "2025-06-18", "2025-11-25"])
def test_a_client_of_an_earlier_revision_is_answered_in_json(service: tuple[str, str], version: str) -> None:
    client = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "hand", "version": "1"}}
    began = post(service, "initialize", client)
    assert began.status_code == 200 and began.json()["result"]["protocolVersion"] == version
    assert "mcp-session-id" not in began.headers
    listed = post(service, "tools/list", {}, **{"MCP-Protocol-Version": version})
    assert [tool["name"] for tool in listed.json()["result"]["tools"]] == ["search_iocs", "list_iocs", "lookup_ioc"]
    called = post(service, "tools/call", {"name": "list_iocs", "arguments": {}}, **{"MCP-Protocol-Version": version})
    assert called.json()["result"]["structuredContent"]["items"][0]["value"] == KNOWN


@pytest.mark.promise("mcp.over-http")
@pytest.mark.parametrize(("key", "code"), [(None, "missing_api_key"), ("ioc_wrong", "invalid_api_key")])
def test_without_a_valid_key_nothing_is_answered(service: tuple[str, str], key: str | None, code: str) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    headers = JSON_RPC | ({"Authorization": f"Bearer {key}"} if key else {})
    answer = httpx.post(f"{service[0]}/mcp", json=body, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (401, code)
    assert answer.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "headers", [{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}]
)
def test_a_page_of_another_site_is_refused(service: tuple[str, str], headers: dict[str, str]) -> None:
    answer = post(service, "tools/list", {}, **headers)
    assert (answer.status_code, answer.json()["code"]) == (403, "foreign_origin")


def test_the_services_own_pages_may_ask(service: tuple[str, str]) -> None:
    assert post(service, "tools/list", {}, Origin=service[0]).status_code == 200


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_there_is_neither_a_stream_nor_a_session(service: tuple[str, str], method: str) -> None:
    address, key = service
    answer = httpx.request(method, f"{address}/mcp", headers=JSON_RPC | {"Authorization": f"Bearer {key}"})
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")


def test_a_request_that_is_too_large_or_no_json_is_refused(service: tuple[str, str]) -> None:
    assert post(service, "tools/call", {"name": "lookup_ioc", "arguments": {"value": "x" * 70_000}}).status_code == 413
    address, key = service
    answer = httpx.post(f"{address}/mcp", content=b"{", headers=JSON_RPC | {"Authorization": f"Bearer {key}"})
    assert answer.status_code == 400


@pytest.mark.slow
@pytest.mark.promise("mcp.over-http")
def test_a_tool_call_costs_what_its_request_costs_and_says_when_that_is_used_up(tmp_path: Path) -> None:
    with serving(tmp_path, f"domain {KNOWN}", ioc_rate_key="2/hour") as (address, key):
        found, missing, refused = call(
            address, key, "lookup_ioc", {"value": KNOWN}, {"value": "x.example"}, {"value": "y"}
        )
        assert data_of(found)["found"] and not data_of(missing)["found"]
        assert "try again in" in sentence_of(refused)
        assert httpx.get(f"{address}/api/v1/iocs", headers={"Authorization": f"Bearer {key}"}).status_code == 429


@pytest.mark.slow
@pytest.mark.promise("mcp.documents", "mcp.prompts")
@pytest.mark.parametrize("way", ["http", pytest.param("stdio", marks=pytest.mark.slow)])
def test_resources_are_read_and_prompts_rendered_over_both_ways(service: tuple[str, str], way: str) -> None:
    address, key = service
    bearer = {"Authorization": f"Bearer {key}"}
    (known,) = httpx.get(f"{address}/api/v1/articles", headers=bearer).json()["items"]
    week = httpx.get(f"{address}/api/v1/weekly", headers=bearer).json()["items"][0]["id"]

    async def session(client: Client) -> None:
        assert [each.uri for each in (await client.list_resources()).resources] == ["ioc://focus"]
        templates = (await client.list_resource_templates()).resource_templates
        assert [each.uri_template for each in templates] == ["ioc://article/{id}", "ioc://weekly/{week}"]
        for uri, says in (
            (f"ioc://article/{known['id']}", "> - domain login-kestrel[.]example"),
            (f"ioc://weekly/{week}", f"ioc://article/{known['id']}"),
            ("ioc://focus", "# In focus"),
        ):
            (content,) = (await client.read_resource(uri)).contents
            assert isinstance(content, TextResourceContents) and content.mime_type == "text/markdown"
            assert says in content.text and KNOWN not in content.text
        with pytest.raises(MCPError, match="No article has this id"):
            await client.read_resource("ioc://article/5a4f6f0e-9d0c-5c53-8c3e-3f6f8a1d2b3c")
        prompts = {each.name: each.arguments or [] for each in (await client.list_prompts()).prompts}
        assert {name: [(each.name, each.required) for each in arguments] for name, arguments in prompts.items()} == {
            "triage_indicators": [("indicators", True)],
            "brief_week": [("week", False)],
        }
        for asked in ({}, {"week": week}):
            brief = (await client.get_prompt("brief_week", asked)).messages
            assert isinstance(brief[1].content, EmbeddedResource) and brief[1].content.resource.uri.endswith(week)
        with pytest.raises(MCPError, match="2026-W47"):
            await client.get_prompt("brief_week", {"week": "2026-W99"})

    async def over_http() -> None:
        async with (
            httpx2.AsyncClient(headers=bearer) as http,
            Client(streamable_http_client(f"{address}/mcp", http_client=http)) as client,
        ):
            await session(client)

    async def over_stdio() -> None:
        settings = {"SERVICE_API_KEY": key, "SERVICE_BASE_URL": address}
        server = StdioServerParameters(command=sys.executable, args=["-m", "mcp_server.main"], env=settings, cwd=ROOT)
        async with Client(server, read_timeout_seconds=20) as client:
            await session(client)

    asyncio.run(over_http() if way == "http" else over_stdio())
