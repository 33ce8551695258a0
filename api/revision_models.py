"""The shapes of an article's revisions for the OpenAPI description."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

from api.models import IocType


class ArticleRevisionModel(BaseModel):
    """What an article said when it was read: `added` and `vanished` count indicators against the revision before."""

    revision: int
    fetched_at: datetime
    title: str
    ioc_count: int
    added: int
    vanished: int


class NamedIocModel(BaseModel):
    type: IocType
    value: str
    defanged: str


class RevisionDetailModel(BaseModel):
    article_id: str
    revision: int
    fetched_at: datetime
    title: str
    ioc_count: int
    text: str
    iocs: list[NamedIocModel] = Field(description="in order of first appearance")
