"""Several new articles that are saved together: which cluster each belongs to, as if one were saved after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ingest.copies import KnownArticles
from intel.records import Article


@dataclass(frozen=True, slots=True)
class Batch:
    """The articles of a store, and those that are saved beside them, as they were read (`ingest.copies.KnownArticles`).

    `owners` says who has claimed each band of the batch's articles, None where nobody has. A text of the store is read
    once for the batch, and for the look `again` at what others did meanwhile.
    """

    stored: KnownArticles
    owners: dict[str, str | None]
    _articles: dict[str, Article] = field(default_factory=dict)
    _texts: dict[str, str] = field(default_factory=dict)

    @classmethod
    async def begin(cls, stored: KnownArticles, bands: Sequence[str]) -> Batch:
        """Return a batch without articles yet, of which the given bands are all."""
        claimed = await stored.ids_of(bands) if bands else {}
        return cls(stored, {band: claimed.get(band) for band in bands})

    def again(self, articles: dict[str, Article]) -> Batch:
        """Return a batch of these articles, to look at what others claimed since this one was begun."""
        return Batch(self.stored, {}, articles, self._texts)

    def add(self, article: Article, bands: Sequence[str]) -> None:
        """Let an article claim those of its bands that nobody has, as saving it does."""
        self._articles[article.id] = article
        for band in bands:
            self.owners[band] = self.owners[band] or article.id

    async def ids_of(self, addresses: Sequence[str]) -> dict[str, str]:
        elsewhere = [address for address in addresses if address not in self.owners]
        here = {address: owner for address in addresses if (owner := self.owners.get(address))}
        return {**here, **(await self.stored.ids_of(elsewhere) if elsewhere else {})}

    async def texts(self, ids: Sequence[str]) -> dict[str, str]:
        here = {id: self._articles[id].text or "" for id in ids if id in self._articles}
        elsewhere = [id for id in ids if id not in here]
        if unread := [id for id in elsewhere if id not in self._texts]:
            self._texts.update(await self.stored.texts(unread))
        return here | {id: self._texts[id] for id in elsewhere if id in self._texts}

    async def get(self, id: str) -> Article | None:
        return self._articles.get(id) or await self.stored.get(id)
