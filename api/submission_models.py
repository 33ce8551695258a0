"""The shape of a submission for the OpenAPI description."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field


class SubmissionModel(BaseModel):
    id: str
    url: str | None = Field(description="null for a file")
    file_name: str | None = Field(description="what a file was called; null for an address")
    source_name: str
    status: Literal["queued", "fetching", "done", "failed"]
    reason: str | None = Field(description="a code, such as `http_403`")
    detail: str | None = Field(description="the same for a person")
    attempts: int
    article_id: str | None
    ioc_count: int | None
    ioc_dropped: int | None = Field(description="indicators beyond the limit of an article")
    again: bool = Field(description="whether it asked for a known article to be read again")
    created_at: datetime
    finished_at: datetime | None


class SubmissionsModel(BaseModel):
    items: list[SubmissionModel] = Field(description="one for each address, in their order")
