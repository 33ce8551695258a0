"""Define what the service answers, and the compact form that a tool gives a model.

Whatever they hold comes from strangers' articles, so every text is cleaned and cut.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from intel.indicator_types import NAMES
from mcp_server.safe_text import cleaned

if TYPE_CHECKING:
    IocType = str
else:
    IocType = Literal[NAMES]

VALUE_CHARACTERS = 2_048
_TITLE_CHARACTERS = 300
_WARNINGS = 5
_NAME_CHARACTERS, _NAMES = 60, 5
_SUGGESTION_CHARACTERS, _SUGGESTIONS = 120, 5

Count = Annotated[int, Field(ge=0, le=2**53)]


class RecordArticle(BaseModel):
    """The newest source article of a record; an imported file has no `url`."""

    title: str | None = None
    url: str | None = None


class RecordWarning(BaseModel):
    """Why a record may be harmless."""

    list: str = ""
    reason: str = ""


class Record(BaseModel):
    """An IOC record of the REST API, with the members that a tool shows."""

    type: str
    value: str
    defanged: str = ""
    malware: list[str] = []
    first_seen: str = ""
    last_seen: str = ""
    status: str = ""
    sightings: Count = 0
    sources: Count = 0
    warnings: list[RecordWarning] = []
    article: RecordArticle | None = None


class Searched(BaseModel):
    """What was searched when nothing was found."""

    articles: Count = 0
    sources: Count = 0
    newest_article: str | None = None


class Answer(BaseModel):
    """One page of records; `limit` is the one that the service applied."""

    items: list[Record]
    limit: Count | None = None
    total: Count | None = None
    next_cursor: str | None = Field(default=None, max_length=40_000)
    searched: Searched | None = None
    suggestions: list[str] = []


def _bare(schema: dict[str, Any]) -> None:
    # Titles and defaults cost every session tokens and tell a model nothing.
    for described in (schema, *schema.get("properties", {}).values()):
        described.pop("title", None)
        described.pop("default", None)


class _Shape(BaseModel):
    model_config = ConfigDict(json_schema_extra=_bare)

    def structured(self) -> dict[str, Any]:
        """Return it as JSON members, the empty ones left out."""
        return self.model_dump(mode="json", exclude_defaults=True)


class Article(_Shape):
    title: str = ""
    url: str = ""


class Caution(_Shape):
    list: str = ""
    reason: str = ""


class Ioc(_Shape):
    type: str
    value: str
    malware: list[str] = []
    first_seen: str = ""
    last_seen: str = ""
    status: str = ""
    sightings: int = 0
    sources: int = 0
    warnings: list[Caution] = []
    article: Article = Article()


class Corpus(_Shape):
    articles: int = 0
    sources: int = 0
    newest_article: str = ""


class Iocs(_Shape):
    items: list[Ioc]
    total: int = Field(default=0, description="all that match")
    limit_applied: int = 0
    omitted: int = Field(default=0, description="left out for length")
    next_cursor: str = ""
    searched: Corpus = Corpus()
    suggestions: list[str] = []


class Lookup(_Shape):
    value: str
    found: bool
    items: list[Ioc]
    searched: Corpus = Corpus()


def compact(record: Record) -> Ioc:
    """Return the record as a tool's item, cleaned and cut."""
    article = record.article or RecordArticle()
    return Ioc(
        type=cleaned(record.type, 30),
        value=cleaned(record.value, VALUE_CHARACTERS),
        malware=[cleaned(name, _NAME_CHARACTERS) for name in record.malware[:_NAMES]],
        first_seen=cleaned(record.first_seen, 40),
        last_seen=cleaned(record.last_seen, 40),
        status=cleaned(record.status, 30),
        sightings=record.sightings,
        sources=record.sources,
        warnings=[_caution(warning) for warning in record.warnings[:_WARNINGS]],
        article=Article(
            title=cleaned(article.title or "", _TITLE_CHARACTERS), url=cleaned(article.url or "", VALUE_CHARACTERS)
        ),
    )


def corpus(searched: Searched | None) -> Corpus:
    """Return what was searched, cleaned; empty where the service did not say."""
    if searched is None:
        return Corpus()
    newest = cleaned(searched.newest_article or "", 40)
    return Corpus(articles=searched.articles, sources=searched.sources, newest_article=newest)


def suggestions(answer: Answer) -> list[str]:
    """Return the suggested searches, cleaned and cut."""
    return [cleaned(text, _SUGGESTION_CHARACTERS) for text in answer.suggestions[:_SUGGESTIONS]]


def _caution(warning: RecordWarning) -> Caution:
    return Caution(list=cleaned(warning.list, 100), reason=cleaned(warning.reason, 200))
