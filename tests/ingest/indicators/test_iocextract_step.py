from __future__ import annotations

import time

import pytest

from ingest.indicators import document_from_html, document_from_text, extract, iocextract_step
from ingest.indicators.iocextract_step import second_reading
from ingest.indicators.missed_defanging import MOST_PIECES, missed_pieces
from tests.cases import each
from tests.ingest.indicators.labelled import Labelled, labelled
from tests.ingest.indicators.test_snippets import ALL


def pieces_of(text: str) -> list[str]:
    return [piece.text for piece in missed_pieces(extract(document_from_text(text)))]


def read(*pieces: str) -> list[tuple[str, str]]:
    return [(each.type, each.value) for each in second_reading(pieces).found]


@each(
    ("line", "expected"),
    [
        ("It asked hzzps://gale-post[.]com/a", ("url", "https://gale-post.com/a")),
        ("It asked hzzp://gale-post[.]com/a", ("url", "http://gale-post.com/a")),
        ("panel at gale-post [.] com now", ("domain", "gale-post.com")),
        ("beacon to 185 [.] 220 [.] 101 [.] 47", ("ip", "185.220.101.47")),
        ("drop <at> gale-post <dot> com", ("email", "drop@gale-post.com")),
        ("hxxp://gale-post .com /a/b.php", ("url", "http://gale-post.com/a/b.php")),
    ],
)
def test_the_second_reader_knows_ways_of_disarming_of_its_own(line: str, expected: tuple[str, str]) -> None:
    assert expected in read(line)


@each(
    "line",
    [
        "Next sentence [.] is here",
        "v10.2.4.1 and a::b at 09:27:13 [.]",
        "hosts under in [.] com and the [.] net",
        "wrote setup [.] py and lib [.] so",
        "see readme[ .]md",
        "hxxps[:]//[domain]/login",
    ],
)
def test_the_second_reader_is_held_to_the_rules_for_all(line: str) -> None:
    assert read(line) == []


def test_a_word_between_a_name_and_a_host_makes_no_mailbox() -> None:
    assert read("panel at gale-post [.] com now") == [("domain", "gale-post.com")]


def test_a_mailbox_brings_no_host_along() -> None:
    assert read("drop <at> gale-post <dot> com") == [("email", "drop@gale-post.com")]


def test_only_disarmed_lines_that_no_candidate_accounts_for_are_shown_to_it() -> None:
    assert pieces_of("It called hxxp://gale-post[.]com/a and 185.220.101[.]47.\nPlain gale-post.com (see above).") == []
    assert pieces_of("One line.\nIt called hxxps://gale-post .com /a.php twice.\nAnother line.") == [
        "It called hxxps://gale-post .com /a.php twice."
    ]


@each(
    "line",
    [
        "It spoke to 192.0.2[.]77[:]8443 all night.",
        "It spoke to 192.0.2[.]77(:)443, and to cdn.gale-post[.]com[:]8080.",
        "Archives with links (.lnk) or scripts [.vbs] came by mail.",
    ],
)
def test_the_port_of_a_candidate_and_the_ending_of_files_are_not_shown_to_it(line: str) -> None:
    assert pieces_of(line) == []


@each("line", ["Its panel at gale-post (.com) was down.", "It spoke to gale-post [:]8443 and no other."])
def test_what_may_part_a_name_is_shown_to_it(line: str) -> None:
    assert pieces_of(line) == [line]


@pytest.mark.slow
@each("unit", ["x [.] y ", "[.[.", "hzzp://", "(at) ", "a[.] b", "\u200b[.] "])
def test_pieces_are_few_and_short_whatever_the_text(unit: str) -> None:
    started = time.process_time()
    pieces = pieces_of(unit * (400_000 // len(unit)))
    assert time.process_time() - started < 3
    assert len(pieces) <= MOST_PIECES
    assert all(len(piece) <= 2048 for piece in pieces)


def test_its_program_is_loaded_once_and_started_anew_when_it_has_died() -> None:
    expected = [("url", "https://gale-post.com/a"), ("domain", "gale-post.com")]
    assert read("hzzps://gale-post[.]com/a") == expected
    _, first = iocextract_step._program()
    assert read("hzzps://gale-post[.]com/a") == expected
    assert iocextract_step._program()[1] is first
    first.kill()
    first.wait()
    assert read("hzzps://gale-post[.]com/a") == expected


def test_it_begins_no_piece_after_its_time() -> None:
    assert second_reading(["hzzp://gale-post[.]com/a"], seconds=-1.0) == ((), False)


@each("item", [*labelled("reports"), *labelled("pages")], ids=lambda item: item.name)
def test_it_adds_no_error_to_a_labelled_text(item: Labelled) -> None:
    page = item.name.endswith(".html")
    extraction = extract(document_from_html(item.text) if page else document_from_text(item.text))
    found = read(*(piece.text for piece in missed_pieces(extraction)))
    assert {f"{type} {value}" for type, value in found} <= item.expected | item.neutral


@pytest.mark.slow
def test_it_adds_no_error_to_a_snippet() -> None:
    wrong = [
        (snippet.text, type, value)
        for snippet in ALL
        for type, value in read(*pieces_of(snippet.text))
        if f"{type} {value}" not in snippet.expected
    ]
    assert wrong == []
