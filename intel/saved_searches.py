"""Saved searches and what is sent of them, as frozen values that know no database."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

Every = Literal["now", "hour", "day", "week"]
Channel = Literal["webhook", "email"]
DeliveryStatus = Literal["pending", "delivered", "failed"]


@dataclass(frozen=True, slots=True)
class SavedSearch:
    """A search that an account keeps, and who is told of what is added.

    `filters` are members of a request's query, as JSON values, and `roundup`: true where mails are the weekly
    roundup. `webhook_number` and `webhook_at` are the place in the order of additions up to which the webhook was
    told, `mail_number` and `mail_at` the same for mail. `outbox` holds what is to be told before these places move
    on: {"channel", "batches": [{"id", "iocs": [ids]…}…], …}. `revision` rises with every write; while `lease_ends_at`
    is to come, somebody is at work on it.
    """

    id: str
    account_id: str
    name: str
    created_at: datetime
    secret: str
    mail_token: str
    webhook_at: datetime
    mail_at: datetime
    mail_due_at: datetime
    q: str = ""
    filters: dict[str, Any] = field(default_factory=dict)
    webhook_url: str | None = None
    email: str | None = None
    every: Every = "now"
    enabled: bool = True
    revision: int = 0
    webhook_number: int = 0
    mail_number: int = 0
    outbox: dict[str, Any] = field(default_factory=dict)
    lease_ends_at: datetime | None = None
    first_failure_at: datetime | None = None
    switched_off_at: datetime | None = None

    @property
    def roundup(self) -> bool:
        """Tell whether its mails are the weekly roundup."""
        return bool(self.filters.get("roundup"))


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message to the receiver of a saved search; `body` is what is sent, for mail {"subject", "text"} as JSON.

    `attempts` counts the claims and fences every later write; `due_at` is when it may be claimed (again). From
    `started_at` on it is tried for a day.
    """

    id: str
    search_id: str
    account_id: str
    channel: Channel
    body: str
    status: DeliveryStatus
    created_at: datetime
    started_at: datetime
    due_at: datetime
    attempts: int = 0
    last_status: int | None = None
    last_error: str | None = None
    finished_at: datetime | None = None
