"""Signs of other alphabets, rules and shells are written as usual ones, and no character moves."""

from __future__ import annotations

from intel.odd_signs import CUT, in_usual_signs
from tests.cases import each


@each(
    ("written", "usual"),
    [
        ("ＣＶＥ－２０２４－３４００", "CVE-2024-3400"),
        ("CVE：2024-3400", "CVE-2024-3400"),
        ("gale|2e|top", "gale.top"),
        (r"gale\x2Etop", "gale.top"),
        ("|04|gale|03|top|00|", "gale.top"),
        (r"\x04gale\x03top\x00", "gale.top"),
        ("h^t^tps^://gale.top/^a", "https://gale.top/a"),
        (r"http:\\gale.top\a", "http://gale.top/a"),
        # None of these is one.
        ("|05|gale|03|top|00|", "|05|gale|03|top|00|"),
        (r"\x41\x2e\x42", r"\x41\x2e\x42"),
        (r"C:\\gale.top\a 2^8", r"C:\\gale.top\a 2^8"),
        ("https://gale.top/a^b", "https://gale.top/a^b"),
    ],
)
def test_odd_signs_are_written_as_usual_ones(written: str, usual: str) -> None:
    found = in_usual_signs(written)
    assert found.replace(CUT, "") == usual
    assert len(found) == len(written)
