"""The obvious route beside the served rows: FastAPI and the official client, one call a request, no limits.

`uvicorn --factory scripts.benchmarks.direct:create_app`, with BENCH_ELASTICSEARCH and BENCH_INDEX in the environment.
"""

from __future__ import annotations

import os
from typing import Any

from elasticsearch import AsyncElasticsearch
from fastapi import FastAPI

ADDRESS, INDEX = "BENCH_ELASTICSEARCH", "BENCH_INDEX"


def create_app() -> FastAPI:
    """Return the app with its one route."""
    app = FastAPI()
    client = AsyncElasticsearch(os.environ[ADDRESS])
    index = os.environ[INDEX]

    @app.get("/iocs")
    async def list_iocs(value: str | None = None, limit: int = 50) -> dict[str, Any]:
        """Return the indicators of that value, or the newest."""
        query = {"match_all": {}} if value is None else {"term": {"value": value}}
        found = await client.search(
            index=index, query=query, size=limit, sort=[{"last_seen": "desc"}], track_total_hits=True
        )
        return {"items": [hit["_source"] for hit in found["hits"]["hits"]], "total": found["hits"]["total"]["value"]}

    return app
