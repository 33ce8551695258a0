"""No text costs more than in proportion to its length."""

from __future__ import annotations

import random
import time

import pytest

from ingest.indicators import document_from_text, extract
from tests.cases import each

UNITS = (
    "a.",
    "a",
    "deadbeef",
    "1",
    "1.1.1.",
    "a-",
    "a[.]",
    " ",
    "(",
    "/",
    "T1059.",
    "CVE-2021-",
    "a\\.",
    "[.",
    ".]",
    "@",
    "a@",
    "http://",
    "http://a.com/",
    "::",
    "a:",
    "http%3A%2F%2F",
    "\u200b",
    "hxxp:// ",
    "a dot ",
    "imphash ",
    "Play ",
    "Cobalt ",
    "a.com\n",
    "a.com\t",
    '{"a":"b.com"},',
    "](http://a.com",
    "xn--a.",
    "移.",
    "evil[.]com ",
    "1.2.3.4 ",
    "IOCs:\n",
    "x y ",
    "http://a.com/x\\_y ",
    "hxxp://a[.]com/x\\_",
    "a@b.co ",
    "`a.com`",
    "Emotet ",
    "Emotet/",
    "BlueSky malware ",
    "T1059 ",
    " [.] ",
    " dot com",
    "a [at] b ",
    "[.]",
    "a@a.a@",
    "a@b.ru&T1059.",
    "%41",
    "\u200f\u202e",
    "a.b/c,",
    "http://a.b|",
    "GET http://a.b/ ",
    "CVE-2021-34473, -",
    "setup.py ",
    "v1.2.3.4 ",
    "移a[.]b",
    "Emotetに",
)
SOUPS = {
    "signs": tuple("[](){}.\\@:/ dotathxp"),
    "marks": (
        "[.]",
        "(.)",
        "[dot]",
        "[at]",
        "[:]",
        "hxxp",
        "://",
        "a",
        "b",
        "com",
        " ",
        "\\",
        "_",
    ),
    "letters": ("а", "é", "\u200b", "\ue001", "\u3002", ".", " ", "a"),
}
SHORT, LONG = 32_768, 65_536
SECONDS_PER_MEGABYTE = 4.0


def cpu_seconds(text: str) -> float:
    document = document_from_text(text)
    started = time.process_time()
    extract(document)
    return time.process_time() - started


def assert_linear(text: str) -> None:
    extract(document_from_text("Emotet at evil[.]com"))
    # A few tries, for a machine under load may look away in the middle of one.
    tries = []
    for _ in range(3):
        tries.append((cpu_seconds(text[:SHORT]), cpu_seconds(text[:LONG])))
        short, long = (min(column) for column in zip(*tries, strict=True))
        if long < SECONDS_PER_MEGABYTE * LONG / 1e6:
            break
    assert long < max(3.2 * short, 0.3)
    assert long < SECONDS_PER_MEGABYTE * LONG / 1e6


@pytest.mark.slow
@each("unit", UNITS, ids=repr)
def test_the_time_grows_with_the_length_and_no_faster(unit: str) -> None:
    assert_linear(unit * (LONG // len(unit) + 1))


@pytest.mark.slow
@each("soup", SOUPS)
def test_no_order_of_signs_costs_more(soup: str) -> None:
    assert_linear("".join(random.Random(5).choices(SOUPS[soup], k=LONG)))


def test_what_comes_endlessly_is_placed_a_thousand_times() -> None:
    found = extract(document_from_text("evil[.]com Emotet " * 5000)).indicators
    assert {each.value: len(each.occurrences) for each in found} == {
        "evil.com": 1000,
        "Emotet": 1000,
    }


def test_what_a_list_without_blanks_repeats_is_placed_about_a_thousand_times() -> None:
    found = extract(document_from_text("ab@b.ru&" * 20_000)).indicators
    assert found[0].value == "ab@b.ru"
    assert max(len(each.occurrences) for each in found) < 2_000
