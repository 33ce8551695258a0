"""What README tells to type works when it is typed."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.samples import sample_paths
from tests.end_to_end.processes import PROGRAMS, Installation, installed

ROOT = Path(__file__).parents[2]
_KEYS_ADDRESS = "http://127.0.0.1:8000"

pytestmark = pytest.mark.timeout(900)


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Installation]:
    yield from installed(tmp_path, {})


@pytest.mark.promise("docs.commands-run")
def test_every_command_of_the_first_use_runs_as_it_is_printed(here: Installation) -> None:
    imported = here.run("import", *map(str, sample_paths()))
    assert imported.returncode == 0, imported.stderr
    server, key = here.serve(), here.key()
    first_use = (ROOT / "README.md").read_text("utf-8").partition("## First use")[2].partition("\n## ")[0]
    blocks = re.findall(r"```sh\n(.*?)```", first_use, re.S)
    assert len(blocks) == 2
    for block in blocks:
        script = block.replace(_KEYS_ADDRESS, server.address).replace("curl ", "curl -sS --fail-with-body ")
        environment = here.environment | {"KEY": key, "PATH": f"{PROGRAMS}:{here.environment['PATH']}"}
        ran = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=here.folder, env=environment, capture_output=True, text=True, timeout=600,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert "verify" in ran.stdout or "kestrel-files" in ran.stdout
