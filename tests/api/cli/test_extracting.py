"""`ioc extract` explains itself, asks iocextract only when told to, and takes any bytes of any size."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.end_to_end.processes import Installation

TEXT = (
    "The loader asked hxxps://mist-tarn .com /b.php for orders.\n"
    "Then gale-tarn[.]com; firmware 10.2.4.1 is not affected, see setup.py. Emotet came along.\n"
)


def lines(told: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in told.splitlines()]


@pytest.mark.promise("cli.extract")
def test_what_was_weighed_is_explained_line_by_line(here: Installation) -> None:
    weighed = lines(here.run("extract", "--explain", "--json", typed=TEXT).stdout)
    assert [(each["value"], each["kept"], each["rule"]) for each in weighed] == [
        ("gale-tarn.com", True, "defanged"),
        ("10.2.4.1", False, "version number"),
        ("setup.py", False, "name of a file"),
        ("Emotet", True, "name of malware"),
    ]
    assert all(TEXT[each["start"] : each["end"]] == each["spelling"] for each in weighed)
    assert {"type", "place", "score", "reason"} <= set(weighed[0])


@pytest.mark.promise("cli.extract")
def test_what_was_weighed_is_shown_to_a_person_as_a_table(here: Installation) -> None:
    told = here.run("extract", "--explain", typed=TEXT).stdout
    assert "gale-tarn[.]com" in told
    assert "defanged: Defanged by the author." in told
    weighed = here.run("extract", "--explain", "--wide", typed="The panel stood at gale-post.com in March.").stdout
    assert "+2 spoken of as part of an attack" in weighed
    assert "dropped" in told


def test_iocextract_is_asked_only_when_told_to(here: Installation) -> None:
    alone = lines(here.run("extract", typed=TEXT).stdout)
    both = lines(here.run("extract", "--iocextract", typed=TEXT).stdout)
    assert [each["value"] for each in alone] == ["gale-tarn.com", "Emotet"]
    assert [each["value"] for each in both][:2] == ["https://mist-tarn.com/b.php", "mist-tarn.com"]
    assert both[2:] == alone
    explained = lines(here.run("extract", "--iocextract", "--explain", "--json", typed=TEXT).stdout)
    assert explained[0]["rule"] == "read by iocextract"


def test_a_name_that_could_steer_a_terminal_does_not(here: Installation) -> None:
    told = here.run("extract", "--explain", typed="see hxxp://gale-tarn[.]com/\x1b[31mred\x07 now").stdout
    assert "\x1b" not in told and "\x07" not in told


@pytest.mark.promise("cli.extract")
def test_fifty_megabytes_are_read_whole(here: Installation) -> None:
    line = "The loader asked gale-tarn-{}[.]com for nothing at all, and then it slept for an hour or two.\n"
    one = "".join(line.format(number) for number in range(5_000))
    (here.folder / "large.txt").write_text(one * 106 + "At the end stood last-tarn[.]com alone.\n")
    assert (here.folder / "large.txt").stat().st_size > 50_000_000
    ended = here.run("extract", "large.txt")
    assert (ended.returncode, ended.stderr) == (0, "")
    values = [each["value"] for each in lines(ended.stdout)]
    assert len(values) == 5_001
    assert values[-1] == "last-tarn.com"
