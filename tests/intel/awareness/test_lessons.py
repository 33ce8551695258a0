from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime
from importlib.resources import files

import pytest

from intel.awareness import AUDIENCES, TOPICS, Lesson, load_lessons, parse_lesson, search_lessons
from intel.errors import InvalidQuery
from intel.names import technique_name
from tests.cases import each

GOOD = """---
title: A title
summary: A summary.
topic: phishing
audience: everyone
minutes: 3
warning_signs: [one, two, three]
tips: [one, two, three]
if_it_happened: [one, two]
techniques: [T1566, T1566.002]
keywords: [link]
references: [{title: A page, url: "https://www.cisa.gov/secure-our-world", publisher: CISA}]
quiz: [{question: "Which?", choices: [this, that], answer: 1, why: Because.}]
language: en
published_at: 2026-10-01T10:00:00+02:00
---
The **body**.
"""


@pytest.fixture(scope="module")
def lessons() -> tuple[Lesson, ...]:
    return load_lessons()


def slugs(found: tuple[Lesson, ...]) -> set[str]:
    return {lesson.slug for lesson in found}


def test_every_file_of_the_folder_is_a_lesson_in_order_of_slug(lessons: tuple[Lesson, ...]) -> None:
    names = sorted(entry.name for entry in (files("intel.awareness") / "lessons").iterdir())
    assert [f"{lesson.slug}.md" for lesson in lessons] == names
    assert len(lessons) >= 24


def test_every_topic_has_at_least_two_lessons(lessons: tuple[Lesson, ...]) -> None:
    count = Counter(lesson.topic for lesson in lessons)
    assert {topic: count[topic] for topic in TOPICS if count[topic] < 2} == {}
    assert len(TOPICS) == 12


def test_no_two_lessons_share_a_title_or_a_summary(lessons: tuple[Lesson, ...]) -> None:
    assert len({lesson.title for lesson in lessons}) == len(lessons)
    assert len({lesson.summary for lesson in lessons}) == len(lessons)


def test_lessons_are_short_enough_to_be_read_in_a_break(lessons: tuple[Lesson, ...]) -> None:
    for lesson in lessons:
        assert 100 <= len(lesson.body_markdown.split()) <= 400, lesson.slug
        assert 50 <= len(lesson.summary) <= 300, lesson.slug
        assert 2 <= lesson.minutes <= 10, lesson.slug
        lines = (*lesson.warning_signs, *lesson.tips, *lesson.if_it_happened)
        assert max(map(len, lines)) <= 160, lesson.slug


def test_technique_ids_are_well_formed_and_listed_once(lessons: tuple[Lesson, ...]) -> None:
    for lesson in lessons:
        assert lesson.techniques, lesson.slug
        assert len(set(lesson.techniques)) == len(lesson.techniques), lesson.slug
        assert all(re.fullmatch(r"T\d{4}(\.\d{3})?", technique) for technique in lesson.techniques), lesson.slug


def test_every_technique_is_in_the_list_of_techniques(lessons: tuple[Lesson, ...]) -> None:
    unknown = {(lesson.slug, id) for lesson in lessons for id in lesson.techniques if technique_name(id) is None}
    assert unknown == set()


def test_a_reference_to_a_technique_names_one_of_the_lessons_own(lessons: tuple[Lesson, ...]) -> None:
    for lesson in lessons:
        for reference in lesson.references:
            linked = re.search(r"attack\.mitre\.org/techniques/(T\d{4})(?:/(\d{3}))?/$", reference.url)
            if linked:
                assert ".".join(filter(None, linked.groups())) in lesson.techniques, lesson.slug


def test_every_lesson_points_to_a_well_known_publisher(lessons: tuple[Lesson, ...]) -> None:
    publishers = {"CISA", "NCSC UK", "FTC", "MITRE ATT&CK", "No More Ransom"}
    for lesson in lessons:
        assert lesson.references, lesson.slug
        assert {reference.publisher for reference in lesson.references} <= publishers, lesson.slug


