"""The shapes of the REST API for its OpenAPI description, and the bodies that it accepts."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, field_validator

from api.voting import LONGEST_NOTE, read_note
from intel.ageing import Status
from intel.confidence import MOST_TRUST
from intel.errors import InvalidQuery
from intel.indicator_types import NAMES
from intel.matching import How
from intel.notes import LONGEST_NOTE as LONGEST_TEXT
from intel.records import ChangeEvent, Scope
from intel.tags import LONGEST_TAG, MOST_TAGS
from intel.tlp import Tlp, read_tlp
from intel.unseen import holds_controls

if TYPE_CHECKING:
    IocType = str
else:
    IocType = Literal[NAMES]
Severity = Literal["critical", "high", "medium", "low"]
Item = TypeVar("Item")


class Body(BaseModel):
    """A body that is read strictly: no unknown members, no conversions."""

    model_config = ConfigDict(extra="forbid", strict=True)


# As it is written; how it is stored is for `intel.tags` to say.
Tag = Annotated[str, StringConstraints(min_length=1, max_length=2 * LONGEST_TAG)]
Address = Annotated[str, StringConstraints(min_length=1, max_length=2048)]


def _as_name(value: str) -> str:
    if holds_controls(value):
        raise ValueError("must not hold control characters")
    if not value.strip():
        raise ValueError("must not be blank")
    return value.strip()


# What people call something.
Name = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(_as_name)]


class SharedBody(Body):
    """A body that says how far something may be passed on."""

    tlp: Tlp | None = Field(
        default=None, description="how far it may be passed on (TLP 2.0); RED and AMBER+STRICT are refused"
    )

    @field_validator("tlp", mode="before")
    @classmethod
    def _read_tlp(cls, given: Any) -> Any:
        try:
            return read_tlp(given) if isinstance(given, str) else given
        except InvalidQuery as wrong:
            raise ValueError(wrong.message) from None


class _Submitted(SharedBody):
    source_name: Name | None = Field(None, examples=["Example Research"])


class SubmitBody(_Submitted):
    """What to read."""

    url: Address = Field(examples=["https://blog.example.org/2026/kestrel-loader"])


class SubmitManyBody(_Submitted):
    """Several addresses to read."""

    urls: list[Address] = Field(
        min_length=1, max_length=100, examples=[["https://blog.example.org/1", "https://blog.example.org/2"]]
    )


class SubmitFileBody(_Submitted):
    """What a file is called that is handed in."""


class NoBody(Body):
    """A body without members."""


class LookupBody(Body):
    """Values to look up, each plain or defanged."""

    values: list[Annotated[str, StringConstraints(max_length=2048)]] = Field(
        min_length=1, max_length=1000, examples=[["evil[.]example", "44d88612fea8a8f36de82e1278abb02f"]]
    )

    @field_validator("values")
    @classmethod
    def _hold_no_nul(cls, values: list[str]) -> list[str]:
        if any("\0" in value for value in values):
            raise ValueError("must not hold a NUL character")
        return values


class TagsBody(Body):
    """Tags to add and to remove; what is in both stays."""

    add: list[Tag] = Field(default=[], max_length=MOST_TAGS, examples=[["campaign:kestrel"]])
    remove: list[Tag] = Field(default=[], max_length=MOST_TAGS)


class TagsModel(BaseModel):
    """The tags of a record."""

    tags: list[str] = Field(description="all that it has now, sorted")


class NoteBody(Body):
    """What to write on an indicator or article."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=2 * LONGEST_TEXT)] = Field(
        examples=["Sinkholed since 3 November; seen in our proxy log twice."]
    )


class NoteModel(BaseModel):
    """A note on an indicator or article: plain text."""

    id: str
    text: str
    author: str = Field(description="what stands before the @ of its account's address")
    own: bool = Field(description="whether it is this key's account's")
    written_at: datetime


class ExportedNoteModel(BaseModel):
    text: str
    written_at: datetime


class FalsePositiveBody(Body):
    """Why an indicator is a false positive, if there is something to say."""

    note: str | None = Field(None, examples=["our own mail relay"], max_length=LONGEST_NOTE)

    @field_validator("note")
    @classmethod
    def _is_a_note(cls, value: str | None) -> str | None:
        return read_note(value) if value is not None else None


