"""The store as the rest of the service sees it: one port, kept by SQLite (embedded) and Elasticsearch (served).

Rules for every adapter
-----------------------
- **Same answers.** For the same writes, both give the same records in the same order with the same totals. There are
  no term statistics: a search orders by class of match (0: the whole search names this indicator; 1: every clause
  matches in the value itself; 2: some clause matches only in the titles, source names or malware names of its newest
  20 articles), then `sources` descending, `last_seen` descending, `id` ascending. A list orders by `last_seen`
  descending, `id` ascending. Articles order by `seen_at` descending, `id` ascending, with or without a search.
- **Totals are exact**, counted when `after` is None, None otherwise. `Page.next` is None on the last page.
- **A walk** from page to page meets every record that was there when it began once, unless it changed meanwhile; a
  page far down costs what the first one costs.
- **Writes are idempotent.** Saving an article again replaces its sightings and changes no count. `sightings`,
  `sources`, `first_seen` and `last_seen` of an IOC are derived from its sightings, never incremented, so that any
  number of processes may save at once. When `save` returns, lists, searches and reads see it.
- **By id is at once**: what was written is seen by the next read by id from any process. Submissions, accounts and
  keys are only ever read by id where it matters.
- **Changes**: every change of an indicator takes a higher number than all before it, and of each indicator only the
  newest one is kept: a removed one too, for good. Who asks for the changes after a position, and then for those after
  `ChangePage.next`, at any pace and beside any number of writers, gets the newest state of each indicator after its
  last change, misses none, and gets none again that did not change; `at` never decreases. What an indicator says is a
  change of it, what was only written again is none. Rebuilding changes nothing, and a position holds for ever.
  No two changes share a `Change.moment`, and the changes of one indicator differ in `at`.
- **Durable**: when a write returns it survives the death of the process and of one server.
- **Errors**: StoreUnavailable where the engine is out of reach or refuses writes; a missing record is None.
- Safe for any number of tasks and processes. Times are whole milliseconds, UTC.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from intel.cards import Card
from intel.query import (
    AddedPage,
    AddedPosition,
    ArticleQuery,
    CandidatePage,
    CandidateQuery,
    ChangePage,
    ChangePosition,
    ChangeQuery,
    IocQuery,
    Page,
    Position,
)
from intel.records import (
    Article,
    ArticleTotals,
    Change,
    Facets,
    Ioc,
    Mention,
    Reading,
    SeenIoc,
    Sighting,
    Submission,
    Totals,
    Week,
)
from intel.store.accounts import Accounts as Accounts
from intel.store.audit import Audit
from intel.store.catalogues import Catalogues as Catalogues
from intel.store.domains import Domains as Domains
from intel.store.entry import Entry as Entry
from intel.store.feedback import Feedbacks as Feedbacks
from intel.store.feeds import Feeds
from intel.store.files import Files
from intel.store.marks import Marking, Marks
from intel.store.notes import Notes as Notes
from intel.store.outline import WeekOutline
from intel.store.searches import Deliveries, SavedSearches
from intel.store.subjects import Subjects
from intel.store.tags import Tags as Tags
from intel.store.tally import Indicator, Tally, Told, untold
from intel.store.trust import Trusts as Trusts
from intel.store.votes import Votes as Votes
from intel.store.waiting import BOUNDS, WaitingBounds
from intel.tlp import Tlp

if TYPE_CHECKING:
    from intel.store.copying import Copier


class Iocs(Protocol):
    """Indicators; written only through `Articles.save`."""

    async def find(self, query: IocQuery) -> Page[Ioc]:
        """Return one page of a list or a search; `total` and facets are of the same state as the page."""

    async def find_cards(self, query: IocQuery) -> Page[Card]:
        """Return the same page as `find`, as cards with the votes on them; all of it, `total` too, from one state.

        This and `get_cards` answer most requests. An adapter renders a card's JSON when it writes the record and passes
        the bytes on; it makes one round trip to its engine.
        """

    def stream(self, query: IocQuery) -> AsyncGenerator[tuple[Ioc, ...], None]:
        """Yield all of a list or search in order, some at a time, from one state, whatever its `limit` and `after`."""

    async def get_cards(self, ids: Sequence[str]) -> dict[str, Card]:
        """Return the cards of those of the given ids (at most 10,000) that exist, all from one state."""

    async def malware_named(self, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the stored malware names by each of the given ones (at most 1,000, casefolded) that they are spellings
        of, most sources first, then newest, then by id; a name that is not stored is left out.

        Look-ups of domains ask for this too, so that it must cost no more than a read by id.
        """

    async def facets(self, query: IocQuery) -> Facets:
        """Return how a whole list or search divides by type, source name and week; `limit` and `after` do not count.

        An indicator counts for each source name that any of its articles has.
        """

    async def changes(self, query: ChangeQuery) -> ChangePage:
        """Return the changes after a position, oldest first.

        `added` is what was not there when the follower last had no more to ask for, or was removed since; `changed` is
        any other. Where a filter restricts them, `removed` is told of all of its types. InvalidQuery where the position
        lies beyond the newest change: it belongs to another store.
        """

    async def position_at(self, moment: datetime) -> ChangePosition:
        """Return a position after which all changes come whose `Change.moment` is later; earlier ones may come too."""

    async def changes_of(self, ids: Sequence[str]) -> dict[str, Change]:
        """Return the newest change of each of the given indicators (at most 1,000), removed ones too; none is `added`.

        What no reader of the feed has met yet may still be left out.
        """

    async def newest(self) -> AddedPosition:
        """Return the place after all that was added before this was asked."""

    async def added(self, after: AddedPosition, limit: int) -> AddedPage:
        """Return what was added after a place and is still there, up to what `newest` told last; each once for ever."""

    async def get(self, id: str) -> Ioc | None:
        """Return the indicator with that id, or None."""

    async def get_many(self, ids: Sequence[str]) -> dict[str, Ioc]:
        """Return those of the given ids (at most 10,000) that exist."""

    async def stored(self, ids: Sequence[str]) -> frozenset[str]:
        """Return which of the given ids (at most 10,000) exist: a fraction of the work that it takes to read them."""

    async def mentions_of(self, id: str, limit: int) -> tuple[tuple[Mention, ...], int]:
        """Return its newest articles with the sentence it stood in, and how many articles there are in all."""

    async def related(self, id: str, limit: int) -> tuple[Ioc, ...]:
        """Return the indicators in its newest 20 articles: most shared articles first, then newest, then id."""


