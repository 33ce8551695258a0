"""The recipes in the documents, run as they stand."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from tests.api.serving import serving

RECIPES = Path(__file__).parent.parent.parent / "docs" / "recipes.md"
PATIENCE_SECONDS = 60


def commands() -> dict[str, list[str]]:
    """By heading, the commands of each recipe."""
    sections = re.split(r"^## ", RECIPES.read_text("utf-8"), flags=re.MULTILINE)[1:]
    return {
        each.splitlines()[0]: re.findall(r"^```sh\n(.*?)^```$", each, re.MULTILINE | re.DOTALL) for each in sections
    }


@pytest.mark.slow
@pytest.mark.promise("recipes.work")
def test_every_recipe_works(tmp_path: Path, httpserver: HTTPServer) -> None:
    if shutil.which("curl") is None or shutil.which("bash") is None:
        pytest.skip("there is no curl")
    httpserver.expect_request("/slack", method="POST").respond_with_data("ok")
    folder = tmp_path / "recipes"
    folder.mkdir()
    printed: dict[str, str] = {}
    with serving(tmp_path / "data", "domain c2-kestrel.net", "ip 91.92.240.7") as (address, key):
        environment = {
            "IOC": address,
            "KEY": key,
            "SLACK_WEBHOOK_URL": httpserver.url_for("/slack"),
            "PATH": "/usr/bin:/bin",
        }
        for _ in range(2):  # the second time where the first one has been
            for name, each in commands().items():
                script = "set -euo pipefail\n" + "\n".join(each)
                ran = subprocess.run(
                    ["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True,
                    timeout=PATIENCE_SECONDS, check=False,
                )  # fmt: skip
                assert ran.returncode == 0, (name, ran.stderr)
                printed[name] = ran.stdout
    assert re.search(r"^0\.0\.0\.0\s+c2-kestrel\.net$", (folder / "blocklist.hosts").read_text(), re.MULTILINE)
    assert (folder / "blocklist.etag").read_text().strip().startswith('"')
    assert "91.92.240.7" in (folder / "addresses.txt").read_text()
    values = [row["value"] for row in csv.DictReader((folder / "indicators.csv").read_text().splitlines())]
    assert sorted(values) == ["91.92.240.7", "c2-kestrel.net"]
    assert "indicator--" in printed["Elastic"] and '"alias":"all"' in printed["Microsoft Sentinel"]
    assert "/taxii2/api/" in printed["OpenCTI"] and "<feed" in printed["A feed reader"]
    # Told once.
    ((request, _),) = httpserver.log
    assert "c2-kestrel[.]net" in json.loads(request.data)["text"]
