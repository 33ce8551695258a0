"""`scripts/pin-images` on a copy of the compose file; the registry's answers are canned."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from tests.scripts.conftest import ROOT

DOCKER = """#!/bin/sh
case "$1" in
  pull) echo "$3" >>"$PULLED" ;;
  image) echo "registry.example/$5@sha256:$DIGEST" ;;
esac
"""


def pin(folder: Path, digest: str) -> subprocess.CompletedProcess[str]:
    """Run the script where `docker` answers that every image has this digest; "" stands for one that was built here."""
    (folder / "scripts").mkdir(exist_ok=True)
    shutil.copy(ROOT / "docker-compose.yml", folder)
    shutil.copy(ROOT / "scripts" / "pin-images", folder / "scripts")
    docker = folder / "bin" / "docker"
    docker.parent.mkdir(exist_ok=True)
    docker.write_text(DOCKER if digest else "#!/bin/sh\n")
    docker.chmod(0o755)
    environment = {"PATH": f"{docker.parent}:{os.environ['PATH']}", "PULLED": str(folder / "pulled"), "DIGEST": digest}
    script = str(folder / "scripts" / "pin-images")
    return subprocess.run([script], env=environment, capture_output=True, text=True, timeout=300)


def test_every_image_is_pulled_and_written_with_its_digest_beside_the_tag(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("IOC_SIGNUP=closed\nREDIS_IMAGE=redis:6\n")
    assert pin(tmp_path, "a" * 64).returncode == 0
    lines = (tmp_path / ".env").read_text().splitlines()
    assert lines[0] == "IOC_SIGNUP=closed"
    compose = (ROOT / "docker-compose.yml").read_text("utf-8")
    images = dict(re.findall(r"\$\{(\w+_IMAGE):-([^}]+)\}", compose))
    assert set(images) == {"ELASTICSEARCH_IMAGE", "REDIS_IMAGE", "PYTHON_IMAGE"}
    assert sorted(lines[1:]) == sorted(f"{name}={image}@sha256:{'a' * 64}" for name, image in images.items())
    assert set((tmp_path / "pulled").read_text().split()) == set(images.values())


def test_an_image_without_a_digest_is_said_and_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("REDIS_IMAGE=redis:6\n")
    done = pin(tmp_path, "")
    assert done.returncode == 1
    assert "has no digest" in done.stderr
    assert (tmp_path / ".env").read_text() == "REDIS_IMAGE=redis:6\n"
