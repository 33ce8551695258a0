"""The client of the REST API for programs that installed the distribution: `from ioc_intelligence.client import …`."""

from __future__ import annotations

from api_client import *  # noqa: F403 - what it offers is listed there
from api_client import __all__ as __all__
