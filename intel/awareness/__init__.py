"""Security-awareness lessons: short texts that come with the service."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.resources import files

from intel.awareness.lesson import AUDIENCES, TOPICS, Lesson, Question, Reference, parse_lesson
from intel.awareness.topical import Topical, topical_articles
from intel.matching import met_in
from intel.query import Clause, parse_search
from intel.words import encoded_words

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
    """Keep the lessons that match every part of a search, read as any other search of the service is.

    A blank `q` keeps all; one without any word (`??`) keeps none. Raises InvalidQuery as `parse_search` does.
    """
    search = parse_search(q)
    if search is None:
        return tuple(lessons)
    return tuple(lesson for lesson in lessons if search.clauses and _matches(lesson, search.clauses))


def _matches(lesson: Lesson, clauses: Iterable[Clause]) -> bool:
    texts = _texts(lesson)
    return all(any(met_in(clause, text) is not None for text in texts) for clause in clauses)


@lru_cache(maxsize=256)
def _texts(lesson: Lesson) -> tuple[str, ...]:
    """Return the words of each text by which a lesson is found."""
    texts = (lesson.title, lesson.summary, lesson.topic, *lesson.keywords, *lesson.techniques, lesson.body_markdown)
    return tuple(encoded_words(text) for text in texts)
