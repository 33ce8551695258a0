"""Each row of the table of evidence speaks in its example."""

from __future__ import annotations

from ingest.indicators.evidence import EVIDENCE_ROWS, EvidenceRow
from ingest.indicators.extracting import extract
from ingest.indicators.lines import document_from_bytes
from tests.cases import each
from tests.ingest.indicators.snippets import ARTICLE, DISARMING_ARTICLE


@each("row", EVIDENCE_ROWS, ids=lambda row: row.id)
def test_a_row_speaks_of_the_value_in_its_example(row: EvidenceRow) -> None:
    text = row.example.replace("{disarming article}", DISARMING_ARTICLE).replace("{article}", ARTICLE)
    of_it = [each for each in extract(document_from_bytes(text.encode())).candidates() if each.value == row.value]
    assert any((row.points, row.rule) in candidate.evidence for candidate in of_it), of_it


def test_a_row_has_an_id_of_its_own_and_each_rule_a_reason() -> None:
    assert len({row.id for row in EVIDENCE_ROWS}) == len(EVIDENCE_ROWS)
    for row in EVIDENCE_ROWS:
        side = [each for each in EVIDENCE_ROWS if each.rule == row.rule and (each.points > 0) == (row.points > 0)]
        assert any(each.reason for each in side), row.id
