"""The shapes of articles, and of the candidates in them, for the OpenAPI description."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from api.models import IocModel, IocType, ListModel, ReadingModel, SearchedModel
from intel.tlp import Tlp


class ArticleModel(BaseModel):
    id: str
    url: str | None
    title: str
    source_name: str
    source_claimed: bool = Field(description="whether that name is only what the submitter calls the source")
    source_domain: str | None = Field(
        description="of a claimed name what counts: the page's domain, or `submitted file`"
    )
    author: str | None
    published_at: datetime | None
    fetched_at: datetime
    language: str | None
    summary: str
    cluster_id: str = Field(description="shared by copies of the same text")
    notes: list[str] = Field(description="limits that were reached while reading it")
    tags: list[str] = Field(description="words that accounts put on it, sorted")
    tlp: Tlp | None = Field(None, description="how far it may be passed on (TLP 2.0); absent where nothing says it")
    ioc_count: int
    ioc_counts: dict[str, int]
    ioc_dropped: int = Field(description="indicators beyond the limit of an article; they are not stored")
    revision: int = Field(description="rises when the article, read again, says something else")


class VanishedModel(BaseModel):
    """An indicator that an earlier revision of an article named."""

    type: IocType
    value: str
    defanged: str
    last_revision: int = Field(description="the last one that named it")
    vanished_at: datetime = Field(description="when it was found gone")


class SnippetModel(BaseModel):
    """A piece of an article in which a search was met."""

    field: Literal["title", "summary", "text", "source_name"]
    text: str
    highlights: list[tuple[int, int]] = Field(
        description="start and end of what was met, in characters (Unicode code points) of the piece"
    )


class FoundArticleModel(ArticleModel):
    snippets: list[SnippetModel] = Field(description="one piece a field; none in a list")


class ArticleQueryModel(ReadingModel):
    source: str | None
    tags: list[str]
    tlp: list[Tlp]


class ArticleListModel(ListModel[FoundArticleModel]):
    query: ArticleQueryModel
    suggestions: list[str] = Field(description="where a search found nothing: what may have been meant")
    searched: SearchedModel | None = Field(description="where a search found nothing")


class ArticleDetailModel(ArticleModel):
    text: str
    vanished: list[VanishedModel] = Field(
        description="what earlier revisions named and this one does not; the latest 1,000"
    )
    iocs_total: int = Field(description="all its indicators; `/articles/{id}/iocs` pages through them")
    iocs: list[IocModel] = Field(description="its first 1,000 indicators, in order of first appearance")


class EvidenceModel(BaseModel):
    points: int = Field(description="what it counted for the candidate; below 0: against it")
    rule: str


class CandidateModel(BaseModel):
    type: IocType
    value: str
    spelling: str = Field(description="as it stands in the text")
    start: int = Field(description="first character in the text that was read, counted from 0")
    end: int
    place: str = Field(description="where it stood: main, table, code, list, ioc_section, link_text or boilerplate")
    kept: bool
    score: int = Field(description="above 0 is kept")
    rule: str = Field(description="the rule that decided")
    reason: str = Field(description="what that rule means")
    evidence: list[EvidenceModel] | None = Field(
        None, description="every rule that spoke; absent where one settled it alone, or where none were kept"
    )


class CandidateListModel(ListModel[CandidateModel]):
    revision: int = Field(description="the revision of the article that has these candidates")
    notes: list[str] = Field(description="why there is nothing, where nothing was kept")
