"""A malware name that only a text coined is found by its exact value through every way in, on both engines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_server.settings import Settings
from tests.end_to_end.processes import Installation, Server, installed
from tests.mcp_server.calls import call_at, data_of, text_of

REPORT = """A backdoor on the quay

In March we found a backdoor that we call QuietHarbor. QuietHarbor asked login-kestrel[.]example for its orders.
"""
SPELLINGS = ("QuietHarbor", "quietharbor", "QUIETHARBOR")


@pytest.fixture
def here(tmp_path: Path, either_engines: dict[str, str]) -> Iterator[Installation]:
    """The installed command, on engines that hold the report."""
    for made in installed(tmp_path, either_engines):
        (tmp_path / "report.txt").write_text(REPORT)
        assert made.run("import", "report.txt").returncode == 0
        yield made


def through_mcp(server: Server, key: str, tool: str, **arguments: str) -> tuple[list[tuple[str, str]], str]:
    """What a tool finds, as (type, value), and its text."""
    result = call_at(Settings(server.address, key), tool, arguments)
    return [(item["type"], item["value"]) for item in data_of(result)["items"]], text_of(result)


@pytest.mark.promise("cli.import-search-list-lookup")
def test_a_coined_name_is_looked_up_in_any_case_on_the_command_line_and_through_mcp(here: Installation) -> None:
    looked_up = here.run("lookup", "--json", *SPELLINGS, "Quiet")
    assert looked_up.returncode == 0
    items = json.loads(looked_up.stdout)["items"]
    found = {item["value"]: [(ioc["type"], ioc["value"]) for ioc in item["iocs"]] for item in items}
    assert found == {**{spelling: [("malware", "QuietHarbor")] for spelling in SPELLINGS}, "Quiet": []}
    assert "QuietHarbor" in here.run("lookup", "quietharbor").stdout
    key, server = here.key(), here.serve()
    for spelling in SPELLINGS:
        assert through_mcp(server, key, "lookup_ioc", value=spelling)[0] == [("malware", "QuietHarbor")]
    assert through_mcp(server, key, "lookup_ioc", value="Quiet")[0] == []
    searched, text = through_mcp(server, key, "search_iocs", query="quietharbor")
    assert searched == [("malware", "QuietHarbor"), ("domain", "login-kestrel.example")]
    assert text.splitlines()[0].startswith("malware QuietHarbor")
