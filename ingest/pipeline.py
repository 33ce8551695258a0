"""The way of an article: fetch -> read -> save, each given from outside.

Whatever is cut short in between is made up for by doing it again: ids are derived from what they name.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice

from ingest.batch import Batch
from ingest.copies import Compare, ComparedOnce, Copies, compare_here
from ingest.fetch import FetchedPage
from ingest.observing import Observer, Unobserved, timed
from ingest.reading import Page, ReadPage
from ingest.revisions import Revisions
from ingest.warned import marked
from intel.canonical import canonical_url
from intel.ids import OPERATOR
from intel.records import Article, Sighting, Submission
from intel.store import Store
from intel.store.port import Entry
from intel.suffixes import domain_of_url
from intel.tlp import Tlp

Fetch = Callable[[str], Awaitable[FetchedPage]]
Read = Callable[[Page], Awaitable[ReadPage]]


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Takes articles in. Every method raises IngestFailed with its reason, or StoreUnavailable.

    `compare` tells copies of a text, `observer` is told how long the stages take. `save_new` saves the page of an
    address together with others, unless its article is known: then it returns None.
    """

    fetch: Fetch
    read: Read
    store: Store
    clock: Callable[[], datetime]
    compare: Compare = compare_here
    observer: Observer = field(default_factory=Unobserved)
    save_new: Callable[[ReadPage], Awaitable[Article | None]] | None = None

    async def take_submitted(self, submission: Submission) -> Article:
        """Take in the page that was submitted. Only the operator's word for its source is believed."""
        claimed = submission.account_id != OPERATOR or submission.again
        return await self.take_url(submission.url, submission.source_name, claimed=claimed, tlp=submission.tlp)

    async def take_url(self, url: str, source_name: str, *, claimed: bool = False, tlp: Tlp | None = None) -> Article:
        """Fetch, read and save the article at an address, as strict as `tlp` at least.

        Where the source name is only `claimed`, the article counts for the domain that it was fetched from, whatever
        the page says of itself.
        """
        fetched = await timed(self.observer, "fetch", self.fetch(url))
        page = Page(
            body=fetched.body,
            content_type=fetched.content_type,
            charset=fetched.charset,
            url=fetched.final_url,
            source_name=source_name,
            fetched_at=self.clock(),
        )
        final_url = fetched.final_url
        found = (await self._read(page)).restricted(tlp)
        del fetched, page  # it may wait for a while to be saved
        if claimed:
            domain = await asyncio.to_thread(domain_of_url, final_url)
            found = replace(found, article=replace(found.article, source_domain=domain))
        found = replace(found, addresses=(*found.addresses, canonical_url(url)))
        if self.save_new is not None and (saved := await self.save_new(found)) is not None:
            return saved
        known = await self.store.articles.get(found.article.id)
        if known is not None and known.text != found.article.text and not _is_at_home(found, url, final_url):
            # A page of it, or its print or AMP form, which says the same in other words: no revision.
            return known
        return await self._save(found, known)

    async def take_file(self, body: bytes, content_type: str, source_name: str | None) -> Article:
        """Read and save an article from a file; its identity is its content."""
        page = Page(body, content_type, None, None, source_name, self.clock())
        return await self.take_read(await self._read(page))

    async def _read(self, page: Page) -> ReadPage:
        found = await timed(self.observer, "read", self.read(page))
        self.observer.weighed(found.candidates)
        return found

    async def take_read(self, found: ReadPage, *addresses: str) -> Article:
        """Save an article that was read from a file; `addresses` lead to it from now on."""
        known = await self.store.articles.get(found.article.id)
        return await self._save(replace(found, addresses=(*found.addresses, *addresses)), known)

    async def take_new(self, found: Sequence[ReadPage]) -> tuple[Article | None, ...]:
        """Save those of which no article is known, the first of each article; None for all others."""
        known = set(await self.store.articles.get_many([page.article.id for page in found]))
        new: dict[str, ReadPage] = {}
        for page in found:
            if page.article.id not in known:
                new.setdefault(page.article.id, page)
        saved = dict(zip(new, await self._save_new(list(new.values())), strict=True))
        return tuple(saved[page.article.id] if new.get(page.article.id) is page else None for page in found)

    async def take_many(self, found: Sequence[ReadPage]) -> tuple[Article, ...]:
        """Do as `take_read` for several articles, one after the other, in few steps where they are new.

        A caller bounds what it gives at once, as for the store's `save_many`.
        """
        known = set(await self.store.articles.get_many([page.article.id for page in found]))
        taken: list[Article] = []
        new: list[ReadPage] = []
        for page in found:
            if page.article.id in known:
                taken += await self._save_new(new)
                new = []
                taken.append(await self.take_read(page))
            else:
                known.add(page.article.id)
                new.append(page)
        return (*taken, *await self._save_new(new))

    async def _save_new(self, found: Sequence[ReadPage]) -> Sequence[Article]:
        """Save articles of which none is known, and all are different."""
        if not found:
            return ()
        now = self.clock()
        batch = await Batch.begin(self.store.articles, [band for page in found for band in page.bands])
        compare = ComparedOnce(self.compare)
        # Texts are compared in another process, and readings packed in a thread.
        articles, marked_sightings, _ = await asyncio.gather(
            _in_clusters(found, batch, compare),
            self._marked(found),
            Revisions(self.store).begin([(page.article, page) for page in found], now),
        )
        entries = [
            Entry(article, sightings, (*page.addresses, *page.bands))
            for article, page, sightings in zip(articles, found, marked_sightings, strict=True)
        ]
        saved = await timed(self.observer, "save", self.store.articles.save_many(entries))
        owners = await self.store.articles.ids_of(list(batch.owners))
        return await self._settle_new(saved, found, owners, batch, compare, now)

    async def _settle_new(
        self,
        saved: Sequence[Article],
        found: Sequence[ReadPage],
        owners: Mapping[str, str],
        batch: Batch,
        compare: Compare,
        now: datetime,
    ) -> Sequence[Article]:
        """Look at what others saved at the same time: copies of these articles, or other versions of them.

        An article that owns all its bands has no forerunner.
        """
        # As they were read: one that leads has its own cluster, whichever it was saved in when others seemed to lead.
        as_read = batch.again({page.article.id: page.article for page in found})
        copies, revisions = Copies(as_read, compare), Revisions(self.store)
        settled = list(saved)
        for place, (article, page) in enumerate(zip(saved, found, strict=True)):
            leads = all(owners.get(band) == article.id for band in page.bands)
            cluster_id = page.article.cluster_id if leads else await copies.cluster_of(page.article, page.bands)
            if cluster_id != article.cluster_id:
                settled[place] = await self._put(replace(article, cluster_id=cluster_id), page, {*page.addresses})
        pages = {page.article.id: page for page in found}
        for article in await revisions.unsettled(settled):
            await revisions.settle(article, pages[article.id], now)
        return settled

    async def _save(self, found: ReadPage, known: Article | None) -> Article:
        addresses = {*found.addresses}
        copies, revisions = Copies(self.store.articles, self.compare), Revisions(self.store)
        now = self.clock()
        article = await revisions.next(_as_first_seen(found, known), known, found, now)
        article = replace(article, cluster_id=await copies.begin(article, known, found.bands))
        saved = await self._put(article, found, addresses)
        # Copies that came in at the same time see each other only now.
        cluster_id = await copies.cluster_of(saved, found.bands)
        if cluster_id != saved.cluster_id:
            saved = await self._put(replace(article, cluster_id=cluster_id), found, addresses)
        await revisions.settle(saved, found, now)
        return saved

    async def _put(self, article: Article, found: ReadPage, addresses: set[str]) -> Article:
        sightings = await marked(self.store, found.sightings)
        saving = self.store.articles.save(article, sightings, (*sorted(addresses), *found.bands))
        return await timed(self.observer, "save", saving)

    async def _marked(self, found: Sequence[ReadPage]) -> list[list[Sighting]]:
        """Return the sightings of each page, marked by the warning lists in one go."""
        together = iter(await marked(self.store, [one for page in found for one in page.sightings]))
        return [list(islice(together, len(page.sightings))) for page in found]