def test_every_lesson_asks_a_question_whose_choices_differ(lessons: tuple[Lesson, ...]) -> None:
    for lesson in lessons:
        assert 1 <= len(lesson.quiz) <= 2, lesson.slug
        for question in lesson.quiz:
            assert len(set(question.choices)) == len(question.choices) >= 3, lesson.slug


def test_bodies_hold_no_markup_of_html_and_no_heading_of_the_first_level(lessons: tuple[Lesson, ...]) -> None:
    for lesson in lessons:
        assert not re.search(r"<[a-zA-Z/!]|^# ", lesson.body_markdown, re.MULTILINE), lesson.slug


def test_publication_times_are_utc_and_past(lessons: tuple[Lesson, ...]) -> None:
    assert {lesson.published_at.tzinfo for lesson in lessons} == {UTC}
    assert max(lesson.published_at for lesson in lessons) < datetime(2026, 11, 20, tzinfo=UTC)


def test_lessons_speak_to_every_audience(lessons: tuple[Lesson, ...]) -> None:
    assert {lesson.audience for lesson in lessons} == set(AUDIENCES)


def test_a_well_formed_lesson_is_read_field_by_field() -> None:
    lesson = parse_lesson("a-slug.md", GOOD)
    assert (lesson.slug, lesson.title, lesson.minutes) == ("a-slug", "A title", 3)
    assert lesson.body_markdown == "The **body**.\n"
    assert lesson.techniques == ("T1566", "T1566.002")
    assert lesson.references[0].publisher == "CISA"
    assert lesson.quiz[0].choices[lesson.quiz[0].answer] == "that"
    assert lesson.published_at == datetime(2026, 10, 1, 8, tzinfo=UTC)


def test_a_lesson_that_was_changed_says_when() -> None:
    lesson = parse_lesson("a.md", GOOD)
    assert (lesson.updated_at, lesson.revision) == (lesson.published_at, 1)
    changed = GOOD.replace("language: en", "language: en\nupdated_at: 2026-11-01T08:00:00Z\nrevision: 2")
    lesson = parse_lesson("a.md", changed)
    assert (lesson.updated_at, lesson.revision) == (datetime(2026, 11, 1, 8, tzinfo=UTC), 2)


def test_lessons_are_read_once() -> None:
    assert load_lessons() is load_lessons()


def test_a_lesson_without_a_quiz_or_references_is_fine() -> None:
    text = "".join(line for line in GOOD.splitlines(True) if not line.startswith(("quiz", "references")))
    assert (parse_lesson("a.md", text).quiz, parse_lesson("a.md", text).references) == ((), ())


@each(
    ("old", "new", "field"),
    [
        ("title: A title", "", "title"),
        ("title: A title", "title: [a]", "title"),
        ("title: A title", f"title: {'a' * 101}", "title"),
        ("summary: A summary.", f"summary: {'a' * 301}", "summary"),
        ("topic: phishing", "topic: gardening", "topic"),
        ("audience: everyone", "audience: cats", "audience"),
        ("minutes: 3", "minutes: three", "minutes"),
        ("minutes: 3", "minutes: true", "minutes"),
        ("minutes: 3", "minutes: 0", "minutes"),
        ("warning_signs: [one, two, three]", "warning_signs: [one, two]", "warning_signs"),
        ("tips: [one, two, three]", "tips: [a, b, c, d, e, f, g, h]", "tips"),
        ("tips: [one, two, three]", "tips: [one, two, 3]", "tips"),
        ("if_it_happened: [one, two]", "if_it_happened: one", "if_it_happened"),
        ("T1566.002]", "T1566.02]", "techniques"),
        ("keywords: [link]", "keywords: []", "keywords"),
        ("https://www", "javascript://www", "references: url"),
        ("publisher: CISA", "publisher: 7", "references: publisher"),
        ("answer: 1", "answer: 2", "quiz: answer"),
        ("choices: [this, that]", "choices: [this]", "quiz: choices"),
        ("language: en", "language: the English", "language"),
        ("10:00:00+02:00", "10:00:00", "published_at"),
        ("2026-10-01T10:00:00+02:00", "soon", "published_at"),
        ("2026-10-01T10:00:00+02:00", "2026-13-45T10:00:00Z", "front matter"),
        ("language: en", "language: en\ncolour: red", "colour"),
        ("The **body**.", "", "body_markdown"),
        ("title: A title", "title: *nowhere", "front matter"),
        ("---\ntitle", "title", "front matter"),
    ],
)
def test_a_malformed_lesson_is_refused_with_its_file_and_field(old: str, new: str, field: str) -> None:
    assert old in GOOD
    with pytest.raises(ValueError, match=rf"^bad\.md: {field}: "):
        parse_lesson("bad.md", GOOD.replace(old, new, 1))


