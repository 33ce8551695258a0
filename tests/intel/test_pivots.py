"""Links to outside services."""

from __future__ import annotations

import pytest

from intel.pivots import pivots
from intel.settings import Settings
from tests.cases import each

NAMES = ("virustotal", "urlscan", "shodan", "censys", "abuseipdb")


def test_each_service_is_linked_for_the_types_that_it_knows() -> None:
    assert [name for name, _ in pivots(NAMES, "ip", "192.0.2.1")] == [
        "VirusTotal", "urlscan", "Shodan", "Censys", "AbuseIPDB"
    ]  # fmt: skip
    assert pivots(NAMES, "malware", "Emotet") == []
    (found, scanned) = pivots(NAMES, "url", "http://evil.example/a?b=1#c")
    assert found[1] == ("https://www.virustotal.com/gui/search/http%253A%252F%252Fevil.example%252Fa%253Fb%253D1%2523c")
    assert scanned[1].startswith("https://urlscan.io/search/#page.url%3A%22http%3A%2F%2Fevil.example")


def test_a_service_of_ones_own_stands_at_its_address() -> None:
    written = "misp=https://misp.example.org/, Our wiki=https://wiki.example/?q={value}"
    own = Settings.model_validate({"ioc_pivots": written}).ioc_pivots
    assert pivots(own, "domain", "evil.example") == [
        ("MISP", "https://misp.example.org/events/index/searchall:evil.example"),
        ("Our wiki", "https://wiki.example/?q=evil.example"),
    ]


@each("wrong", ["virus", "misp", "misp=ftp://x.example", "wiki=https://wiki.example", "a<b=https://x/{value}"])
def test_what_is_no_service_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError):
        Settings.model_validate({"ioc_pivots": wrong})
