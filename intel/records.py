"""The nouns of the contract as frozen values that know no database."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from intel.indicator_types import NAMES
from intel.tlp import Tlp

# Every type, in the order of its registry.
IOC_TYPES: tuple[str, ...] = NAMES

KEYS_PER_ACCOUNT = 5
# The slots from here on, as many, hold the account's feed tokens.
FIRST_FEED_TOKEN_SLOT = 5
# An IOC is searchable by, and its malware names come from, this many of its newest articles.
NEWEST_ARTICLES = 20

# What a file counts for that an account handed in: all of them together are one source, whatever they are called.
SUBMITTED_FILE = "submitted file"
# The source of a file that names none and that nobody named one for.
IMPORTED_FILE = "imported file"
# So many changes may share a millisecond: what tells them apart are the microseconds of `Change.moment`.
CHANGES_PER_MILLISECOND = 1_000

# What a submission says whose article was removed.
REMOVED = "The article was removed."

SubmissionStatus = Literal["queued", "fetching", "done", "failed"]
Role = Literal["reader", "submitter", "administrator"]
Scope = Literal["read", "submit", "export"]
SCOPES: tuple[Scope, ...] = ("read", "submit", "export")
ChangeEvent = Literal["added", "changed", "removed"]


def claim_members(source_domain: str | None) -> dict[str, Any]:
    """Return the members that mark a claimed source name; none for an operator's."""
    return {"source_claimed": True, "source_domain": source_domain} if source_domain else {}


@dataclass(frozen=True, slots=True)
class ArticleRef:
    """An article as an IOC points at it; `seen_at` is `published_at`, else `fetched_at`.

    `source_domain` is set where `source_name` is only claimed (see `Article`).
    """

    id: str
    title: str
    url: str | None
    source_name: str
    published_at: datetime | None
    seen_at: datetime
    source_domain: str | None = None

    @property
    def counted_source(self) -> str:
        """The source that somebody answers for: the page's domain where the name is only claimed."""
        return self.source_domain or self.source_name

    @property
    def claim(self) -> dict[str, Any]:
        """`claim_members` of the article, wherever it is shown."""
        return claim_members(self.source_domain)

    @property
    def source_label(self) -> str:
        """The source's name for a person; a claimed one says so."""
        if self.source_domain is None:
            return self.source_name
        where = " of a file" if self.source_domain == SUBMITTED_FILE else f"; page on {self.source_domain}"
        return f"{self.source_name} (claimed by the submitter{where})"


@dataclass(frozen=True, slots=True)
class Mention:
    """An article that names an indicator; `context` is the sentence it stood in."""

    article: ArticleRef
    context: str


@dataclass(frozen=True, slots=True)
class Ioc:
    """One indicator: unique by type and canonical value; `article` is its most recent source.

    `added_at` is when the store first held it and `changed_at` when anything else of it last changed, both by the
    store's own clock; two records that differ in these alone are equal. `tlp` is the strictest of all its articles.
    """

    id: str
    type: str
    value: str
    first_seen: datetime
    last_seen: datetime
    sightings: int
    sources: int
    context: str
    malware: tuple[str, ...]
    article: ArticleRef
    added_at: datetime = field(compare=False)
    changed_at: datetime = field(compare=False)
    tags: tuple[str, ...] = ()
    tlp: Tlp | None = None

    @property
    def title(self) -> str:
        return self.article.title

    @property
    def source_name(self) -> str:
        return self.article.source_name


@dataclass(frozen=True, slots=True)
class Change:
    """The newest change of one indicator; `ioc` is its state since then, None where it was removed.

    `number` is its place in the order of all changes. `added_at` is when the indicator was added, None where a former
    version removed it.
    """

    event: ChangeEvent
    at: datetime
    id: str
    type: str
    value: str
    ioc: Ioc | None
    number: int
    added_at: datetime | None

    @property
    def moment(self) -> datetime:
        """Its time in microseconds, which no other change shares: later changes have later ones."""
        return self.at + timedelta(microseconds=self.number % CHANGES_PER_MILLISECOND)


