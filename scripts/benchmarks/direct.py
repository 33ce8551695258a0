"""The obvious route beside the served rows: FastAPI and the official client, one call a request, no limits.

`uvicorn scripts.benchmarks.direct:app`, with BENCH_ELASTICSEARCH and BENCH_INDEX in the environment.
"""

from __future__ import annotations

import os
from typing import Any

from elasticsearch import AsyncElasticsearch
from fastapi import FastAPI

ADDRESS, INDEX = "BENCH_ELASTICSEARCH", "BENCH_INDEX"

app = FastAPI()
_client = AsyncElasticsearch(os.environ.get(ADDRESS, "http://127.0.0.1:9200"))


@app.get("/iocs")
async def list_iocs(value: str | None = None, limit: int = 50) -> dict[str, Any]:
    """Return the indicators of that value, or the newest."""
    query = {"match_all": {}} if value is None else {"term": {"value": value}}
    found = await _client.search(
        index=os.environ[INDEX], query=query, size=limit, sort=[{"last_seen": "desc"}], track_total_hits=True
    )
    return {"items": [hit["_source"] for hit in found["hits"]["hits"]], "total": found["hits"]["total"]["value"]}