class Articles(Protocol):
    """Articles and the sightings of indicators in them."""

    async def save(self, article: Article, sightings: Sequence[Sighting], addresses: Sequence[str]) -> Article:
        """Store or replace an article (with `text`) and its sightings; return it with its counts.

        One that is stored becomes as strict as the given `tlp` at least, and never less strict: `change_tlp` alone does
        that, also beside a save.
        `addresses` are the canonical URLs by which `id_of` finds it from now on (submitted, final, canonical); one that
        already leads to another article keeps leading there. `sightings` are distinct by (type, value).
        Of the articles of one cluster the earliest (`seen_at`, `id`) gives the source name that all of them count for.
        """

    async def save_many(self, entries: Sequence[Entry]) -> tuple[Article, ...]:
        """Save several articles in few steps; mean the same as `save` for one after the other, in their order.

        Where it raises, some of them may be saved. A thousand articles or ten thousand sightings at once are plenty.
        """

    async def change_tlp(self, id: str, tlp: Tlp | None) -> Article | None:
        """Let an article have that level and change nothing else of it but `annotated_at`; return it as it was before,
        None if there is none. Its indicators follow.
        """

    async def remove(self, id: str, *, expired: bool = False) -> bool:
        """Delete an article and all that came from it; return False if there is none.

        Its sightings, words, addresses, revisions and indicators without another article go, with the votes on those.
        Indicators and copies that remain are counted anew, an address leads to the next article that claimed it,
        submissions that ended with the article say that it was removed, and what weekly roundups said since it came in
        is taken back (`Weeks.take_back`), unless the article is only `expired`: it was true then. Safe beside any saves
        and removals.
        """

    async def finish_removals(self) -> None:
        """Finish removals that were cut short by the death of their process."""

    async def id_of(self, address: str) -> str | None:
        """Return the id of the article that a canonical URL leads to, or None."""

    async def ids_of(self, addresses: Sequence[str]) -> dict[str, str]:
        """Return the ids of the articles that addresses lead to, by address, without those that lead nowhere."""

    async def get(self, id: str) -> Article | None:
        """Return the article with its `text`, or None."""

    async def get_many(self, ids: Sequence[str]) -> dict[str, Article]:
        """Return those of the given articles (at most 1,000) that exist, by id; their `text` is None."""

    async def find(self, query: ArticleQuery) -> Page[Article]:
        """Return one page of a list or search over title, summary, text and source name; `text` is None."""

    async def totals(self) -> ArticleTotals:
        """Return how much there is to search: part of every answer that found nothing, which are many."""

    async def newest_titles(self, limit: int) -> tuple[tuple[str, str], ...]:
        """Return title and source name of the newest articles (at most 1,000), in the order of a list."""

    async def texts(self, ids: Sequence[str]) -> dict[str, str]:
        """Return the texts of those of the given articles (at most 100) that exist."""

    async def iocs_of(self, id: str, limit: int, after: Position | None = None) -> Page[Ioc]:
        """Return one page (at most 1,000) of its indicators, in order of first appearance; `total` is None.

        The article's `ioc_count` is their total. A walk stays whole while the article does: one that is saved anew
        meanwhile may order them otherwise.
        """

    async def sightings_of(self, id: str) -> tuple[Sighting, ...]:
        """Return what was seen in an article, in order of first appearance."""

    async def iocs_among(self, id: str, ioc_ids: Sequence[str]) -> dict[str, Ioc]:
        """Return those of the given indicators (at most 10,000) that the article names, by id."""

    async def between(self, start: datetime, end: datetime) -> tuple[Article, ...]:
        """Return articles with start <= `seen_at` < end, oldest first, then by id; `text` is None."""

    def seen_between(self, start: datetime, end: datetime) -> AsyncIterator[SeenIoc]:
        """Yield every sighting in those articles, by ioc_id and article_id."""

    async def tally(
        self, monday: datetime, watch: Collection[Indicator] = (), told: Told = untold, rest_seconds: float = 0.0
    ) -> Tally:
        """Return what the ISO week that begins then comes to; `watch` are indicators whose articles are counted apart.

        `told` hears how many of the week's sightings are counted, and of how many. An adapter that counts them one by
        one rests so long after every few hundred of them, and at least as long as they took.
        """

    async def basis(self, start: datetime, end: datetime) -> str:
        """Return a short text that differs whenever what those three return may differ: cheap to ask."""

    async def outline(self, monday: datetime) -> WeekOutline:
        """Return what is known of the ISO week that begins then; never more than some milliseconds' work."""

    async def weeks(self) -> tuple[datetime, ...]:
        """Return the ISO weeks in which an article was seen, newest first, each as its Monday 00:00 UTC."""

    async def by_week(self, most: int, source: str | None = None) -> dict[datetime, int]:
        """Return how many articles (of a source) each such week has, newest first: of as many weeks in a row as `most`
        up to the newest one.
        """


