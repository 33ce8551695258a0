"""The rooms that tell their version tell the distribution's."""

from __future__ import annotations

import tomllib
from pathlib import Path

import api
import mcp_server


def test_every_room_tells_the_version_of_the_distribution() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    assert api.VERSION == mcp_server.VERSION == project["version"]
