"""The ASGI app of the installed distribution: `uvicorn --factory ioc_intelligence.app:create_app`."""

from __future__ import annotations

from api.app import create_app

__all__ = ["create_app"]
