"""The store on Elasticsearch, assembled from its parts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Any

from intel.records import Totals
from intel.settings import ElasticsearchSettings
from intel.store.elastic.accounts import ElasticAccounts
from intel.store.elastic.addresses import Addresses
from intel.store.elastic.articles import ElasticArticles
from intel.store.elastic.audit import ElasticAudit
from intel.store.elastic.bulk import Bulk
from intel.store.elastic.catalogues import ElasticCatalogues
from intel.store.elastic.changes import Changes
from intel.store.elastic.client import STEADY_SECONDS, Cluster, Patience
from intel.store.elastic.clusters import Clusters
from intel.store.elastic.copier import ElasticCopier
from intel.store.elastic.domains import ElasticDomains
from intel.store.elastic.feedback import ElasticFeedbacks
from intel.store.elastic.feeds import ElasticFeeds
from intel.store.elastic.files import ElasticFiles
from intel.store.elastic.index import Index
from intel.store.elastic.indices import Indices
from intel.store.elastic.iocs import ElasticIocs
from intel.store.elastic.kept import Kept
from intel.store.elastic.layout import Layout
from intel.store.elastic.malware_names import MalwareNames
from intel.store.elastic.marks import ElasticMarks
from intel.store.elastic.notes import ElasticNotes
from intel.store.elastic.queries import THERE
from intel.store.elastic.readings import ElasticReadings
from intel.store.elastic.reads import Reads
from intel.store.elastic.recount import Recount
from intel.store.elastic.reindex import Reindex
from intel.store.elastic.removing import Removing
from intel.store.elastic.saving import HELD_SECONDS, Saving
from intel.store.elastic.searches import ElasticDeliveries, ElasticSearches
from intel.store.elastic.subjects import ElasticSubjects
from intel.store.elastic.submissions import ElasticSubmissions
from intel.store.elastic.tags import ElasticTags
from intel.store.elastic.trust import ElasticTrusts
from intel.store.elastic.votes import ElasticVotes
from intel.store.elastic.weeks import ElasticWeeks
from intel.store.marks import Marking
from intel.store.observing import Observe, unobserved
from intel.store.port import Progress
from intel.times import utc_now

# Every answer with indicators asks by which lists they are marked.
_KEPT_SECONDS = 0.5
_WITH_LONG_DOCUMENTS = frozenset({"articles", "readings", "catalogue_parts", "weeks", "submissions"})


class ElasticStore:
    """`intel.store.port.Store` on an Elasticsearch cluster; connects when first asked."""

    def __init__(
        self,
        settings: ElasticsearchSettings,
        held_seconds: float = HELD_SECONDS,
        steady_seconds: float = STEADY_SECONDS,
        clock: Callable[[], datetime] = utc_now,
        observe: Observe = unobserved,
    ) -> None:
        """`held_seconds`: how long what a killed process was at, such as saving an article, stays closed to others.

        `steady_seconds`: how long it has to answer without trouble before an outage is over.
        `clock` tells when indicators are added and changed, `observe` is told how long reads and writes take.
        """
        self._cluster = Cluster(settings, steady_seconds, observe)
        self._reads = Reads(self._cluster)
        self._indices = Indices(self._cluster, settings.index_prefix, Layout.of(settings))
        bulk = Bulk(self._cluster)
        iocs, sightings, articles = self._index("iocs"), self._index("sightings"), self._index("articles")
        self.votes = ElasticVotes(self._index("votes"), iocs, bulk)
        self._malware_names = MalwareNames(self._index("malware_names"), iocs, bulk)
        recount = Recount(iocs, sightings, bulk, clock, self.votes, self._malware_names)
        clusters = Clusters(self._index("clusters"), articles, sightings, bulk)
        addresses = Addresses(self._index("addresses"), articles, bulk)
        saving = Saving(articles, sightings, addresses, iocs, bulk, clusters, recount, clock, held_seconds)
        changes = Changes(iocs, self._index("leases"), bulk, clock, held_seconds)
        self.iocs = ElasticIocs(iocs, sightings, changes, self.votes, self._malware_names)
        self.readings = ElasticReadings(self._index("readings"), bulk)
        self.submissions = ElasticSubmissions(self._index("submissions"), articles)
        self.weeks = ElasticWeeks(self._index("weeks"))
        self.notes = ElasticNotes(self._index("notes"), iocs, articles, bulk, clock)
        removing = Removing(saving, self.readings, self.submissions, self.votes, self.notes, self.weeks)
        self.subjects = ElasticSubjects(articles, sightings, iocs)
        self.articles = ElasticArticles(articles, sightings, iocs, self.subjects, saving, removing)
        leases = self._index("leases")
        self.accounts = ElasticAccounts(
            self._index("accounts"), self._index("keys"), self._index("sessions"), leases, bulk
        )
        self.audit = ElasticAudit(self._index("audit"), bulk)
        self.tags = ElasticTags(iocs, articles, bulk, clock)
        self.trusts = ElasticTrusts(self._index("source_trust"), sightings)
        self._markings = Kept[str, Marking](_KEPT_SECONDS, lambda _: True)
        self.marks = ElasticMarks(iocs, leases, bulk, self._markings.changing)
        self.feeds = ElasticFeeds(self._index("feeds"))
        self.files = ElasticFiles(self._index("files"))
        self.deliveries = ElasticDeliveries(self._index("deliveries"))
        self.searches = ElasticSearches(self._index("searches"), self.deliveries)
        self.domains = ElasticDomains(self._index("blocked_domains"))
        self.feedback = ElasticFeedbacks(self._index("feedback"))
        self.catalogues = ElasticCatalogues(
            self._index("catalogues"), self._index("catalogue_parts"), bulk, self._markings.changing
        )
        self.copier = ElasticCopier(self._index, bulk, self.articles, self.votes, self.tags, self.marks)
        self._reindex = Reindex(self._cluster, self._indices, leases, bulk, recount)
        self._cluster.repair_by(self._make_indices, self._reindex.recover)

    def _index(self, noun: str) -> Index:
        return Index(self._cluster, self._indices.alias(noun), None if noun in _WITH_LONG_DOCUMENTS else self._reads)

    async def setup(self) -> None:
        await self._make_indices()
        await self._reindex.recover()

    async def _make_indices(self) -> None:
        await self._indices.make()
        await asyncio.gather(self.accounts.appoint_first_administrator(), self._malware_names.complete())

    async def ping(self) -> None:
        await self._cluster.ask("GET", "/_cluster/health", timeout="1s", filter_path="status")
        await self._cluster.ask("GET", f"/{self._indices.alias('accounts')}/_doc/none")

    async def check(self) -> None:
        await self.ping()  # the cluster checks its files itself

    async def marking(self, catalogue: str) -> Marking:
        async def read() -> Marking:
            return Marking(*await asyncio.gather(self.catalogues.imported_at(catalogue), self.marks.basis()))

        return await self._markings.get(catalogue, read)

    async def totals(self) -> Totals:
        submissions = self._index("submissions")
        await submissions.refresh(Patience.REFRESH)
        searches = [(self._index("iocs"), _IOC_TOTAL), (submissions, _SUBMISSION_TOTALS)]
        of_articles, (iocs, statuses) = await asyncio.gather(
            self.articles.totals(), submissions.search_beside(searches, _TOTALS_FILTER)
        )
        return Totals(
            articles=of_articles.articles,
            iocs=iocs["hits"]["total"]["value"],
            sources=of_articles.sources,
            newest_article=of_articles.newest_article,
            submissions={each["key"]: each["doc_count"] for each in statuses["aggregations"]["status"]["buckets"]},
        )

    async def clear(self) -> None:
        """Delete every index and make it anew, empty."""
        for noun in self._indices.nouns:
            for version in await self._indices.versions(noun):
                await self._indices.drop(version.name)
        await self._make_indices()

    async def reindex(self, progress: Progress) -> None:
        await self._reindex.run(progress)

    async def close(self) -> None:
        await self._cluster.close()


_TOTALS_FILTER = "hits.total.value,aggregations.status.buckets"
_IOC_TOTAL: dict[str, Any] = {"size": 0, "track_total_hits": True, "query": THERE}
_SUBMISSION_TOTALS: dict[str, Any] = {
    "size": 0,
    "track_total_hits": False,
    "aggs": {"status": {"terms": {"field": "status"}}},
}
