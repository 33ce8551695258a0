"""Copy a whole store into another one, whatever engines keep them: what backups and moves between engines do.

What a store holds is a row of parts. Each is a series of records that are the same on every engine; what an adapter
derives from them (counts, words, cards) is no part, for the adapter of the copy derives it anew. A new noun of the port
is one line in `PARTS` and one in the table of each adapter; tests fail where one is forgotten.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from intel.audit import AuditEntry
from intel.errors import IocError
from intel.feedback import Feedback
from intel.notes import Note
from intel.records import Account, ApiKey, Catalogue, Feed, Reading, Session, Submission, Vote, Week
from intel.saved_searches import Delivery, SavedSearch
from intel.store.entry import Entry
from intel.store.port import Progress
from intel.store.tags import TaggedKind

# A thousand articles or ten thousand sightings at once are plenty for `Articles.save_many`.
_WEIGHT_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True)
class Address:
    """A canonical URL and the articles that claimed it, in the order in which they did so."""

    address: str
    article_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BlockedDomain:
    """A domain whose pages are refused, and since when."""

    domain: str
    blocked_at: datetime


@dataclass(frozen=True, slots=True)
class SourceTrust:
    """A source that is trusted otherwise than usual."""

    source: str
    trust: int


@dataclass(frozen=True, slots=True)
class CataloguePart:
    """One part of the catalogue `name`."""

    name: str
    key: str
    body: bytes


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A file that was handed in and waits to be read (`HandedFile`), with its bytes."""

    id: str
    account_id: str
    submission_id: str
    size: int
    created_at: datetime
    body: bytes


@dataclass(frozen=True, slots=True)
class FirstAdministrator:
    """Which account was made administrator for being the first."""

    account_id: str


@dataclass(frozen=True, slots=True)
class Ledger:
    """The newest number of the change feed, and its time."""

    number: int
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class IocChange:
    """The place of an indicator, or of a removed one, in the change feed; `number` is 0 where it waits for one."""

    id: str
    type: str
    value: str
    number: int
    changed_at: datetime
    added_number: int = 0
    added_at: datetime | None = None
    removed: bool = False


@dataclass(frozen=True, slots=True)
class Tagged:
    """An indicator or article with its tags, of which there is one at least."""

    kind: TaggedKind
    id: str
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A series of records: its name, what they are, and the member of `Store` that they are read through.

    `exact`: as many records as are put can be counted afterwards. Articles that were saved or removed while a state of
    a cluster was taken can leave a mark of them in other parts, which goes nowhere.
    """

    name: str
    kind: type
    member: str
    at_once: int = 1_000
    exact: bool = True


# In the order in which they are put: what others refer to comes first, the ledger before what takes numbers from it.
PARTS: tuple[Part, ...] = (
    Part("first_administrator", FirstAdministrator, "accounts"),
    Part("accounts", Account, "accounts"),
    Part("keys", ApiKey, "accounts"),
    Part("sessions", Session, "accounts"),
    Part("audit", AuditEntry, "audit"),
    Part("blocked_domains", BlockedDomain, "domains"),
    Part("source_trust", SourceTrust, "trusts"),
    Part("feeds", Feed, "feeds"),
    Part("catalogues", Catalogue, "catalogues"),
    Part("catalogue_parts", CataloguePart, "catalogues", at_once=20),
    Part("ledger", Ledger, "iocs", exact=False),
    Part("articles", Entry, "articles", at_once=200),
    Part("addresses", Address, "articles", exact=False),
    Part("tags", Tagged, "tags"),
    Part("changes", IocChange, "iocs", exact=False),
    Part("readings", Reading, "readings", at_once=50),
    Part("files", KeptFile, "files", at_once=2),
    Part("searches", SavedSearch, "searches"),
    Part("deliveries", Delivery, "deliveries", at_once=50),
    Part("submissions", Submission, "submissions"),
    Part("votes", Vote, "votes"),
    Part("notes", Note, "notes"),
    Part("feedback", Feedback, "feedback"),
    Part("weeks", Week, "weeks", at_once=50),
)
# Members of `Store` that are derived from the articles.
DERIVED_MEMBERS = frozenset({"marks", "subjects"})


class CopyIncomplete(IocError):
    """What was copied is not what can be counted afterwards."""


class Records(Protocol):
    """The records of a store, as they were at one moment."""

    async def count(self, part: str) -> int:
        """Return how many records a part has."""

    def of(self, part: str) -> AsyncIterator[Any]:
        """Yield every record of a part; articles are `Entry` without addresses, oldest first."""


class Copier(Protocol):
    """Reads all that a store holds, and fills an empty store with it."""

    def state(self) -> AbstractAsyncContextManager[Records]:
        """Hold one state of the store, whatever is written meanwhile, for as long as the context lasts."""

    async def put(self, part: str, records: Sequence[Any]) -> None:
        """Store records of a part. Nobody else uses the store meanwhile."""

    async def finish(self) -> None:
        """Make everything that was put visible, after the last `put`; none of it is marked by warning lists."""


async def copy_all(records: Records, target: Copier, progress: Progress) -> dict[str, int]:
    """Put every record into an empty store; return how many there were of each part.

    Raises CopyIncomplete where the copy does not hold as many as were put.
    """
    counts = {part.name: await _copy_part(records, target, part, progress) for part in PARTS}
    await target.finish()
    await check_counts(target, counts)
    return counts


async def check_counts(copier: Copier, counts: dict[str, int]) -> None:
    """Count the records of each part again. Raises CopyIncomplete where one has others than it should."""
    async with copier.state() as state:
        for part in PARTS:
            if part.exact and (found := await state.count(part.name)) != counts[part.name]:
                raise CopyIncomplete(f"of {counts[part.name]} records of {part.name}, {found} are in the copy")


async def _copy_part(records: Records, target: Copier, part: Part, progress: Progress) -> int:
    total, done = await records.count(part.name), 0
    async for batch in batches(records.of(part.name), part.at_once):
        await target.put(part.name, batch)
        done += len(batch)
        progress(part.name, done, max(done, total))
    return done


async def batches(records: AsyncIterator[Any], at_once: int) -> AsyncIterator[list[Any]]:
    """Yield records together, at most `at_once`, and fewer where they are heavy."""
    batch: list[Any] = []
    weight = 0
    async for record in records:
        batch.append(record)
        weight += len(record.sightings) if isinstance(record, Entry) else 0
        if len(batch) >= at_once or weight >= _WEIGHT_AT_ONCE:
            yield batch
            batch, weight = [], 0
    if batch:
        yield batch


async def is_empty(copier: Copier) -> bool:
    """Tell whether a store holds no record at all."""
    async with copier.state() as state:
        return not any([await state.count(part.name) for part in PARTS if part.name not in ("ledger", "changes")])
