"""Style sheet, script and icon under addresses that change with their content, for browsers to keep."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from urllib.parse import parse_qs

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

FOLDER = Path(__file__).parent / "static"
_FOREVER = "public, max-age=31536000, immutable"
_ASK_AGAIN = "public, no-cache"


def fingerprints(folder: Path = FOLDER) -> Mapping[str, str]:
    """The addresses of the files, by name: `site.css` -> `/static/site.css?v=0123456789`."""
    made = {file.name: f"/static/{file.name}?v={_digest(file)}" for file in sorted(folder.iterdir()) if file.is_file()}
    return MappingProxyType(made)


class FingerprintedFiles(StaticFiles):
    """Static files; one asked for under its fingerprint may be kept for ever, any other is asked for again."""

    def __init__(self, *, directory: Path, addresses: Mapping[str, str]) -> None:
        super().__init__(directory=directory)
        self._addresses = addresses

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        version = parse_qs(scope["query_string"].decode("latin-1")).get("v", [""])[0]
        known = self._addresses.get(path, "").partition("?v=")[2]
        response.headers["Cache-Control"] = _FOREVER if known and version == known else _ASK_AGAIN
        return response


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:12]
