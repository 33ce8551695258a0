"""What the tools cost a client: tokens are counted as characters divided by four."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cases import each
from tests.mcp_server.calls import call, data_of, text_of, tools_of
from tests.mcp_server.stand_in import JsonObject, StandIn, record

TOKEN_CHARACTERS = 4


def long_record(number: int) -> JsonObject:
    value = f"cdn-update-{number:04}.delivery-{'x' * 30}.example.net"
    return record(
        "domain",
        value,
        sightings=112,
        sources=37,
        article={
            "title": f"{number:03} Kestrel loader returns: a closer look at the servers behind a new wave of attacks",
            "url": f"https://research.vendor.example/blog/2026/11/kestrel-loader-returns-a-closer-look-{number}",
        },
    )


def test_the_tool_list_costs_at_most_1500_tokens(service: StandIn) -> None:
    listed = tools_of(service).model_dump_json(by_alias=True, exclude_none=True)
    assert len(listed) / TOKEN_CHARACTERS <= 1_500


def test_ten_long_items_cost_at_most_2500_tokens(service: StandIn) -> None:
    service.holds(*(long_record(number) for number in range(10)))
    result = call(service, "list_iocs", {})
    values = [item["value"] for item in data_of(result)["items"]]
    assert len(values) == 10 and all(len(value) >= 60 for value in values)
    assert all(len(item["article"]["title"]) >= 85 for item in data_of(result)["items"])
    assert len(text_of(result) + json.dumps(data_of(result))) / TOKEN_CHARACTERS <= 2_500


def test_no_answer_is_longer_than_64_kilobytes(service: StandIn) -> None:
    article = {"title": "長" * 300, "url": "https://blog.example/" + "a" * 2_000}
    service.holds(*(record("url", f"https://e.example/{n}/" + "b" * 2_000, article=article) for n in range(50)))
    result = call(service, "list_iocs", {"limit": 50})
    data = data_of(result)
    assert 0 < len(data["items"]) < 50
    assert data["omitted"] == 50 - len(data["items"])
    assert f"{data['omitted']} indicators left out" in text_of(result)
    assert len((text_of(result) + json.dumps(data, ensure_ascii=False)).encode()) <= 64 * 1024


@pytest.mark.promise("mcp.rest-only")
@each("room", ["api", "ingest", "intel", "search_mappings"])
def test_the_room_loads_nothing_of_the_other_rooms(room: str) -> None:
    sources = (Path(__file__).parents[2] / "mcp_server").glob("*.py")
    for source in sources:
        # The table of types imports nothing.
        text = source.read_text().replace("from intel.indicator_types import", "")
        assert f"import {room}" not in text and f"from {room}" not in text