class Readings(Protocol):
    """What each revision of an article said."""

    async def put(self, reading: Reading) -> None:
        """Store or replace what a revision said, with `text` and `candidates`."""

    async def put_many(self, readings: Sequence[Reading]) -> None:
        """Do as `put` for each of several, in few steps. A caller bounds what it gives at once, as for `save_many`."""

    async def get(self, article_id: str, revision: int) -> Reading | None:
        """Return that revision, with `text` and `candidates`, or None."""

    async def weighed(self, article_id: str, revision: int, query: CandidateQuery) -> CandidatePage | None:
        """Return one page of the candidates of that revision; None where they were not kept."""

    async def of(self, article_id: str) -> tuple[Reading, ...]:
        """Return the outlines of an article's newest 100 revisions, newest first."""


class Submissions(Protocol):
    """Submissions and who is working on them."""

    async def add(self, submission: Submission, bounds: WaitingBounds = BOUNDS) -> Submission:
        """Store a new submission and return it.

        If its id is known: one that failed, or whose article was removed, is replaced by the given one; any other is
        kept and returned.
        QueueFull or AccountQueueFull for one that has to wait and finds no room; additions at once from several servers
        may pass the bounds by as many.
        """

    def all_of(self, account_id: str) -> AsyncIterator[Submission]:
        """Return every submission of an account, in no order."""

    async def page_of(self, account_id: str, limit: int, after: Position | None = None) -> Page[Submission]:
        """Return one page of an account's submissions, newest `created_at` first, ties by id."""

    async def submitters(self, article_id: str) -> frozenset[str]:
        """Return the accounts (at most 1,000) whose submissions ended with an article; not who had it read again."""

    async def remove(self, submission: Submission) -> bool:
        """Delete a submission; False (and nothing done) where its status or attempts have changed since it was read."""

    async def get(self, id: str) -> Submission | None:
        """Return the submission with that id, or None."""

    async def claim(self, id: str, now: datetime, lease_until: datetime) -> Submission | None:
        """Take an unended submission whose `due_at` has come: status fetching, one more attempt, due at the lease's
        end.

        None where there is nothing to take. Of any number of claims at once exactly one succeeds.
        """

    async def update(self, submission: Submission) -> bool:
        """Write a claimed submission back; return False (and write nothing) if it has ended, `attempts` has moved on,
        or it was replaced since (by one of another `created_at`).
        """

    async def hand_back(self, submission: Submission) -> bool:
        """Do as `update`, for a claim that is given up and does not count: `attempts` is one less than was claimed."""

    async def due(self, now: datetime, limit: int) -> tuple[Submission, ...]:
        """Return unended submissions whose `due_at` has come, longest due first, then by id.

        The first FIRST_OF_AN_ACCOUNT of each account come before all others, so that nobody's many hide another's few.
        What another process added or put off in the last ten seconds may not be among them yet.
        """