@dataclass(frozen=True, slots=True)
class Sighting:
    """An indicator as it stands in one article; `position` is its place in order of first appearance.

    `warned` where it stands on a warning list: so a new indicator is marked; of one that is stored `Marks` knows.
    """

    type: str
    value: str
    context: str
    malware: tuple[str, ...] = ()
    position: int = 0
    warned: bool = False


@dataclass(frozen=True, slots=True)
class SeenIoc:
    """One sighting read back: which indicator, in which article, when, and the source it counts for."""

    ioc_id: str
    type: str
    value: str
    article_id: str
    counted_source: str
    seen_at: datetime
    first_seen: datetime
    malware: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Article:
    """One article. `text` is None in lists; `notes` are the limits that were reached while reading it.

    `source_domain` is set where an account submitted the page, so that `source_name` is only what that account calls
    it: the domain that somebody registered for the page, by which the article counts as a source, or SUBMITTED_FILE. It
    is None where the operator names the source (feeds, imports, the command line).

    `cluster_id` is shared by articles of the same text, or nearly the same: they count as one independent source.
    `ioc_dropped` indicators were found beyond the limit of an article and are not stored. `revision` rises when the
    article, read again, says something else. `findings` is what its text says about CVEs, as JSON values:
    {CVE id: {"exploitation": "in_the_wild" | "poc", "quote": str, "cvss": {"score", "version", "vector"}}}, each
    member only where the text says it. `structure` is the stored form of the text's blocks (`intel.text_blocks`), empty
    where no page told them, and in lists. `tags` are what accounts put on it: read from the store, and kept there
    whatever a saved article says. `tlp` is how far it may be passed on, None where nothing says it. `annotated_at` is
    when an account last changed either of them, by the store's own clock: it rises with each change, and saving the
    article again keeps it; two records that differ in this alone are equal.
    """

    id: str
    url: str | None
    title: str
    source_name: str
    author: str | None
    published_at: datetime | None
    fetched_at: datetime
    language: str | None
    summary: str
    cluster_id: str
    text: str | None = None
    notes: tuple[str, ...] = ()
    ioc_counts: dict[str, int] = field(default_factory=dict)
    ioc_dropped: int = 0
    revision: int = 1
    findings: dict[str, Any] = field(default_factory=dict)
    source_domain: str | None = None
    structure: str = ""
    tags: tuple[str, ...] = ()
    tlp: Tlp | None = None
    annotated_at: datetime | None = field(default=None, compare=False)

    @property
    def counted_source(self) -> str:
        """The source that the article counts for, unless it is a copy of an earlier one."""
        return self.source_domain or self.source_name

    @property
    def seen_at(self) -> datetime:
        return self.published_at or self.fetched_at

    @property
    def changed_at(self) -> datetime:
        """When it was last read or annotated."""
        return max(self.fetched_at, self.annotated_at or self.fetched_at)

    @property
    def ioc_count(self) -> int:
        return sum(self.ioc_counts.values())

    @property
    def ref(self) -> ArticleRef:
        return ArticleRef(
            self.id, self.title, self.url, self.source_name, self.published_at, self.seen_at, self.source_domain
        )


@dataclass(frozen=True, slots=True)
class Reading:
    """What one revision of an article said: its text, its indicators as (type, value), and all that was weighed.

    `candidates` are JSON objects, kept and dropped ones, in order of appearance. Both `text` and `candidates` are None
    where only the outline was asked for.
    """

    article_id: str
    revision: int
    fetched_at: datetime
    title: str
    iocs: tuple[tuple[str, str], ...]
    text: str | None = None
    candidates: tuple[dict[str, Any], ...] | None = None


@dataclass(frozen=True, slots=True)
class Catalogue:
    """A list published by somebody else, imported whole: its name, the day it speaks of, and where it came from."""

    name: str
    as_of: datetime
    imported_at: datetime
    source: str
    entries: int


@dataclass(frozen=True, slots=True)
class Vote:
    """One account's word that an indicator is a false positive, and why."""

    ioc_id: str
    account_id: str
    note: str
    voted_at: datetime


