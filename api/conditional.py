"""Answers that a client may keep: the same bytes are not sent twice to whoever says that it has them (RFC 9110)."""

from __future__ import annotations

import hashlib

from starlette.requests import Request
from starlette.responses import Response

# For the description of a path that answers so.
UNCHANGED = {"description": "It is the one that `If-None-Match` names."}


def unless_kept(request: Request, response: Response) -> Response:
    """Return the response with its ETag, or 304 without its body where the request names that very one."""
    tag = f'"{hashlib.sha256(bytes(response.body)).hexdigest()[:32]}"'
    held = [part.strip().removeprefix("W/") for part in request.headers.get("if-none-match", "").split(",")]
    if tag in held or held == ["*"]:
        return Response(status_code=304, headers={"ETag": tag})
    response.headers["ETag"] = tag
    return response
