"""Each row of the table of notes drops what its example names and leaves what its counterexample names."""

from __future__ import annotations

from ingest.indicators import document_from_text, extract
from ingest.indicators.notes import NoteRow, note_rows, said_of_all
from tests.cases import each

FILLER = "Nothing else of interest happened in that week, and the readers went home early. " * 3 + "\n\n"


def values_in(text: str) -> set[str]:
    return {indicator.value for indicator in extract(document_from_text(text)).indicators}


@each("row", note_rows(), ids=lambda row: row.id)
def test_a_row_drops_or_keeps_what_its_example_names(row: NoteRow) -> None:
    dropped, kept = (row.example, row.counterexample) if row.points < 0 else (row.counterexample, row.example)
    assert row.value in values_in(kept), kept
    assert row.value not in values_in(dropped), dropped
    if row.points < 0:
        assert (row.points, row.id) in said_of_all(row.example, names_malware=False)


@each("row", [row for row in note_rows() if row.points < 0], ids=lambda row: row.id)
def test_an_article_is_not_judged_as_a_whole(row: NoteRow) -> None:
    text = f"{row.example}\n{FILLER * 10}\nIndicators\n\n{row.value}\n"
    assert row.value in values_in(text), text


@each("row", [row for row in note_rows() if row.points < 0], ids=lambda row: row.id)
def test_what_a_note_defangs_it_means(row: NoteRow) -> None:
    assert "mist-post.ru" in values_in(f"{row.example}\nmist-post[.]ru\n")


def test_the_name_of_malware_is_a_threat_without_another_word_for_it() -> None:
    note = "Maintenance notice: the outage is over, Emotet came back at gale-post.com."
    assert "gale-post.com" in values_in(note)
    assert "gale-post.com" not in values_in(note.replace("Emotet", "Monday"))