async def _in_clusters(found: Sequence[ReadPage], batch: Batch, compare: Compare) -> list[Article]:
    """Return new articles, each in the cluster that it belongs to, and add them to the batch."""
    copies, articles = Copies(batch, compare), list[Article]()
    for page in found:
        article = replace(page.article, cluster_id=await copies.cluster_of(page.article, page.bands))
        batch.add(page.article, page.bands)
        articles.append(article)
    return articles


def _is_at_home(found: ReadPage, *urls: str) -> bool:
    """Tell whether an article was asked for or found at its own address."""
    own = found.article.url
    return own is not None and canonical_url(own) in set(map(canonical_url, urls))


def _as_first_seen(found: ReadPage, known: Article | None) -> Article:
    """Keep the source and the time of an article that is read again; the operator's name takes the place of a claim,
    and of any other name where the operator gives it for this reading.
    """
    article = found.article
    if known is None:
        return article
    claimed = article.published_at
    # A page that claims the future, or no time at all, does not become newer by being read again.
    published_at = known.published_at if claimed in (None, article.fetched_at) else claimed
    article = replace(article, fetched_at=known.fetched_at, published_at=published_at)
    if found.source_stated or (known.source_domain is not None and article.source_domain is None):
        return article
    return replace(article, source_name=known.source_name, source_domain=known.source_domain)
