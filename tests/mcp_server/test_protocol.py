from __future__ import annotations

import asyncio
import json
import signal
import sys

import pytest
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult, ListToolsResult

from tests.mcp_server.calls import data_of, text_of
from tests.mcp_server.stand_in import KEY, StandIn, record
from tests.mcp_server.wire import ROOT, WAIT_SECONDS, wire

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("protocol_version", ["2025-06-18", "2025-11-25"])
def test_a_handshake_client_lists_and_calls_the_tools(service: StandIn, protocol_version: str) -> None:
    service.holds(record("domain", "login-kestrel.example"))
    with wire(service) as client:
        initialized = client.initialize(protocol_version)
        assert initialized["protocolVersion"] == protocol_version
        assert "untrusted" in initialized["instructions"]

        tools = client.request(2, "tools/list", {})["result"]["tools"]
        assert {tool["name"] for tool in tools} == {"search_iocs", "list_iocs", "lookup_ioc"}
        assert all(tool["annotations"]["readOnlyHint"] and tool["outputSchema"]["properties"] for tool in tools)

        found = client.call(3, "lookup_ioc", {"value": "login-kestrel[.]example"})
        assert "login-kestrel.example" in json.dumps(found["structuredContent"])
        assert "login-kestrel.example" not in json.dumps(found["content"])

        missing = client.call(4, "lookup_ioc", {"value": "nothing-here.example"})
        assert not missing.get("isError")
        assert '"found": false' in json.dumps(missing["structuredContent"])

        refused = client.call(5, "search_iocs", {"query": "kestrel", "type": "nonsense"})
        assert refused["isError"] and "hash_sha256" in refused["content"][0]["text"]


def test_a_client_of_the_newest_protocol_lists_and_calls_the_tools(service: StandIn) -> None:
    service.holds(record("domain", "login-kestrel.example"))
    settings = {"SERVICE_API_KEY": KEY, "SERVICE_BASE_URL": service.base_url}
    server = StdioServerParameters(command=sys.executable, args=["-m", "mcp_server.main"], env=settings, cwd=ROOT)

    async def session() -> tuple[str, ListToolsResult, CallToolResult]:
        async with Client(server, read_timeout_seconds=20) as client:
            tools = await client.list_tools()
            return client.protocol_version, tools, await client.call_tool("search_iocs", {"query": "kestrel"})

    protocol_version, tools, result = asyncio.run(session())
    assert protocol_version == "2026-07-28"
    assert len(tools.tools) == 3
    assert data_of(result)["items"][0]["value"] == "login-kestrel.example"
    assert text_of(result).startswith("domain login-kestrel[.]example |")


@pytest.mark.promise("mcp.stdout-protocol-only")
def test_stdout_holds_protocol_only_and_no_stream_holds_the_key(service: StandIn) -> None:
    service.answers(500, b"Traceback")
    with wire(service) as client:
        client.initialize("2025-11-25")
        client.send("this is no JSON")
        client.send('{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": 4}}')
        client.answer_to(7)
        assert client.call(8, "list_iocs", {})["isError"]
        assert "error" in client.request(9, "no/such/method", {})
        assert client.close() == 0
        assert all(json.loads(line)["jsonrpc"] == "2.0" for line in client.stdout_lines)
        assert KEY not in "".join(client.stdout_lines) + client.errors()


def test_a_strange_value_is_answered_like_any_other(service: StandIn) -> None:
    values = ["a\x00b", "xn--", "a\r\nb", "\u202ea", "?&#%zz=1", "🦅", "*", "https://[", "0" * 4_000, "\u200b"]
    with wire(service) as client:
        client.initialize("2025-11-25")
        for id, value in enumerate(values[:-1], start=2):
            assert client.call(id, "lookup_ioc", {"value": value})["structuredContent"]["found"] is False
        assert client.call(99, "lookup_ioc", {"value": values[-1]})["isError"]
    assert [asked.query["value"] for asked in service.asked] == values[:-1]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_ends_a_waiting_server_without_a_traceback(service: StandIn) -> None:
    with wire(service) as client:
        client.initialize("2025-11-25")
        client.process.send_signal(signal.SIGINT)
        assert client.process.wait(WAIT_SECONDS) == -signal.SIGINT
        assert client.errors() == ""


def test_the_calls_of_one_session_run_side_by_side(service: StandIn) -> None:
    with wire(service) as client:
        client.initialize("2025-11-25")
        service.hangs()
        client.send({"id": 2, "method": "tools/call", "params": {"name": "list_iocs", "arguments": {}}})
        assert client.request(3, "ping", {})["result"] == {}
        assert client.call(4, "list_iocs", {"limit": 0})["isError"]
