"""The shapes of saved searches and their deliveries, and the bodies that they are made from."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from api.models import Body, Name
from intel.saved_searches import Channel, DeliveryStatus, Every

Texts = str | list[str] | None


class SearchChangesBody(Body):
    """Members of a saved search to change; those that are left out stay as they are."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: Name | None = Field(None, examples=["Kestrel infrastructure"])
    q: str | None = Field(None, examples=["kestrel"], description="as the `q` of `/iocs`; empty: all that is added")
    type: Texts = Field(None, description="the filters are those of `/iocs`: one value, or a list of any of them")
    source: Texts = None
    malware: Texts = None
    tag: Texts = None
    tlp: Texts = None
    since: str | None = None
    until: str | None = None
    added_since: str | None = None
    status: Texts = None
    exclude: Texts = None
    min_sources: int | None = Field(None, ge=1)
    webhook_url: str | None = Field(None, max_length=2048, examples=["https://soc.example.org/hooks/ioc"])
    email: str | None = Field(None, examples=["soc@example.org"])
    every: Every | None = Field(None, description="how often mail is sent; a webhook is told at once")
    roundup: bool | None = Field(
        None, description="true: mails are the weekly roundup, on Mondays, in place of what matches"
    )
    enabled: bool | None = Field(None, description="false pauses it; true begins anew, with what is added from then on")

    def asked(self) -> dict[str, Any]:
        """Return the members that were given; null empties one that can be empty."""
        given = self.model_dump(exclude_unset=True)
        kept = {name: value for name, value in given.items() if value is not None or name not in _NEVER_NULL}
        return kept | ({"q": kept["q"] or ""} if "q" in kept else {})


class SavedSearchBody(SearchChangesBody):
    """A search to save."""

    name: Name = Field(examples=["Kestrel infrastructure"])


_NEVER_NULL = frozenset({"name", "every", "roundup", "enabled"})


class SavedSearchModel(BaseModel):
    id: str
    name: str
    q: str | None
    type: list[str]
    source: list[str]
    malware: list[str]
    tag: list[str]
    tlp: list[str]
    since: str | None
    until: str | None
    added_since: str | None
    status: list[str]
    exclude: list[str]
    min_sources: int | None
    webhook_url: str | None
    email: str | None
    every: Every
    roundup: bool
    enabled: bool
    failing_since: datetime | None = Field(description="when its receiver failed first since the last success")
    switched_off_at: datetime | None = Field(description="when it was switched off after a week of failures")
    created_at: datetime


class NewSearchModel(SavedSearchModel):
    secret: str = Field(description="signs what is sent to the webhook; told this once", examples=["whsec_…"])


class DeliveryModel(BaseModel):
    id: str = Field(description="the `webhook-id` that it is sent with, every time")
    channel: Channel
    status: DeliveryStatus
    attempts: int
    last_status: int | None = Field(description="what the receiver answered last; null where it did not answer")
    last_error: str | None = Field(description="what went wrong the last time, for a person")
    created_at: datetime
    next_attempt_at: datetime | None
    finished_at: datetime | None


class MatchedModel(BaseModel):
    """What a webhook is sent."""

    type: Literal["iocs.matched"]
    search: dict[str, str]
    items: list[dict[str, Any]]
