"""Ask several things in one request: what one of them meets is borne as if it had been asked alone."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Mapping
from typing import Any

from intel.store.elastic.client import Cluster, IndexMissing, Patience, as_error, bearable_seconds

_PAUSE_SECONDS = 0.1
_FAILURE = ("error.type", "error.reason", "status")
# Several reads tell no status beside their errors.
_STATUSES = {
    "index_not_found_exception": 404,
    "es_rejected_execution_exception": 429,
    "circuit_breaking_exception": 429,
}
_SHARD_AWAY = 503


async def ask_parts(
    cluster: Cluster,
    path: str,
    body: Mapping[str, Any] | bytes,
    member: str,
    patience: Patience = Patience.READ,
    filter_path: str = "",
) -> list[Any]:
    """Return the parts of an answer, which are its `member`, with all or the filtered members of each.

    All of it is asked again while a part meets a shard that only starts, or a full queue; raises what lasts longer.
    """
    begun = time.monotonic()
    if filter_path:
        wanted = ",".join(f"{member}.{one}" for one in (*filter_path.split(","), *_FAILURE))
        path += f"{'&' if '?' in path else '?'}filter_path={wanted}"
    made = False
    while True:
        parts: list[Any] = (await cluster.ask("POST", path, body, patience)).get(member, [])
        error = next((_error_of(part) for part in parts if "error" in part), None)
        if error is None:
            return parts
        if isinstance(error, IndexMissing) and not made:
            await cluster.make_missing()
            made = True
        elif time.monotonic() - begun >= bearable_seconds(error, patience):
            raise error
        else:
            await asyncio.sleep(random.uniform(_PAUSE_SECONDS / 2, _PAUSE_SECONDS))


def _error_of(part: Mapping[str, Any]) -> Exception:
    kind, reason = str(part["error"].get("type")), str(part["error"].get("reason"))
    return as_error(part.get("status", _STATUSES.get(kind, _SHARD_AWAY)), kind, reason)