class ArticleRefModel(BaseModel):
    id: str
    title: str
    url: str | None
    source_name: str
    published_at: datetime | None
    source_claimed: bool = Field(False, description="true where that name is only what the submitter calls the source")
    source_domain: str | None = Field(
        None, description="of a claimed name what counts: the page's domain, or `submitted file`"
    )


class MentionModel(ArticleRefModel):
    context: str = Field(description="the sentence it stood in")


class WarningModel(BaseModel):
    list: str
    reason: str


class MatchModel(BaseModel):
    """Why a search found it."""

    how: How = Field(
        description="`exact`: the search names it; `host`, `subdomain`, `network`, `word`, `prefix`: its value does; "
        "`malware`, `title`, `source`: its newest article does; `article`: an earlier one of its newest 20"
    )
    on: str = Field(description="what was met: the value, host, network, words, name or title")


class VoteCountModel(BaseModel):
    false_positive: int = Field(ge=0, description="accounts that call it a false positive")


class VoteModel(BaseModel):
    note: str
    voted_at: datetime


class VotesModel(VoteCountModel):
    own: VoteModel | None = Field(description="that of the account whose key asks")
    notes: list[VoteModel] = Field(description="the newest 50 that say why: data from other users")


IOC_EXAMPLE: dict[str, Any] = {
    "id": "72cd1f43-7a4f-5bd8-a8ba-e8f87a8f28d7",
    "type": "domain",
    "value": "evil.example",
    "defanged": "evil[.]example",
    "first_seen": "2026-11-18T09:00:00Z",
    "last_seen": "2026-11-20T09:00:00Z",
    "added_at": "2026-11-18T09:12:04.120Z",
    "changed_at": "2026-11-20T09:31:40.007Z",
    "sightings": 3,
    "sources": 2,
    "context": "The loader asked evil[.]example for its next stage.",
    "malware": ["Emotet"],
    "confidence": 60,
    "tags": [],
    "warnings": [],
    "status": "active",
    "expires_at": "2027-11-20T09:00:00Z",
    "votes": {"false_positive": 0},
    "article": {
        "id": "0c4de4a6-66a0-5bb6-8a43-6f7f7b1ff0a5",
        "title": "A loader and its friends",
        "url": "https://blog.example.org/2026/loader",
        "source_name": "Example Research",
        "published_at": "2026-11-20T09:00:00Z",
    },
}


class IocModel(BaseModel):
    """One indicator: unique by type and canonical value."""

    model_config = ConfigDict(json_schema_extra={"examples": [IOC_EXAMPLE]})

    id: str
    type: IocType
    value: str = Field(examples=["evil.example"])
    defanged: str = Field(examples=["evil[.]example"])
    first_seen: datetime
    last_seen: datetime
    added_at: datetime = Field(description="when this service first stored it")
    changed_at: datetime = Field(description="when anything else in this record last changed")
    sightings: int = Field(ge=0, description="articles that name it")
    sources: int = Field(ge=0, description="independent sources that name it")
    context: str = Field(description="the sentence it stood in, in its newest article")
    malware: list[str]
    tags: list[str] = Field(description="words that accounts put on it, sorted")
    tlp: Tlp | None = Field(
        None, description="the strictest of its articles: how far it may be passed on (TLP 2.0); absent without any"
    )
    warnings: list[WarningModel] = Field(description="lists of what is rarely to be blocked on which it stands")
    status: Status = Field(description="by its type and how long ago it was last seen")
    expires_at: datetime | None = Field(description="when its status is or was `expired` from; null for never")
    votes: VoteCountModel
    confidence: int = Field(ge=0, le=100, description="how far it can be relied on: the sum of the rules that hold")
    article: ArticleRefModel
    notes: list[ExportedNoteModel] | None = Field(
        None,
        description="what accounts wrote on it, oldest first; only in `/export` and `/changes`, if any",
    )


class FoundIocModel(IocModel):
    """An indicator as a list or search shows it."""

    match: MatchModel | None = Field(None, description="only in the answer to a search")


class ConfidenceRuleModel(BaseModel):
    """A rule that holds for an indicator, and the points that it adds."""

    rule: str
    points: int
    reason: str


