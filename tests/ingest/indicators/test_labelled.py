"""Whole reports and saved pages give what an analyst takes from them; no type falls below what was reached."""

from __future__ import annotations

import pytest

from ingest.indicators import Extraction, document_from_html, document_from_text, extract
from ingest.indicators.clauses import clause_roles
from ingest.indicators.contexts import context_rules
from ingest.indicators.extracting import NOT_WEIGHED
from ingest.indicators.notes import note_rows
from ingest.indicators.reasons import DROPS, KEEPS
from ingest.second_extractor import RULE
from tests.ingest.indicators.labelled import Labelled, labelled
from tests.ingest.indicators.scoring import Score
from tests.ingest.indicators.test_snippets import ALL as SNIPPETS

REPORTS = labelled("reports")
PAGES = labelled("pages")
# Reports and pages in which nothing is wrong and nothing is missed.
FEWEST_WITHOUT_ERROR = {"reports": 13, "pages": 6}


def read(item: Labelled) -> Extraction:
    page = item.name.endswith(".html")
    return extract(document_from_html(item.text) if page else document_from_text(item.text))


def found_in(item: Labelled) -> set[str]:
    return {f"{indicator.type} {indicator.value}" for indicator in read(item).indicators}


@pytest.mark.parametrize(("kind", "items"), [("reports", REPORTS), ("pages", PAGES)])
def test_no_type_falls_below_what_was_reached(
    kind: str, items: tuple[Labelled, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    score, without_error = Score(), 0
    for item in items:
        found = found_in(item)
        score.add(found, item.expected, item.neutral)
        without_error += item.expected <= found <= item.expected | item.neutral
    with capsys.disabled():
        score.print_table(f"{len(items)} {kind}")
    assert score.below({}) == {}
    assert without_error >= FEWEST_WITHOUT_ERROR[kind]


def test_there_are_enough_labelled_texts() -> None:
    assert len(SNIPPETS) >= 150
    assert len(REPORTS) >= 12
    assert len(PAGES) >= 6
    assert all(1_000 <= len(report.text) <= 6_000 for report in REPORTS)


@pytest.mark.slow
def test_every_rule_decides_somewhere_in_the_labelled_texts() -> None:
    extractions = [*map(read, (*REPORTS, *PAGES)), *(extract(document_from_text(each.text)) for each in SNIPPETS)]
    decided = {(candidate.kept, candidate.rule) for each in extractions for candidate in each.candidates()}
    said = {row.id for table in (clause_roles(), context_rules(), note_rows()) for row in table}  # with own examples
    assert {rule for kept, rule in decided if kept} - said == set(KEEPS) - {RULE}
    assert {rule for kept, rule in decided if not kept} - said == set(DROPS) - {NOT_WEIGHED.rule}
