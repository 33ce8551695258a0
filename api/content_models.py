"""The shapes of focus, catalogues and lessons for the OpenAPI description."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from api.models import ArticleRefModel, IocType, Severity

Topic = Literal[
    "phishing", "passwords", "mfa", "updates", "ransomware", "social_engineering", "mobile", "remote_work",
    "data_handling", "backups", "ai_deepfakes", "reporting",
]  # fmt: skip


class FocusRuleModel(BaseModel):
    id: str
    severity: Severity
    words: str = Field(description="when it matches")
    matched: bool


class FocusChangeModel(BaseModel):
    at: datetime
    from_: Severity | None = Field(alias="from")
    to: Severity | None
    rule: str | None


class FocusModel(BaseModel):
    """A CVE, malware or technique that needs attention, and why."""

    id: str = Field(examples=["f_cve_CVE-2026-1234"])
    kind: Literal["cve", "malware", "technique"]
    type: IocType
    key: str
    title: str
    severity: Severity
    rule: str = Field(description="the first rule that matched")
    rule_words: str = Field(description="when that rule matches")
    score: int = Field(ge=0, le=100, description="orders items of one severity")
    score_parts: dict[str, int] = Field(description="what the score is the sum of")
    reason: str
    evidence: dict[str, Any]
    related_iocs: list[dict[str, str]]
    techniques: list[str]
    articles: list[dict[str, Any]] = Field(description="the newest ten")
    status: Literal["active", "stale", "closed"]
    first_seen: datetime
    last_seen: datetime
    changed_at: datetime = Field(description="when the severity or its rule last changed")
    history: list[FocusChangeModel] = Field(description="of the last six weeks, oldest first")


class FocusDetailModel(FocusModel):
    rules: list[FocusRuleModel] = Field(description="every rule up to the one that decided")


class CatalogueModel(BaseModel):
    """A list published by somebody else, as it was imported."""

    name: str = Field(examples=["kev"])
    as_of: datetime = Field(description="the moment that it speaks of")
    imported_at: datetime
    source: str = Field(description="the file or address that it came from")
    entries: int


class CatalogueBody(BaseModel):
    """A catalogue in JSON, as its publisher gives it."""

    model_config = ConfigDict(extra="allow")


class ImportedCatalogueModel(CatalogueModel):
    """A catalogue that was imported just now."""

    notes: list[str] = Field(description="what was left out of it, and why")


class LessonModel(BaseModel):
    id: str = Field(description="the same as `slug`")
    slug: str
    title: str
    summary: str
    topic: Topic
    audience: Literal["everyone", "it", "developers", "managers"]
    minutes: int
    body_markdown: str
    warning_signs: list[str]
    tips: list[str]
    if_it_happened: list[str]
    techniques: list[str]
    keywords: list[str]
    references: list[dict[str, str]]
    quiz: list[dict[str, Any]]
    language: str
    published_at: datetime
    updated_at: datetime
    revision: int


class TopicalModel(BaseModel):
    """An article that makes a lesson topical, and the techniques that they share."""

    article: ArticleRefModel
    techniques: list[str]


class LessonDetailModel(LessonModel):
    topical: list[TopicalModel] = Field(description="the newest ten of the last 28 days")
