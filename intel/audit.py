"""An entry of the audit log."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One thing that somebody did: `actor` did `action` (such as `account.role`) to `target`.

    `id` rises with `done_at`.
    """

    id: str
    done_at: datetime
    actor: str
    action: str
    target: str
    detail: str = ""
