"""The embedded store: one SQLite file in the data folder."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from intel.errors import StoreDamaged
from intel.records import Totals
from intel.store.audit import Audit
from intel.store.copying import Copier
from intel.store.feedback import Feedbacks
from intel.store.feeds import Feeds
from intel.store.files import Files
from intel.store.marks import Marking, Marks
from intel.store.observing import Observe, unobserved
from intel.store.port import (
    Accounts,
    Articles,
    Catalogues,
    Domains,
    Iocs,
    Notes,
    Progress,
    Readings,
    Submissions,
    Tags,
    Trusts,
    Votes,
    Weeks,
)
from intel.store.searches import Deliveries, SavedSearches
from intel.store.sqlite.accounts import SqliteAccounts
from intel.store.sqlite.articles import SqliteArticles, article_totals
from intel.store.sqlite.audit import SqliteAudit
from intel.store.sqlite.catalogues import SqliteCatalogues
from intel.store.sqlite.connection import Database
from intel.store.sqlite.copier import SqliteCopier
from intel.store.sqlite.domains import SqliteDomains
from intel.store.sqlite.feedback import SqliteFeedbacks
from intel.store.sqlite.feeds import SqliteFeeds
from intel.store.sqlite.files import SqliteFiles
from intel.store.sqlite.iocs import SqliteIocs
from intel.store.sqlite.marks import SqliteMarks
from intel.store.sqlite.migrations import check_version, prepare
from intel.store.sqlite.notes import SqliteNotes
from intel.store.sqlite.readings import SqliteReadings
from intel.store.sqlite.reindexing import reindex
from intel.store.sqlite.searches import SqliteDeliveries, SqliteSearches
from intel.store.sqlite.subjects import SqliteSubjects
from intel.store.sqlite.submissions import SqliteSubmissions
from intel.store.sqlite.tags import SqliteTags
from intel.store.sqlite.trust import SqliteTrusts
from intel.store.sqlite.votes import SqliteVotes
from intel.store.sqlite.weeks import SqliteWeeks
from intel.store.subjects import Subjects
from intel.times import utc_now


class SqliteStore:
    """`intel.store.port.Store` on the file at `path`; its folder is made, for its owner alone, where it is missing."""

    def __init__(
        self,
        path: Path,
        clock: Callable[[], datetime] = utc_now,
        observe: Observe = unobserved,
        *,
        writes_much: bool = False,
    ) -> None:
        """`clock` tells when indicators are added and changed, `observe` is told how long reads and writes take.

        Who `writes_much` holds more of the file in memory.
        """
        self._database = Database(path, observe, writes_much=writes_much)
        self._clock = clock
        self._iocs = SqliteIocs(self._database)
        self._articles = SqliteArticles(self._database, clock)
        self._subjects = SqliteSubjects(self._database)
        self._readings = SqliteReadings(self._database)
        self._submissions = SqliteSubmissions(self._database)
        self._accounts = SqliteAccounts(self._database)
        self._weeks = SqliteWeeks(self._database)
        self._feeds = SqliteFeeds(self._database)
        self._files = SqliteFiles(self._database)
        self._searches = SqliteSearches(self._database)
        self._deliveries = SqliteDeliveries(self._database)
        self._domains = SqliteDomains(self._database)
        self._catalogues = SqliteCatalogues(self._database)
        self._votes = SqliteVotes(self._database)
        self._tags = SqliteTags(self._database, clock)
        self._notes = SqliteNotes(self._database, clock)
        self._trusts = SqliteTrusts(self._database)
        self._feedback = SqliteFeedbacks(self._database)
        self._marks = SqliteMarks(self._database)
        self._audit = SqliteAudit(self._database)

    @property
    def iocs(self) -> Iocs:
        return self._iocs

    @property
    def articles(self) -> Articles:
        return self._articles

    @property
    def subjects(self) -> Subjects:
        return self._subjects

    @property
    def readings(self) -> Readings:
        return self._readings

    @property
    def submissions(self) -> Submissions:
        return self._submissions

    @property
    def accounts(self) -> Accounts:
        return self._accounts

    @property
    def weeks(self) -> Weeks:
        return self._weeks

    @property
    def notes(self) -> Notes:
        return self._notes

    @property
    def feedback(self) -> Feedbacks:
        return self._feedback

    @property
    def feeds(self) -> Feeds:
        return self._feeds

    @property
    def files(self) -> Files:
        return self._files

    @property
    def searches(self) -> SavedSearches:
        return self._searches

    @property
    def deliveries(self) -> Deliveries:
        return self._deliveries

    @property
    def domains(self) -> Domains:
        return self._domains

    @property
    def catalogues(self) -> Catalogues:
        return self._catalogues

    @property
    def votes(self) -> Votes:
        return self._votes

    @property
    def tags(self) -> Tags:
        return self._tags

    @property
    def trusts(self) -> Trusts:
        return self._trusts

    @property
    def copier(self) -> Copier:
        return SqliteCopier(self._database, self._articles, self._marks)

    @property
    def audit(self) -> Audit:
        return self._audit

    @property
    def marks(self) -> Marks:
        return self._marks

    async def setup(self) -> None:
        await self._database.exclusively(lambda: prepare(self._database.path))

    async def ping(self) -> None:
        if self._database.damage is not None:
            raise self._database.damage
        await self._database.read(_ping)

    async def check(self) -> None:
        await self._database.read(_check)

    async def marking(self, catalogue: str) -> Marking:
        return Marking(await self.catalogues.imported_at(catalogue), await self.marks.basis())

    async def totals(self) -> Totals:
        return await self._database.read_at_once(_totals)

    async def reindex(self, progress: Progress) -> None:
        await reindex(self._database, self._clock, progress)

    async def close(self) -> None:
        await self._database.close()


def _ping(connection: sqlite3.Connection) -> None:
    check_version(connection)
    connection.execute("SELECT 1 FROM articles LIMIT 1").fetchone()


def _check(connection: sqlite3.Connection) -> None:
    (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise StoreDamaged(f"the store is damaged: {' '.join(str(found).split())[:200]}")


def _totals(connection: sqlite3.Connection) -> Totals:
    of_articles = article_totals(connection)
    (iocs,) = connection.execute("SELECT coalesce(sum(iocs), 0) FROM ioc_counts").fetchone()
    submissions = connection.execute("SELECT status, submissions FROM submission_counts WHERE submissions > 0")
    counts = dict(submissions.fetchall())
    return Totals(of_articles.articles, iocs, of_articles.sources, of_articles.newest_article, counts)
