"""TAXII's media type, and what clients must accept."""

from __future__ import annotations

from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response

from api.formats.negotiating import with_parameters
from api.problems import TAXII_MEDIA_TYPE, Problem

_RANGES = ("application/taxii+json", "application/*", "*/*")
_VERSION = "2.1"


def check_accepts(request: Request) -> None:
    """Raise Problem (406) where the request takes no TAXII 2.1."""
    header = ",".join(request.headers.getlist("accept"))
    if not header.strip():
        return
    for media_range, parameters, weight in with_parameters(header):
        if weight > 0 and media_range in _RANGES and parameters.get("version", _VERSION) == _VERSION:
            return
    raise Problem(406, "not_acceptable", f"This answers in {TAXII_MEDIA_TYPE} alone: name it in the Accept header.")


def message(body: dict[str, Any], headers: dict[str, str]) -> Response:
    """Return an answer."""
    return Response(orjson.dumps(body), 200, headers, TAXII_MEDIA_TYPE)
