"""No text costs more than in proportion to its length."""

from __future__ import annotations

import time

import pytest

from ingest.indicators import document_from_text, extract

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
)
SHORT, LONG = 32_768, 65_536
SECONDS_PER_MEGABYTE = 8.0


def cpu_seconds(unit: str, length: int) -> float:
    document = document_from_text((unit * (length // len(unit) + 1))[:length])
    started = time.process_time()
    extract(document)
    return time.process_time() - started


@pytest.mark.parametrize("unit", UNITS, ids=repr)
def test_the_time_grows_with_the_length_and_no_faster(unit: str) -> None:
    extract(document_from_text("Emotet at evil[.]com"))
    # A few tries, for a machine under load may look away in the middle of one.
    tries = [(cpu_seconds(unit, SHORT), cpu_seconds(unit, LONG)) for _ in range(3)]
    short, long = (min(column) for column in zip(*tries, strict=True))
    assert long < max(3.2 * short, 0.3)
    assert long < SECONDS_PER_MEGABYTE * LONG / 1e6