@dataclass(frozen=True, slots=True)
class Facets:
    """How many of the indicators of a list or search there are of each type, source name and ISO week of `last_seen`.

    All types that occur; the 20 source names with the most, most first, then by name; the 26 newest weeks that occur,
    newest first.
    """

    types: dict[str, int]
    sources: dict[str, int]
    weeks: dict[str, int]


@dataclass(frozen=True, slots=True)
class Submission:
    """One account's request to read one address; with `again`, though the article there is known already.

    `tlp` is how far it may be passed on, as who submits it says.

    Of a file `url` is empty, `file_name` what it is called, and `file_id` says where the store keeps it meanwhile.
    `attempts` counts the claims and fences every later write, `put_off` those of them that ended with an answer to try
    again later. `due_at` is when it may be claimed (again): the end of the running claim's lease, or of the wait before
    a retry.
    """

    id: str
    account_id: str
    url: str
    source_name: str
    status: SubmissionStatus
    created_at: datetime
    due_at: datetime
    attempts: int = 0
    first_attempt_at: datetime | None = None
    reason: str | None = None
    detail: str | None = None
    article_id: str | None = None
    ioc_count: int | None = None
    ioc_dropped: int | None = None
    finished_at: datetime | None = None
    again: bool = False
    put_off: int = 0
    file_id: str | None = None
    file_name: str | None = None
    tlp: Tlp | None = None

    @property
    def ended(self) -> bool:
        return self.status in ("done", "failed")


@dataclass(frozen=True, slots=True)
class HandedFile:
    """A file that an account handed in, kept until its submission has ended; `size` is in bytes."""

    id: str
    account_id: str
    submission_id: str
    size: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Account:
    """Who may hold keys and sign in; `session_epoch` rises when every session must end.

    A `reader` may not submit articles; an `administrator` may also remove what others submitted. `two_factor` holds
    what `api.accounts.two_factor` keeps of its codes: nothing where signing in takes none.
    """

    id: str
    email: str
    password_hash: str
    created_at: datetime
    disabled_at: datetime | None = None
    session_epoch: int = 0
    role: Role = "submitter"
    two_factor: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ApiKey:
    """One of an account's slots, five for keys and five for feed tokens; the secret itself is kept nowhere.

    From `expires_at` on it stands for nobody, and its slot is free. `scopes` are what it may be used for.
    """

    account_id: str
    slot: int
    name: str
    secret_hash: str
    created_at: datetime
    last_used_at: datetime | None = None
    revoked_at: datetime | None = None
    expires_at: datetime | None = None
    scopes: tuple[Scope, ...] = SCOPES

    def expired(self, now: datetime) -> bool:
        """Tell whether its time has ended."""
        return self.expires_at is not None and self.expires_at <= now


@dataclass(frozen=True, slots=True)
class Session:
    """A signed-in browser; `id` is a hash of what the cookie holds."""

    id: str
    account_id: str
    epoch: int
    created_at: datetime
    last_used_at: datetime
    expires_at: datetime
    user_agent: str


@dataclass(frozen=True, slots=True)
class Week:
    """One revision of a weekly roundup; `basis` is what it was computed from, `body` its published members."""

    id: str
    revision: int
    basis: str
    generated_at: datetime
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ArticleTotals:
    """How many articles there are, of how many sources, and when the newest of them was seen."""

    articles: int
    sources: int
    newest_article: datetime | None


@dataclass(frozen=True, slots=True)
class Totals:
    """What the store holds."""

    articles: int
    iocs: int
    sources: int
    newest_article: datetime | None
    submissions: dict[str, int]


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed that is followed.

    `revision` rises with every write and fences off whoever read an older one; while `lease_ends_at` is to come,
    somebody is polling it. `etag` and `last_modified` are what the site asks to hear again; `failures` counts those
    since the last success, and `last_error` says in words what went wrong then. One with `ended_at` is polled no more.
    """

    id: str
    url: str
    name: str
    created_at: datetime
    next_poll_at: datetime
    enabled: bool = True
    revision: int = 0
    interval_seconds: int = 3600
    etag: str | None = None
    last_modified: str | None = None
    lease_ends_at: datetime | None = None
    last_polled_at: datetime | None = None
    last_success_at: datetime | None = None
    failures: int = 0
    last_error: str | None = None
    ended_at: datetime | None = None
