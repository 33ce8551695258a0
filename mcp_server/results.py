"""Define what the service answers, and the compact form that a tool gives a model.

Whatever they hold comes from strangers' articles, so every text is cleaned and cut.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from mcp_server.safe_text import cleaned

IocType = Literal[
    "ip", "domain", "hash_md5", "hash_sha1", "hash_sha256", "url", "cve", "mitre_attack", "email", "malware"
]

VALUE_CHARACTERS = 2_048
_TITLE_CHARACTERS = 300
_WARNINGS = 5

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
    last_seen: str = ""
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
    searched: Searched | None = None


def _bare(schema: dict[str, Any]) -> None:
    # Titles and defaults cost every session tokens and tell a model nothing.
    for described in (schema, *schema.get("properties", {}).values()):
        described.pop("title", None)
        described.pop("default", None)


class _Shape(BaseModel):
    model_config = ConfigDict(json_schema_extra=_bare)

    def structured(self) -> dict[str, Any]:
        """As JSON members, the empty ones left out."""
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
    last_seen: str = ""
    sightings: int = 0
    sources: int = 0
    warnings: list[Caution] = []
    article: Article = Article()


class Iocs(_Shape):
    items: list[Ioc]
    total: int = Field(default=0, description="all that match")
    limit_applied: int = Field(default=0, description="where lower than asked")
    omitted: int = Field(default=0, description="left out for length")


class Lookup(_Shape):
    value: str
    found: bool
    items: list[Ioc]


def compact(record: Record) -> Ioc:
    """Return the record as a tool's item, cleaned and cut."""
    article = record.article or RecordArticle()
    return Ioc(
        type=cleaned(record.type, 30),
        value=cleaned(record.value, VALUE_CHARACTERS),
        last_seen=cleaned(record.last_seen, 40),
        sightings=record.sightings,
        sources=record.sources,
        warnings=[_caution(warning) for warning in record.warnings[:_WARNINGS]],
        article=Article(
            title=cleaned(article.title or "", _TITLE_CHARACTERS), url=cleaned(article.url or "", VALUE_CHARACTERS)
        ),
    )


def _caution(warning: RecordWarning) -> Caution:
    return Caution(list=cleaned(warning.list, 100), reason=cleaned(warning.reason, 200))
