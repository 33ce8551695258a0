"""How a search says that it was read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intel.errors import InvalidQuery
from intel.query import SearchText, parse_search
from intel.understood import Understood, sentence, understood


def parsed(q: str) -> SearchText:
    found = parse_search(q)
    assert found is not None
    return found


def test_every_part_of_a_search_is_told_apart() -> None:
    q = 'hxxps://evil[.]test/a "New loader" kestrel harb* 198.51.100.0/24'
    assert understood(parsed(q)) == Understood(
        refanged='https://evil.test/a "New loader" kestrel harb* 198.51.100.0/24',
        names=(("url", "https://evil.test/a"),),
        words=("kestrel",),
        phrases=("new loader",),
        prefixes=("harb",),
        networks=("198.51.100.0/24",),
    )


@pytest.mark.parametrize(
    ("q", "said"),
    [
        ("evil[.]test", "Read as the domain evil[.]test; also its sub-domains, URLs and mailboxes."),
        ("198.51.100.7", "Read as the address 198[.]51[.]100[.]7; also the URLs on it."),
        ("Geodo", "Read as the malware Emotet; also what is named with it."),
        ("T1566", "Read as the ATT&CK technique T1566; also its sub-techniques."),
        ("T1566.001", "Read as the ATT&CK technique T1566.001."),
        ("cve–2024–3400", "Read as the vulnerability CVE-2024-3400."),
        ("198.51.100.9/24", "Read as the addresses of the network 198.51.100.0/24."),
        ("harb*", "Read as words that begin with “harb”."),
        ("über", "Read as the word “über”."),
        ('"new loader" bank', "Read as the phrase “new loader” and the word “bank”; all of it must match."),
        (
            "evil.test loader",
            "Read as the domain evil[.]test and the word “loader”; all of it must match.",
        ),
        ("??", "Read as nothing that can be searched: there is no letter or digit in it."),
    ],
)
def test_a_sentence_says_it_to_a_person(q: str, said: str) -> None:
    assert sentence(parsed(q)) == said


def test_a_long_search_is_not_read_out_whole() -> None:
    assert "and 92 more" in sentence(parsed(" ".join(f"w{n}" for n in range(100))))


@given(st.text(max_size=512))
def test_whatever_is_typed_can_be_told(q: str) -> None:
    try:
        text = parse_search(q)
    except InvalidQuery:
        return
    if text is not None:
        understood(text)
        assert sentence(text).startswith("Read as ")
