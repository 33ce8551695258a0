"""How indices are laid out over a cluster: shards, copies, and how often what is new becomes searchable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from intel.settings import ElasticsearchSettings

# Those that grow with what is taken in; all others stay in one shard.
LARGE: Final = ("addresses", "articles", "iocs", "readings", "sightings", "submissions")
# Measured: such a shard of indicators holds some 25 GB, and a node moves it in minutes.
DOCUMENTS_PER_SHARD: Final = 25_000_000
MOST_BY_ITSELF: Final = 64


@dataclass(frozen=True, slots=True)
class Layout:
    """What an operator set; None leaves it to the number of documents, of nodes, or the index's own definition."""

    shards: int | None = None
    replicas: int | None = None
    refresh_seconds: int | None = None

    @classmethod
    def of(cls, settings: ElasticsearchSettings) -> Layout:
        return cls(settings.shards, settings.replicas, settings.refresh_seconds)

    def shards_for(self, noun: str, documents: int) -> int:
        """Return in how many shards an index is made that is to hold so many documents."""
        if noun not in LARGE:
            return 1
        return self.shards or min(1 + documents // DOCUMENTS_PER_SHARD, MOST_BY_ITSELF)

    def changeable(self, noun: str, own: dict[str, Any]) -> dict[str, Any]:
        """Return what was set and can change while an index is used; `own` is what its definition says."""
        found: dict[str, Any] = {}
        if self.replicas is not None:
            found |= {"auto_expand_replicas": False, "number_of_replicas": self.replicas}
        if self.refresh_seconds is not None and "refresh_interval" in own:
            found |= {"refresh_interval": f"{self.refresh_seconds}s"}
        return found

    def settings_of(self, noun: str, own: dict[str, Any], documents: int) -> dict[str, Any]:
        """Return all settings that an index is made with."""
        return own | self.changeable(noun, own) | {"number_of_shards": self.shards_for(noun, documents)}
