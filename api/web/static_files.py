"""Style sheet, script and icon under addresses that change with their content; each file is compressed once."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from api.compressing import takes_gzip
from intel.indicator_types import INDICATOR_TYPES

FOLDER = Path(__file__).parent / "static"
_FOREVER = "public, max-age=31536000, immutable"
_ASK_AGAIN = "public, no-cache"
_READ = ("GET", "HEAD")


def fingerprints() -> Mapping[str, str]:
    """Return the addresses of the files by name: `site.css` -> `/static/site.css?v=0123456789`."""
    made = {file.name: f"/static/{file.name}?v={_digest(file)}" for file in sorted(FOLDER.iterdir()) if file.is_file()}
    return MappingProxyType(made)


@dataclass(frozen=True, slots=True)
class _Kept:
    """A file in memory; `packed` is None where compressing it saves nothing."""

    body: bytes
    packed: bytes | None
    tag: str
    media_type: str


class StaticFiles:
    """ASGI app for the files of one folder: each is read and compressed at its first use, and then kept.

    One asked for under its fingerprint may be kept by browsers for ever, any other is asked for again.
    """

    def __init__(self, *, directory: Path, addresses: Mapping[str, str] = MappingProxyType({})) -> None:
        self._files = {file.name: file for file in directory.iterdir() if file.is_file()}
        self._addresses = addresses
        self._kept: dict[str, _Kept] = {}
        self._reading = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        if request.method not in _READ:
            raise HTTPException(405, headers={"Allow": ", ".join(_READ)})
        name = scope["path"].removeprefix(scope.get("root_path", "")).removeprefix("/")
        if name not in self._files:
            raise HTTPException(404)
        response = _answer(request, await self._file(name))
        version = parse_qs(scope["query_string"].decode("latin-1")).get("v", [""])[0]
        known = self._addresses.get(name, "").partition("?v=")[2]
        response.headers["Cache-Control"] = _FOREVER if known and version == known else _ASK_AGAIN
        await response(scope, receive, send)

    async def _file(self, name: str) -> _Kept:
        if name not in self._kept:
            async with self._reading:
                if name not in self._kept:
                    self._kept[name] = await asyncio.to_thread(_read, self._files[name])
        return self._kept[name]


def _read(file: Path) -> _Kept:
    body = _body(file)
    packed = gzip.compress(body, mtime=0)
    media_type = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    return _Kept(body, packed if len(packed) < len(body) * 0.9 else None, _digest(file), media_type)


def _answer(request: Request, kept: _Kept) -> Response:
    """Return the file in a coding that the browser accepts, or 304 if the browser already has it."""
    packed = kept.packed if takes_gzip(request.headers) else None
    headers = {"ETag": f'"{kept.tag}-gzip"' if packed is not None else f'"{kept.tag}"'}
    if kept.packed is not None:
        headers["Vary"] = "Accept-Encoding"
    held = [tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")]
    if headers["ETag"] in held or held == ["*"]:
        return Response(status_code=304, headers=headers)
    if packed is not None:
        headers["Content-Encoding"] = "gzip"
    return Response(kept.body if packed is None else packed, media_type=kept.media_type, headers=headers)


def _digest(file: Path) -> str:
    return hashlib.sha256(_body(file)).hexdigest()[:12]


def _body(file: Path) -> bytes:
    """Return a file; the style sheet with the hue of each type's badge."""
    return file.read_bytes() + (_HUES if file.name == "site.css" else b"")


_HUES = "".join(f".t-{kind.name} {{ --h: {kind.hue}; }}\n" for kind in INDICATOR_TYPES).encode()
