"""What the service must be allowed in Elasticsearch; search_mappings/elasticsearch_role.yml grants it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from intel.settings import ElasticsearchSettings
from intel.store.elastic.client import Cluster, Refused
from search_mappings import elasticsearch_indices

CLUSTER: Final = ("monitor", "manage_index_templates")
INDICES: Final = ("read", "write", "manage")


async def missing_privileges(settings: ElasticsearchSettings) -> tuple[str, ...]:
    """Return what is not allowed, such as `write on iocs`; nothing where the cluster has no security.

    Raises what `Store` raises.
    """
    names = [f"{settings.index_prefix}{noun}{end}" for noun in elasticsearch_indices() for end in ("", "-ioc-v*")]
    asked = {"cluster": list(CLUSTER), "index": [{"names": names, "privileges": list(INDICES)}]}
    cluster = Cluster(settings)
    try:
        answer = await cluster.ask("POST", "/_security/user/_has_privileges", asked)
    except Refused:
        return ()
    finally:
        await cluster.close()
    return tuple(_missing(answer))


def _missing(answer: dict[str, Any]) -> Iterator[str]:
    yield from (name for name, allowed in answer["cluster"].items() if not allowed)
    for privilege in INDICES:
        names = [name for name, held in answer["index"].items() if not held[privilege]]
        if names:
            yield f"{privilege} on {', '.join(sorted(names)[:3])}{f' and {len(names) - 3} more' if names[3:] else ''}"
