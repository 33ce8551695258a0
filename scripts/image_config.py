"""Takes out of a saved image what tells one build from another: when, by what and in which container it was built.

    image_config.py BUILT.tar SAME.tar TAG

Standard library only. The layers stay as they are; the time is SOURCE_DATE_EPOCH, or 0.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import sys
import tarfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

MADE_AT = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
# Of the configuration what a container is run by, and of each step what it did.
RUN_BY = frozenset(
    {"Cmd", "Entrypoint", "Env", "ExposedPorts", "Healthcheck", "Labels", "StopSignal", "User", "Volumes", "WorkingDir"}
)


def main(built: Path, same: Path, tag: str) -> None:
    """Write the image in `built` under `tag` to `same`; the same content makes the same bytes."""
    with tarfile.open(built) as source, tarfile.open(same, "w", format=tarfile.USTAR_FORMAT) as target:
        (manifest,) = json.loads(_read(source, "manifest.json"))
        content = json.dumps(configuration(json.loads(_read(source, manifest["Config"]))), sort_keys=True).encode()
        name = f"{hashlib.sha256(content).hexdigest()}.json"
        layers = [f"{number}.tar" for number, _ in enumerate(manifest["Layers"])]
        for layer, member in zip(layers, manifest["Layers"], strict=True):
            found = source.getmember(member)
            target.addfile(_member(layer, found.size), source.extractfile(found))
        described = [{"Config": name, "RepoTags": [tag if ":" in tag else f"{tag}:latest"], "Layers": layers}]
        for path, text in ((name, content), ("manifest.json", json.dumps(described).encode())):
            target.addfile(_member(path, len(text)), io.BytesIO(text))


def configuration(built: dict[str, Any]) -> dict[str, Any]:
    """Return an image's configuration without what differs between two builds."""
    made_at = datetime.fromtimestamp(MADE_AT, UTC).isoformat().replace("+00:00", "Z")
    steps = [
        {"created": made_at, **{key: step[key] for key in ("created_by", "empty_layer") if key in step}}
        for step in built.get("history", ())
    ]
    run_by = {key: value for key, value in built["config"].items() if key in RUN_BY and value}
    kept = {key: built[key] for key in ("architecture", "os", "rootfs", "variant") if built.get(key)}
    return {**kept, "created": made_at, "config": run_by, "history": steps}


def _read(source: tarfile.TarFile, name: str) -> bytes:
    member = source.extractfile(name)
    if member is None:
        raise FileNotFoundError(name)
    return member.read()


def _member(name: str, size: int) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.size, made.mtime = size, MADE_AT
    return made


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
