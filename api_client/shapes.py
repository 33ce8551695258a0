"""What the service answers, as typed dictionaries: the very members of its JSON. Times are RFC 3339 texts, UTC."""

from __future__ import annotations

from typing import Literal, TypedDict

IocType = Literal[
    "ip", "domain", "hash_md5", "hash_sha1", "hash_sha256", "url", "cve", "mitre_attack", "email", "malware"
]
ExportFormat = Literal["ndjson", "csv", "txt", "stix", "misp", "suricata", "rpz", "hosts"]


class Filters(TypedDict, total=False):
    """What lists, searches, changes and exports can be narrowed by; where several are given, any of them."""

    type: IocType | list[IocType]
    source: str | list[str]
    malware: str | list[str]
    tag: str | list[str]
    tlp: str | list[str]
    status: str | list[str]
    exclude: list[Literal["warned", "expired", "false_positive"]]
    min_sources: int
    since: str
    until: str
    added_since: str


class ArticleRef(TypedDict):
    """The newest article that names an indicator."""

    id: str
    title: str
    url: str | None
    source_name: str
    published_at: str | None


class Warned(TypedDict):
    """A list of what is rarely to be blocked, and what it means to stand on it."""

    list: str
    reason: str


class VoteCount(TypedDict):
    """How many accounts call an indicator a false positive."""

    false_positive: int


class Ioc(TypedDict):
    """One indicator: unique by type and canonical value."""

    id: str
    type: IocType
    value: str
    defanged: str
    first_seen: str
    last_seen: str
    added_at: str
    changed_at: str
    sightings: int
    sources: int
    context: str
    malware: list[str]
    warnings: list[Warned]
    status: Literal["active", "ageing", "expired"]
    expires_at: str | None
    votes: VoteCount
    confidence: int
    article: ArticleRef


class RemovedIoc(TypedDict):
    """What a removed indicator was."""

    id: str
    type: IocType
    value: str


class Change(TypedDict):
    """The newest change of one indicator; `ioc` is its state now."""

    event: Literal["added", "changed", "removed"]
    at: str
    ioc: Ioc | RemovedIoc


class Changes(TypedDict):
    """A page of changes; `next` leads on from here, now or at any later time."""

    items: list[Change]
    next: str
    more: bool


class Article(TypedDict):
    """An article without its text."""

    id: str
    url: str | None
    title: str
    source_name: str
    author: str | None
    published_at: str | None
    fetched_at: str
    language: str | None
    summary: str
    ioc_count: int
    ioc_counts: dict[str, int]


class Submission(TypedDict):
    """What became of an article that was handed in."""

    id: str
    url: str | None
    source_name: str
    status: Literal["queued", "fetching", "done", "failed"]
    reason: str | None
    detail: str | None
    attempts: int
    article_id: str | None
    ioc_count: int | None
    created_at: str
    finished_at: str | None


class Extracted(TypedDict):
    """An indicator found in a text; nothing of it is stored."""

    type: IocType
    value: str
    defanged: str
    context: str
    rule: str
