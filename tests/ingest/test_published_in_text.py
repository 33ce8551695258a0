"""The day that a plain text or the name of its file tells."""

from __future__ import annotations

from ingest.published import date_in_name, date_in_text
from tests.cases import each


@each(
    ("text", "day"),
    [
        ("2024-02-08 (THURSDAY): TA577 PIKABOT INFECTION\n\nNOTES:\n", "2024-02-08"),
        ("Loader report\nPublished October 12, 2021\n", "2021-10-12"),
        ("Loader report\nBy A. Writer, 3rd of the crew, 5 Sept. 2022\n", "2022-09-05"),
        ("title: AA21-200A\nOriginal release date: July 19, 2021 | Last revised: July 20, 2021\n", "2021-07-19"),
        ("Version 2024-13-45 of the tool\n", None),
        (
            "The loader was first seen in the wild by the researchers of several vendors and agencies on 2019-01-05.",
            None,
        ),
        ("\n".join(["a line"] * 12) + "\n2020-01-01\n", None),
        ("see https://blog.example/2021/10/12/report", None),
    ],
)
def test_only_the_head_of_a_text_tells_its_day(text: str, day: str | None) -> None:
    found = date_in_text(text)
    assert (found and found.date().isoformat()) == day


@each(
    ("name", "day"),
    [
        ("proofpoint_2021-10-20_ta551.txt", "2021-10-20"),
        ("report-20211020.html", "2021-10-20"),
        ("d41d8cd98f00b204e9800998ecf8427e202110209.txt", None),
        ("notes.txt", None),
    ],
)
def test_a_files_name_may_tell_a_day(name: str, day: str | None) -> None:
    found = date_in_name(name)
    assert (found and found.date().isoformat()) == day
