"""The shapes of the REST API for its OpenAPI description, and the bodies that it accepts."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator

IocType = Literal[
    "ip", "domain", "hash_md5", "hash_sha1", "hash_sha256", "url", "cve", "mitre_attack", "email", "malware"
]
Severity = Literal["critical", "high", "medium", "low"]
Item = TypeVar("Item")


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class SubmitBody(_Body):
    """What to read."""

    url: Annotated[str, StringConstraints(min_length=1, max_length=2048)] = Field(
        examples=["https://blog.example.org/2026/kestrel-loader"]
    )
    source_name: str | None = Field(None, examples=["Example Research"], min_length=1, max_length=200)

    @field_validator("source_name")
    @classmethod
    def _has_no_controls(cls, value: str | None) -> str | None:
        if value is None:
            return None
        if any(ord(c) < 32 or 127 <= ord(c) < 160 or 0xD800 <= ord(c) < 0xE000 for c in value):
            raise ValueError("must not hold control characters")
        if not value.strip():
            raise ValueError("must not be blank")
        return value.strip()


class LookupBody(_Body):
    """Values to look up, each plain or defanged."""

    values: list[Annotated[str, StringConstraints(max_length=2048)]] = Field(
        min_length=1, max_length=50, examples=[["evil[.]example", "44d88612fea8a8f36de82e1278abb02f"]]
    )

    @field_validator("values")
    @classmethod
    def _hold_no_nul(cls, values: list[str]) -> list[str]:
        if any("\0" in value for value in values):
            raise ValueError("must not hold a NUL character")
        return values


class ArticleRefModel(BaseModel):
    id: str
    title: str
    url: str | None
    source_name: str
    published_at: datetime | None


class MentionModel(ArticleRefModel):
    context: str = Field(description="the sentence it stood in")


class WarningModel(BaseModel):
    list: str
    reason: str


class IocModel(BaseModel):
    """One indicator: unique by type and canonical value."""

    id: str
    type: IocType
    value: str = Field(examples=["evil.example"])
    defanged: str = Field(examples=["evil[.]example"])
    first_seen: datetime
    last_seen: datetime
    sightings: int = Field(ge=0, description="articles that name it")
    sources: int = Field(ge=0, description="independent sources that name it")
    context: str = Field(description="the sentence it stood in, in its newest article")
    malware: list[str]
    tags: list[str]
    warnings: list[WarningModel]
    article: ArticleRefModel


class IocDetailModel(IocModel):
    articles: list[MentionModel] = Field(description="its newest 50 articles")
    articles_total: int
    related: list[IocModel] = Field(description="what is seen beside it")


class QueryModel(BaseModel):
    """How the request was read."""

    text: str | None = Field(description="`q` after normalisation; null for a list")
    type: IocType | None
    value: str | None
    reads_as: list[dict[str, str]] = Field(description="the indicators that the whole of `q` or `value` may name")
    since: datetime | None
    until: datetime | None
    source: str | None


class ListModel(BaseModel, Generic[Item]):
    items: list[Item]
    limit: int = Field(description="how many items this answer may hold: what was asked for, lowered to your cap")
    total: int | None = Field(description="exact, on the first page; null on later ones")
    next_cursor: str | None = Field(description="give it back as `cursor` for the next page; null without a key")


class IocListModel(ListModel[IocModel]):
    query: QueryModel


class LookupItemModel(BaseModel):
    value: str = Field(description="as it was asked")
    found: bool
    iocs: list[IocModel]


class LookupModel(BaseModel):
    items: list[LookupItemModel]


class ArticleModel(BaseModel):
    id: str
    url: str | None
    title: str
    source_name: str
    author: str | None
    published_at: datetime | None
    fetched_at: datetime
    language: str | None
    summary: str
    cluster_id: str = Field(description="shared by copies of the same text")
    notes: list[str] = Field(description="limits that were reached while reading it")
    ioc_count: int
    ioc_counts: dict[str, int]


class ArticleDetailModel(ArticleModel):
    text: str
    iocs: list[IocModel]


class SubmissionModel(BaseModel):
    id: str
    url: str
    source_name: str
    status: Literal["queued", "fetching", "done", "failed"]
    reason: str | None = Field(description="a code, such as `http_403`")
    detail: str | None = Field(description="the same for a person")
    attempts: int
    article_id: str | None
    ioc_count: int | None
    created_at: datetime
    finished_at: datetime | None


class TrendModel(BaseModel):
    previous: int
    delta: int


class WeekModel(BaseModel):
    id: str = Field(examples=["2026-W47"])
    starts_on: date
    ends_on: date
    status: Literal["open", "closed"]
    revision: int
    generated_at: datetime
    title: str
    summary: str
    counts: dict[str, Any]
    trend: dict[str, TrendModel] | None
    top_iocs: list[dict[str, Any]]
    top_malware: list[dict[str, Any]]
    top_cves: list[dict[str, Any]]
    top_techniques: list[dict[str, Any]]
    top_articles: list[dict[str, Any]]
    lesson: dict[str, str] | None


class FocusModel(BaseModel):
    id: str
    kind: Literal["cve", "malware", "technique"]
    key: str
    title: str
    severity: Severity
    rule: str
    reason: str
    evidence: dict[str, Any]
    first_seen: datetime
    last_seen: datetime


class LessonModel(BaseModel):
    slug: str
    title: str
    summary: str
    topic: str
    audience: str
    minutes: int
    body_markdown: str
    warning_signs: list[str]
    tips: list[str]
    if_it_happened: list[str]
    techniques: list[str]
    references: list[dict[str, str]]
    quiz: list[dict[str, Any]]
    language: str
    published_at: datetime


class SourceModel(BaseModel):
    """A feed that is followed, how it is doing, and what came of it."""

    id: str
    name: str = Field(description="`source_name` of its articles")
    url: str = Field(description="without its query")
    state: Literal["off", "ended", "failing", "well", "waiting"]
    last_polled_at: datetime | None
    last_success_at: datetime | None
    last_error: str | None = Field(description="what went wrong the last time, for a person; null after a success")
    failures: int = Field(description="since the last success")
    interval_seconds: int
    next_poll_at: datetime | None
    ended_at: datetime | None = Field(description="when the site said that it is gone for good")
    article_count: int = Field(description="articles of this source name")
    ioc_count: int = Field(description="indicators in them")


class BucketModel(BaseModel):
    name: str
    limit: int
    window_seconds: int
    remaining: int
    reset_seconds: int


class UsageModel(BaseModel):
    """The caller's buckets."""

    key_prefix: str
    results_limit: int
    buckets: list[BucketModel]


class FieldErrorModel(BaseModel):
    field: str
    message: str


class ProblemModel(BaseModel):
    """RFC 9457, with a `code` for programs."""

    type: str
    title: str
    status: int
    detail: str
    instance: str | None = None
    code: str
    errors: list[FieldErrorModel] | None = None
