"""Security-awareness lessons: short texts that come with the service."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from intel.awareness.lesson import AUDIENCES, TOPICS, Lesson, Question, Reference, parse_lesson
from intel.awareness.topical import Topical, topical_articles
from intel.words import words

__all__ = [
    "AUDIENCES",
    "TOPICS",
    "Lesson",
    "Question",
    "Reference",
    "Topical",
    "load_lessons",
    "parse_lesson",
    "search_lessons",
    "topical_articles",
]


@cache
def load_lessons() -> tuple[Lesson, ...]:
    """Return every packaged lesson, read once, sorted by slug; raise ValueError naming the file and the field."""
    folder = files("intel.awareness") / "lessons"
    found = (entry for entry in folder.iterdir() if entry.name.endswith(".md"))
    lessons = (parse_lesson(entry.name, entry.read_text(encoding="utf-8")) for entry in found)
    return tuple(sorted(lessons, key=lambda lesson: lesson.slug))


def search_lessons(lessons: Iterable[Lesson], q: str) -> tuple[Lesson, ...]:
    """Keep the lessons in which every word of `q` begins a word, whatever its case.

    A blank `q` keeps all; one without any word (`??`) keeps none.
    """
    if not q.strip():
        return tuple(lessons)
    wanted = words(q)
    return tuple(lesson for lesson in lessons if wanted and _holds(lesson, wanted))


def _holds(lesson: Lesson, wanted: list[str]) -> bool:
    texts = (lesson.title, lesson.summary, lesson.topic, *lesson.keywords, lesson.body_markdown)
    present = set(words("\n".join(texts)))
    return all(any(word.startswith(prefix) for word in present) for prefix in wanted)