def test_a_front_matter_that_is_no_mapping_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^bad\.md: front matter: "):
        parse_lesson("bad.md", "---\n- a\n---\nbody\n")


def test_front_matter_can_not_make_objects() -> None:
    with pytest.raises(ValueError, match=r"^bad\.md: front matter: "):
        parse_lesson("bad.md", GOOD.replace("A title", "!!python/object/apply:os.getcwd []"))


def test_a_file_name_that_is_no_slug_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^Bad Name\.md: slug: "):
        parse_lesson("Bad Name.md", GOOD)


def test_a_blank_search_keeps_every_lesson(lessons: tuple[Lesson, ...]) -> None:
    assert search_lessons(lessons, "") == search_lessons(lessons, " \t") == lessons


def test_every_word_must_match_whatever_its_case_or_order(lessons: tuple[Lesson, ...]) -> None:
    found = slugs(search_lessons(lessons, "CAPTCHA Paste"))
    assert "fake-captcha-paste-command" in found
    assert slugs(search_lessons(lessons, "paste captcha")) == found
    assert search_lessons(lessons, "captcha zeppelin") == ()


@each(
    ("q", "slug"),
    [
        ("sign-in prompt you did not start", "push-prompts-you-did-not-start"),
        ("silently", "a-restore-test"),
        ("social engineering", "changed-bank-details"),
        ("ai_deepfakes", "a-voice-you-know"),
        ("smishing", "text-message-scams"),
        ("vacuum", "home-router-and-shared-rooms"),
    ],
)
def test_title_summary_topic_keywords_and_body_are_searched(lessons: tuple[Lesson, ...], q: str, slug: str) -> None:
    assert slug in slugs(search_lessons(lessons, q))


def test_only_a_trailing_star_finds_the_beginning_of_a_word(lessons: tuple[Lesson, ...]) -> None:
    assert "passkeys-and-security-keys" in slugs(search_lessons(lessons, "passke*"))
    assert search_lessons(lessons, "passke") == ()
    assert search_lessons(lessons, "asskey*") == ()


def test_quoted_words_must_stand_side_by_side_in_one_text(lessons: tuple[Lesson, ...]) -> None:
    assert "changed-bank-details" in slugs(search_lessons(lessons, '"social engineering"'))
    assert "changed-bank-details" in slugs(search_lessons(lessons, "engineering social"))
    assert search_lessons(lessons, '"engineering social"') == ()


def test_every_technique_of_a_lesson_finds_it(lessons: tuple[Lesson, ...]) -> None:
    for lesson in lessons:
        for technique in lesson.techniques:
            assert lesson.slug in slugs(search_lessons(lessons, technique.lower())), technique
    below = {lesson.slug for lesson in lessons if any(one.startswith("T1566.") for one in lesson.techniques)}
    assert below and below <= set(slugs(search_lessons(lessons, "T1566")))


@pytest.mark.parametrize("q", ["a" * 513, "a\0b"])
def test_what_no_search_may_be_is_refused(lessons: tuple[Lesson, ...], q: str) -> None:
    with pytest.raises(InvalidQuery):
        search_lessons(lessons, q)


@pytest.mark.parametrize("q", ["??", "*", "[.]"])
def test_a_search_without_any_word_finds_nothing(lessons: tuple[Lesson, ...], q: str) -> None:
    assert search_lessons(lessons, q) == ()