class Weeks(Protocol):
    """Revisions of the weekly roundups."""

    async def add(self, week: Week) -> bool:
        """Store a revision; False where that revision exists already."""

    async def confirm(self, week: Week) -> None:
        """Note that a stored revision stands for `week.basis` too; changes nothing else of it."""

    async def take_back(self, since: datetime) -> None:
        """Empty every revision generated at that time or later: its `body` is {} and its `basis` TAKEN_BACK.

        Its number stays taken, so that the next revision has a higher one.
        """

    async def get(self, id: str, revision: int | None = None) -> Week | None:
        """Return that revision, or the newest one."""

    async def bases(self, id: str) -> dict[int, str]:
        """Return the basis of each of a week's revisions (the newest 10,000), newest first."""


class Store(Protocol):
    """The whole store. `setup` comes first; `close` last."""

    @property
    def iocs(self) -> Iocs: ...
    @property
    def articles(self) -> Articles: ...
    @property
    def readings(self) -> Readings: ...
    @property
    def submissions(self) -> Submissions: ...
    @property
    def subjects(self) -> Subjects: ...
    @property
    def accounts(self) -> Accounts: ...
    @property
    def weeks(self) -> Weeks: ...
    @property
    def feeds(self) -> Feeds: ...
    @property
    def files(self) -> Files: ...
    @property
    def searches(self) -> SavedSearches: ...
    @property
    def deliveries(self) -> Deliveries: ...
    @property
    def domains(self) -> Domains: ...
    @property
    def catalogues(self) -> Catalogues: ...
    @property
    def votes(self) -> Votes: ...

    @property
    def tags(self) -> Tags: ...
    @property
    def notes(self) -> Notes: ...
    @property
    def trusts(self) -> Trusts: ...
    @property
    def feedback(self) -> Feedbacks: ...
    @property
    def copier(self) -> Copier: ...
    @property
    def audit(self) -> Audit: ...
    @property
    def marks(self) -> Marks: ...

    async def setup(self) -> None:
        """Make what is missing of tables or indices; changes nothing that is there; safe from several processes at
        once.
        """

    async def ping(self) -> None:
        """Return where the store answers; StoreUnavailable where it does not."""

    async def check(self) -> None:
        """Read through the store's own structure; raise StoreDamaged where that is broken."""

    async def marking(self, catalogue: str) -> Marking:
        """Return by which lists indicators are marked; for answers: of what another server did it may tell half a
        second late.
        """

    async def totals(self) -> Totals:
        """Return how much the store holds."""

    async def reindex(self, progress: Progress) -> None:
        """Rebuild what searches read from what is stored, while reads and writes go on; loses none of them."""

    async def close(self) -> None:
        """Give back files and connections."""


class Progress(Protocol):
    """Told how far a long work has come."""

    def __call__(self, what: str, done: int, total: int) -> None: ...
