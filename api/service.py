"""What the handlers work with: the parts of one running service, put together in `api.app`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from starlette.requests import Request

from api.accounts.keys import Keys
from api.accounts.open_id import OpenId
from api.accounts.passwords import Passwords
from api.apart import Apart
from api.cursors import Cursors
from api.limits.caller import CALLER, Caller, KeyIdentity
from api.limits.port import Limiter
from api.limits.tiers import Tiers
from api.metrics import Metrics
from api.uploads import Uploads
from ingest.isolated import Isolation
from ingest.queue.port import Queue
from ingest.roundups import Roundups
from ingest.submitting import Submitting
from intel.awareness import Lesson
from intel.errors import Forbidden
from intel.focus import Focus
from intel.records import Role
from intel.settings import Settings
from intel.store import Store


@dataclass(frozen=True, slots=True)
class Service:
    """The parts; nothing in here knows which adapter stands behind a port."""

    settings: Settings
    store: Store
    queue: Queue
    limiter: Limiter
    tiers: Tiers
    keys: Keys
    feed_tokens: Keys
    passwords: Passwords
    cursors: Cursors
    submitting: Submitting
    lessons: tuple[Lesson, ...]
    focus: Focus
    roundups: Roundups
    metrics: Metrics
    clock: Callable[[], datetime]
    apart: Apart
    isolation: Isolation
    uploads: Uploads
    open_id: OpenId | None


def service_of(request: Request) -> Service:
    """Return the service that answers this request."""
    service: Service = request.app.state.service
    return service


def caller_of(request: Request) -> Caller:
    """Return who makes this request to a limited path."""
    caller: Caller = request.scope[CALLER]
    return caller


def account_of(request: Request) -> str:
    """Return the account whose key makes this request; only for paths that need a key."""
    return _identity(request).account_id


def role_of(request: Request) -> Role:
    """Return the role of the account whose key makes this request; only for paths that need a key."""
    return _identity(request).role


def submitter_of(request: Request) -> str:
    """Do as `account_of`, for requests that submit. Raises Forbidden where the account's role does not allow that."""
    identity = _identity(request)
    check_may_submit(identity.role)
    return identity.account_id


def administrator_of(request: Request) -> str:
    """Do as `account_of`, for what administrators alone may do. Raises Forbidden."""
    identity = _identity(request)
    if identity.role != "administrator":
        raise Forbidden("Only administrators may do this; one of them can change your account's role.")
    return identity.account_id


def tagger_of(request: Request) -> str:
    """Do as `account_of`, for requests that tag. Raises Forbidden where the account's role does not allow that."""
    identity = _identity(request)
    check_may_tag(identity.role)
    return identity.account_id


def check_may_tag(role: Role) -> None:
    """Raise Forbidden where an account with that role may not tag."""
    if role == "reader":
        raise Forbidden("Your account may read but not tag; an administrator can change its role.")


def noter_of(request: Request) -> str:
    """Do as `account_of`, for requests about notes. Raises Forbidden where the account's role does not allow that."""
    identity = _identity(request)
    check_may_note(identity.role)
    return identity.account_id


def check_may_note(role: Role) -> None:
    """Raise Forbidden where an account with that role may write no notes."""
    if role == "reader":
        raise Forbidden("Your account may read but not write notes; an administrator can change its role.")


def check_may_submit(role: Role) -> None:
    """Raise Forbidden where an account with that role may not submit articles."""
    if role == "reader":
        raise Forbidden("Your account may read but not submit; an administrator can change its role.")


def _identity(request: Request) -> KeyIdentity:
    identity = caller_of(request).identity
    assert identity is not None  # noqa: S101 - the limits refuse a request without a key before it comes here
    return identity
