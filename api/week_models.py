"""The shapes of weekly roundups for the API's description."""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal

from pydantic import BaseModel, Field

from api.models import IocType, Severity


class TrendModel(BaseModel):
    """How a number stands to that of the week before."""

    previous: int
    delta: int
    pct: float | None = Field(description="of the previous number; null where that is 0")


class WeekCountsModel(BaseModel):
    articles: int
    sources: int = Field(description="independent ones: copies of one text count for the earliest article's source")
    iocs: dict[IocType, int] = Field(description="distinct indicators, all types always present")
    new_iocs: dict[IocType, int] = Field(description="those of them that no earlier article named")
    iocs_total: int
    new_iocs_total: int
    focus: dict[Severity, int]


class WeekTrendModel(BaseModel):
    articles: TrendModel
    sources: TrendModel
    iocs: dict[IocType, TrendModel]
    new_iocs: dict[IocType, TrendModel]
    iocs_total: TrendModel
    new_iocs_total: TrendModel
    focus: dict[Severity, TrendModel]


class TopIocModel(BaseModel):
    type: IocType
    value: str
    articles: int
    sources: int
    new: bool = Field(description="no earlier article named it")
    delta: int = Field(description="articles more than in the week before")


class TopMalwareModel(TopIocModel):
    name: str
    iocs: int = Field(description="indicators that stood within two sentences of it")


class TopTechniqueModel(TopIocModel):
    id: str
    iocs: int = Field(description="indicators other than techniques in the articles that name it")


class TopCveModel(TopIocModel):
    id: str
    kev: bool | None = Field(description="null where no KEV catalogue was imported")
    cvss: float | None
    epss: float | None
    exploitation: Literal["kev_confirmed", "in_the_wild", "poc", "none"]


class TopArticleModel(BaseModel):
    id: str
    title: str
    source_name: str
    published_at: datetime | None
    score: int = Field(description="new indicators, 3 for each subject in focus, and the copies of its text")
    new_iocs: int
    reason: str
    source_claimed: bool = Field(False, description="true where the source's name is only what the submitter calls it")
    source_domain: str | None = Field(None, description="of a claimed name: the page's domain, which counts instead")


class InFocusModel(BaseModel):
    id: str
    type: IocType
    key: str
    title: str
    severity: Severity


class LessonOfWeekModel(BaseModel):
    id: str
    slug: str
    title: str
    reason: str


class WeekRevisionModel(BaseModel):
    """One revision of a week; read it whole by `revision`."""

    id: str = Field(examples=["2026-W47"])
    revision: int
    generated_at: datetime
    status: Literal["open", "closed"]
    summary: str


class WeekModel(WeekRevisionModel):
    """What the articles of one ISO week, Monday to Sunday UTC, come to."""

    year: int
    week: int
    starts_on: date
    ends_on: date
    title: str
    counts: WeekCountsModel
    trend: WeekTrendModel | None = Field(description="against the week before; null for the first week of all")
    top_iocs: list[TopIocModel] = Field(description="of all types but those with a list of their own")
    top_malware: list[TopMalwareModel]
    top_cves: list[TopCveModel]
    top_techniques: list[TopTechniqueModel]
    top_articles: list[TopArticleModel] = Field(description="the earliest of each cluster")
    kev_added: list[str] = Field(description="CVEs that came into the KEV catalogue in this week")
    focus: list[InFocusModel]
    lesson: LessonOfWeekModel | None
