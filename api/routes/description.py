"""`/openapi.json` and `/docs`: the API's own description, readable without the internet."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from api.answers import json_answer
from api.limits.policy import access
from api.service import service_of

router = APIRouter(include_in_schema=False)

# Swagger UI sets styles on elements as it goes; scripts stay ours.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>IOC Intelligence API</title>
<link rel="stylesheet" href="/static/swagger/swagger-ui.css">
<script src="/static/swagger/swagger-ui-bundle.js" defer></script>
<script src="/static/api-docs.js" defer></script>
</head>
<body>
<main id="swagger-ui"><p>The description itself is at <a href="/api/v1/openapi.json">openapi.json</a>.</p></main>
</body>
</html>
"""


def swagger_folder() -> Path:
    """Return the folder in which the installed package keeps Swagger UI's files."""
    return Path(str(files("fastapi_offline"))) / "static"


@router.get("/openapi.json")
@access(costs=False, watched=False)
async def openapi(request: Request) -> Response:
    # It is made at its first use, which takes a while.
    return json_answer(await service_of(request).apart.run(request.app.openapi))


@router.get("/docs")
@access(costs=False, watched=False)
async def docs() -> Response:
    return HTMLResponse(_PAGE, headers={"Content-Security-Policy": _POLICY})
