"""Which format an answer has: what `format` says, else what the `Accept` header likes best (RFC 9110)."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final, Literal

from starlette.requests import Request
from starlette.responses import Response

Format = Literal["json", "csv", "misp", "stix", "txt"]

_MEDIA_TYPES: Final = MappingProxyType[str, Format](
    {"application/json": "json", "text/csv": "csv", "application/stix+json": "stix", "text/plain": "txt"}
)
_ANYTHING: Final = ("", "*/*")
_MOST_CONSIDERED = 20


def wanted_format(request: Request, asked: Format | None) -> Format:
    """Return JSON unless another format was asked for by name, or a client likes its media type better."""
    if asked is not None:
        return asked
    accepted = request.headers.get("accept", "")
    if accepted in _ANYTHING:
        return "json"
    best: Format = "json"
    liked = 0.0
    for media_type, weight in weighed(accepted):
        if media_type in ("*/*", "application/*"):
            media_type = "application/json"
        if media_type in _MEDIA_TYPES and weight > liked:
            best, liked = _MEDIA_TYPES[media_type], weight
    return best


def negotiated(response: Response) -> Response:
    """Add to `Vary` that this answer depends on the request's `Accept` header."""
    response.headers["Vary"] = "Accept"
    return response


def weighed(header: str) -> list[tuple[str, float]]:
    """Return what an `Accept` or `Accept-Encoding` header names, in lower case, each with its weight."""
    return [(name, weight) for name, _, weight in with_parameters(header)]


def with_parameters(header: str) -> list[tuple[str, dict[str, str], float]]:
    """Return what such a header names, each with its parameters and its weight."""
    accepted = []
    for part in header.split(",")[:_MOST_CONSIDERED]:
        name, *rest = (piece.strip().lower() for piece in part.split(";"))
        pairs = (piece.partition("=") for piece in rest)
        parameters = {key.strip(): value.strip().strip('"') for key, _, value in pairs}
        accepted.append((name, parameters, _weight(parameters.pop("q", "1"))))
    return accepted


def _weight(text: str) -> float:
    return float(text) if text.replace(".", "", 1).isdecimal() and text.isascii() and len(text) < 8 else 0.0
