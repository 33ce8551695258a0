"""What readers call wrong in what was read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Feedback:
    """One account's word that a candidate was wrongly kept or wrongly dropped; `kept` is what the rules did.

    `text` is the sentence around the spelling, so that the example is whole without the article.
    """

    id: str
    article_id: str
    account_id: str
    type: str
    value: str
    spelling: str
    text: str
    kept: bool
    rule: str
    title: str
    url: str | None
    said_at: datetime
