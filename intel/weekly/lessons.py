"""Choose the lesson that fits a week."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from intel.awareness import Lesson
from intel.store.tally import Tally

_EXACT, _FAMILY = 2, 1
_NAMED_IN_REASON = 3


def lesson_of(week: Tally, lessons: Sequence[Lesson], start: datetime) -> dict[str, str] | None:
    """Return the lesson whose techniques most independent sources wrote about; equally good ones take turns from week
    to week.

    A technique weighs its sources, and half where only its family is shared; a lesson with at least half the weight of
    the best one takes its turn. None where no lesson has any of the week's techniques.
    """
    sources = week.techniques
    scored = {lesson: score for lesson in lessons if (score := _score(lesson, sources))}
    fitting = [lesson for lesson, score in scored.items() if 2 * score >= max(scored.values())]
    if not fitting:
        return None
    in_order = sorted(fitting, key=lambda lesson: (-scored[lesson], lesson.slug))
    chosen = in_order[start.toordinal() // 7 % len(in_order)]
    return {"id": chosen.slug, "slug": chosen.slug, "title": chosen.title, "reason": _reason(chosen, sources)}


def _score(lesson: Lesson, sources: Mapping[str, int]) -> int:
    return sum(_fit(lesson, technique) * count for technique, count in sources.items())


def _fit(lesson: Lesson, technique: str) -> int:
    """Return how well a lesson fits; a technique family stands for its sub-techniques, in a lesson as in an article."""
    if technique in lesson.techniques:
        return _EXACT
    families = {own.partition(".")[0] for own in lesson.techniques} if "." not in technique else lesson.techniques
    return _FAMILY if technique.partition(".")[0] in families else 0


def _reason(lesson: Lesson, sources: Mapping[str, int]) -> str:
    fitting = sorted((t for t in sources if _fit(lesson, t)), key=lambda t: (-sources[t] * _fit(lesson, t), t))
    named = ", ".join(fitting[:_NAMED_IN_REASON])
    more = len(fitting) - _NAMED_IN_REASON
    return f"The week's articles describe {named}{f' and {more} more' if more > 0 else ''}."