class IocDetailModel(IocModel):
    votes: VotesModel
    confidence_of: list[ConfidenceRuleModel] = Field(description="the rules that make up `confidence`")
    articles: list[MentionModel] = Field(description="its newest 50 articles")
    articles_total: int
    related: list[IocModel] = Field(description="related indicators: those of the same articles")
    catalogue: dict[str, Any] | None = Field(
        description="what imported catalogues say: `kev`, `cvss`, `epss` of a CVE, `attack` of a technique"
    )


class NameModel(BaseModel):
    type: IocType
    value: str


class ReadingModel(BaseModel):
    """How a search was read; all of it must match."""

    text: str | None = Field(description="`q` after normalisation; null for a list")
    refanged: str | None = Field(description="the same refanged")
    reads_as: list[NameModel] = Field(description="the indicators that the whole of `q` or `value` may name")
    names: list[NameModel] = Field(description="the indicators that it names or that stand in it")
    words: list[str] = Field(description="words that stand alone")
    phrases: list[str] = Field(description="words that must stand side by side")
    prefixes: list[str] = Field(description="beginnings of words")
    networks: list[str] = Field(description="ranges of addresses")
    sentence: str | None = Field(description="all of this for a person, values defanged")


class QueryModel(ReadingModel):
    """How the request was read."""

    type: IocType | None = Field(description="the one type that is asked for; null where there are several")
    types: list[IocType]
    value: str | None
    since: datetime | None
    until: datetime | None
    source: str | None = Field(description="the one source that is asked for; null where there are several")
    sources: list[str]
    malware: list[str]
    tags: list[str]
    tlp: list[Tlp]
    added_since: datetime | None
    status: list[Status]
    exclude: list[str]
    min_sources: int
    sort: str | None
    fields: list[str]


class SearchedModel(BaseModel):
    """What there was to search; that nothing was found never means harmless."""

    articles: int
    sources: int
    newest_article: datetime | None


class FacetsModel(BaseModel):
    """How many of all that match there are of each type, source name (20 at most) and ISO week (26 at most)."""

    types: dict[str, int]
    sources: dict[str, int]
    weeks: dict[str, int]


class ListModel(BaseModel, Generic[Item]):
    items: list[Item]
    limit: int = Field(description="how many items this answer may hold: what was asked for, lowered to your cap")
    total: int | None = Field(description="exact, on the first page; null on later ones")
    next_cursor: str | None = Field(description="give it back as `cursor` for the next page; null without a key")


class IocListModel(ListModel[FoundIocModel]):
    query: QueryModel
    facets: FacetsModel | None = Field(description="with `facets=true`, on the first page")
    suggestions: list[str] = Field(description="where a search found nothing: what may have been meant")
    searched: SearchedModel | None = Field(description="where nothing was found")


class RemovedIocModel(NameModel):
    id: str
    defanged: str


class ChangeModel(BaseModel):
    """The newest change of one indicator."""

    event: ChangeEvent = Field(
        description="`added`: stored since you last had no `more` to ask for; `changed`: you may know it already; "
        "`removed`: no article names it any more"
    )
    at: datetime = Field(description="never earlier than that of the change before")
    ioc: IocModel | RemovedIocModel = Field(description="its state now; of what was removed only what it was")


class ChangesModel(BaseModel):
    items: list[ChangeModel] = Field(description="in order of change; each indicator once, at its newest change")
    limit: int = Field(description="how many items this answer may hold: what was asked for, lowered to 1,000")
    next: str = Field(description="give it back as `after`, now or at any later time")
    more: bool = Field(description="whether there is more already")


class LookupItemModel(BaseModel):
    value: str = Field(description="as it was asked")
    found: bool
    iocs: list[IocModel]


class LookupModel(BaseModel):
    items: list[LookupItemModel]
    searched: SearchedModel


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
    trust: int = Field(ge=0, le=MOST_TRUST, description="how far an administrator trusts it; 50 is usual")


class BucketModel(BaseModel):
    name: str
    limit: int
    window_seconds: int
    remaining: int
    reset_seconds: int


class UsageModel(BaseModel):
    """The caller's key and its buckets."""

    key_prefix: str
    scopes: list[Scope]
    expires_at: datetime | None = Field(description="when the key expires; null for never")
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
