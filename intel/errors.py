"""The errors that cross a room's border; the API translates them in one table.

IocError
├── ConfigurationError      a setting is missing or wrong; the command line exits with 2
├── NotAnIndicator          a string that is not of the indicator type it was given as
├── InvalidQuery            a search that cannot be understood (too long, NUL, a foreign cursor)
├── Forbidden               the account may not do this
├── NotFound                nothing is stored under that id
├── AccountExists           the e-mail address already has an account
├── KeyLimitReached         the account already holds five API keys
├── SearchLimitReached      the account already keeps as many searches as it may
├── QueueFull               as many submissions wait as may; passes by itself
│   └── AccountQueueFull    as many submissions of the account wait as may
├── StoreUnavailable        the store is out of reach or refuses writes; passes by itself
│   ├── CredentialsRefused  the engine does not let this service in
│   ├── StoreDamaged        its file is damaged; stays so until somebody repairs it
│   └── WritesRefused       it can be read but takes no writes: its disk is full or read-only
├── CatalogueUnreadable     a file is not the catalogue that it was given as, or is damaged
└── IngestFailed            an article could not be taken in
    ├── RefusedUrl          its address may not be fetched
    │   └── BlockedDomain   an administrator blocked its domain
    ├── FetchFailed         fetching it failed
    ├── ArticleUnreadable   what came back holds no article
    └── IsolationFailed     the process that parsed it ran out of time, memory or luck
"""

from __future__ import annotations

from typing import ClassVar


class IocError(Exception):
    """Base of every error that this service raises on purpose."""


class ConfigurationError(IocError):
    """A setting is missing or wrong; the message is one sentence for the operator."""


class NotAnIndicator(IocError):
    """`raw` is not an indicator of type `type`."""

    def __init__(self, type: str, raw: str) -> None:
        super().__init__(f"not a valid {type}: {raw[:80]!r}")
        self.type = type
        self.raw = raw


class InvalidQuery(IocError):
    """The parameter `field` cannot be understood; `message` says why."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message


class Forbidden(IocError):
    """The account's role does not allow this; the message is one sentence for its owner."""


class NotFound(IocError):
    """Nothing is stored under that id."""


class AccountExists(IocError):
    """The e-mail address already has an account."""


class KeyLimitReached(IocError):
    """The account already holds as many API keys as it may."""


class SearchLimitReached(IocError):
    """The account already keeps as many searches as it may."""

    def __init__(self, most: int) -> None:
        super().__init__(
            f"Your account keeps {most} searches already, and that is the limit; delete one to save another."
        )


class QueueFull(IocError):
    """As many submissions wait to be read as may; trying again after `retry_after_seconds` is sensible."""

    def __init__(self, message: str = "Too many submissions wait to be read; try again later.") -> None:
        super().__init__(message)
        self.retry_after_seconds = 60


class AccountQueueFull(QueueFull):
    """As many submissions of one account wait to be read as may."""


class StoreUnavailable(IocError):
    """The store is out of reach or refuses writes; trying again after `retry_after_seconds` is sensible."""

    # What a client is told.
    told: ClassVar[str] = "The store is out of reach at the moment; try again shortly."

    def __init__(self, message: str = "the store is out of reach", retry_after_seconds: int = 5) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class CredentialsRefused(StoreUnavailable):
    """The engine does not accept this service's credentials; the message says which settings to correct."""


class StoreDamaged(StoreUnavailable):
    """The store's file cannot be read, or not whole; it stays so until an operator repairs or restores it."""

    told = "The store is damaged and has to be repaired by its operator; its log says more."

    def __init__(self, message: str) -> None:
        super().__init__(message, retry_after_seconds=300)


class WritesRefused(StoreUnavailable):
    """The store takes no writes because its disk is full or read-only; what is stored can be read."""

    told = "The store can keep nothing new at the moment: its disk is full or read-only. Reading goes on."

    def __init__(self, message: str) -> None:
        super().__init__(message, retry_after_seconds=60)


class CatalogueUnreadable(IocError):
    """What was given is not that catalogue, or is damaged; the message is one sentence for the operator."""


class IngestFailed(IocError):
    """An article could not be taken in.

    `reason` is a code (`http_403`), `detail` a sentence for a person that reveals nothing internal, `retryable` says
    whether a later attempt may succeed, `retry_after_seconds` when the site asked for that.
    """

    def __init__(
        self, reason: str, detail: str, *, retryable: bool = False, retry_after_seconds: float | None = None
    ) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail
        self.retryable = retryable
        self.retry_after_seconds = retry_after_seconds


class RefusedUrl(IngestFailed):
    """The address may not be fetched."""


class BlockedDomain(RefusedUrl):
    """An administrator blocked the domain of the address."""


class FetchFailed(IngestFailed):
    """Fetching the page failed."""


class ArticleUnreadable(IngestFailed):
    """What came back holds no article."""


class IsolationFailed(IngestFailed):
    """The process that parsed the page ran out of time, memory or luck."""
