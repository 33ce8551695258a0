"""One security-awareness lesson: the value, and how it is read from Markdown with YAML front matter."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any, TypeVar

import yaml

TOPICS = (
    "phishing",
    "passwords",
    "mfa",
    "updates",
    "ransomware",
    "social_engineering",
    "mobile",
    "remote_work",
    "data_handling",
    "backups",
    "ai_deepfakes",
    "reporting",
)
AUDIENCES = ("everyone", "it", "developers", "managers")
SUMMARY_LENGTH = 300

_FRONT_MATTER = re.compile(r"---\n(.*?\n)---\n(.*)", re.DOTALL)
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_TECHNIQUE = re.compile(r"T[0-9]{4}(?:\.[0-9]{3})?")
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})?")
_Part = TypeVar("_Part")
# The same in C, ten times as fast, where PyYAML was built with it.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Reference:
    """A public page that says more."""

    title: str
    url: str
    publisher: str


@dataclass(frozen=True, slots=True)
class Question:
    """A quiz question; `answer` is the index of the right choice, counted from 0."""

    question: str
    choices: tuple[str, ...]
    answer: int
    why: str


@dataclass(frozen=True, slots=True)
class Lesson:
    """One lesson; `slug` is its file's name, `techniques` are ATT&CK ids, `minutes` is the time to read it.

    `updated_at` and `revision` may be left out of a file: as long as a lesson was never changed.
    """

    slug: str
    title: str
    summary: str
    body_markdown: str
    topic: str
    audience: str
    minutes: int
    warning_signs: tuple[str, ...]
    tips: tuple[str, ...]
    if_it_happened: tuple[str, ...]
    techniques: tuple[str, ...]
    keywords: tuple[str, ...]
    references: tuple[Reference, ...]
    quiz: tuple[Question, ...]
    language: str
    published_at: datetime
    updated_at: datetime
    revision: int


_FIELDS = frozenset(field.name for field in fields(Lesson)) - {"slug", "body_markdown"}


def parse_lesson(file_name: str, text: str) -> Lesson:
    """Read one lesson; `file_name` is `<slug>.md`, `text` the whole file.

    Raises `ValueError` that names the file and the field.
    """
    front, body = _split(file_name, text)
    unknown = sorted(str(name) for name in front if name not in _FIELDS)
    if unknown:
        raise ValueError(f"{file_name}: {unknown[0]}: is no field of a lesson")
    return _lesson(_Fields(file_name, front), _slug(file_name), _body(file_name, body))


def _lesson(front: _Fields, slug: str, body: str) -> Lesson:
    return Lesson(
        slug=slug,
        title=front.text("title", longest=100),
        summary=front.text("summary", longest=SUMMARY_LENGTH),
        body_markdown=body,
        topic=front.one_of("topic", TOPICS),
        audience=front.one_of("audience", AUDIENCES),
        minutes=front.whole("minutes", 1, 60),
        warning_signs=front.texts("warning_signs", 3, 6),
        tips=front.texts("tips", 3, 7),
        if_it_happened=front.texts("if_it_happened", 2, 5),
        techniques=front.matching("techniques", _TECHNIQUE),
        keywords=front.texts("keywords", 1, 20),
        references=front.parts("references", _reference, most=10),
        quiz=front.parts("quiz", _question, most=2),
        language=front.code("language", _LANGUAGE),
        published_at=front.time("published_at"),
        updated_at=front.time("updated_at" if "updated_at" in front.values else "published_at"),
        revision=front.whole("revision", 1, 1_000) if "revision" in front.values else 1,
    )


@dataclass(frozen=True, slots=True)
class _Fields:
    """The front matter of one file; every reader raises `ValueError` with the file and the field."""

    place: str
    values: dict[Any, Any]

    def refuse(self, name: str, why: str) -> ValueError:
        return ValueError(f"{self.place}: {name}: {why}")

    def value(self, name: str) -> Any:
        if name not in self.values:
            raise self.refuse(name, "is missing")
        return self.values[name]

    def text(self, name: str, longest: int = 400) -> str:
        value = self.value(name)
        if not isinstance(value, str) or not value.strip():
            raise self.refuse(name, "must be text")
        if len(value.strip()) > longest:
            raise self.refuse(name, f"has more than {longest} characters")
        return value.strip()

    def one_of(self, name: str, allowed: tuple[str, ...]) -> str:
        value = self.text(name)
        if value not in allowed:
            raise self.refuse(name, f"must be one of {', '.join(allowed)}")
        return value

    def code(self, name: str, pattern: re.Pattern[str]) -> str:
        value = self.text(name)
        if not pattern.fullmatch(value):
            raise self.refuse(name, "is malformed")
        return value

    def whole(self, name: str, least: int, most: int) -> int:
        value = self.value(name)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise self.refuse(name, f"must be a whole number from {least} to {most}")
        return value

    def time(self, name: str) -> datetime:
        value = self.value(name)
        if not isinstance(value, datetime) or value.tzinfo is None:
            raise self.refuse(name, "must be a time with its zone")
        return value.astimezone(UTC)

    def entries(self, name: str, least: int, most: int) -> list[Any]:
        value = self.value(name)
        if not isinstance(value, list) or not least <= len(value) <= most:
            raise self.refuse(name, f"must be a list of {least} to {most}")
        return value

    def texts(self, name: str, least: int, most: int) -> tuple[str, ...]:
        entries = self.entries(name, least, most)
        if not all(isinstance(entry, str) and entry.strip() for entry in entries):
            raise self.refuse(name, "must hold texts only")
        return tuple(entry.strip() for entry in entries)

    def matching(self, name: str, pattern: re.Pattern[str]) -> tuple[str, ...]:
        entries = self.texts(name, 0, 20)
        if not all(pattern.fullmatch(entry) for entry in entries):
            raise self.refuse(name, "holds a malformed id")
        return entries

    def parts(self, name: str, read: Callable[[_Fields], _Part], most: int) -> tuple[_Part, ...]:
        entries = self.entries(name, 0, most) if name in self.values else []
        if not all(isinstance(entry, dict) for entry in entries):
            raise self.refuse(name, "must hold mappings only")
        return tuple(read(_Fields(f"{self.place}: {name}", entry)) for entry in entries)


def _reference(entry: _Fields) -> Reference:
    url = entry.text("url")
    if not url.startswith("https://"):
        raise entry.refuse("url", "must begin with https://")
    return Reference(entry.text("title"), url, entry.text("publisher"))


def _question(entry: _Fields) -> Question:
    choices = entry.texts("choices", 2, 6)
    answer = entry.whole("answer", 0, len(choices) - 1)
    return Question(entry.text("question"), choices, answer, entry.text("why"))


def _split(file_name: str, text: str) -> tuple[dict[Any, Any], str]:
    parts = _FRONT_MATTER.fullmatch(text)
    if parts is None:
        raise ValueError(f"{file_name}: front matter: is missing")
    try:
        front = yaml.load(parts[1], _LOADER)  # noqa: S506 - either loader makes plain values only
    except (yaml.YAMLError, ValueError) as error:
        raise ValueError(f"{file_name}: front matter: is no YAML") from error
    if not isinstance(front, dict):
        raise ValueError(f"{file_name}: front matter: must be a mapping")
    return front, parts[2]


def _slug(file_name: str) -> str:
    slug = file_name.removesuffix(".md")
    if not _SLUG.fullmatch(slug):
        raise ValueError(f"{file_name}: slug: must be lower-case words joined by hyphens")
    return slug


def _body(file_name: str, body: str) -> str:
    if not body.strip():
        raise ValueError(f"{file_name}: body_markdown: is empty")
    return body.strip() + "\n"
