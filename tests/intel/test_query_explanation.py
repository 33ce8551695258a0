"""How a search says that it was read."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from intel.errors import InvalidQuery
from intel.query import SearchText, parse_search
from intel.query_explanation import QueryExplanation, explain_query, sentence
from tests.cases import each


def parsed(q: str) -> SearchText:
    found = parse_search(q)
    assert found is not None
    return found


def test_every_part_of_a_search_is_told_apart() -> None:
    q = 'hxxps://evil[.]test/a "New loader" kestrel harb* 198.51.100.0/24'
    assert explain_query(parsed(q)) == QueryExplanation(
        refanged='https://evil.test/a "New loader" kestrel harb* 198.51.100.0/24',
        names=(("url", "https://evil.test/a"),),
        words=("kestrel",),
        phrases=("new loader",),
        prefixes=("harb",),
        networks=("198.51.100.0/24",),
    )


@each(
    ("q", "said"),
    [
        ("evil[.]test", "Searching domain evil[.]test, including subdomains, URLs and email addresses."),
        ("198.51.100.7", "Searching IP address 198[.]51[.]100[.]7, including URLs on it."),
        ("Geodo", "Searching malware Geodo, including associated indicators."),
        ("T1566", "Searching ATT&CK technique T1566, including sub-techniques."),
        ("T1566.001", "Searching ATT&CK technique T1566.001."),
        ("cve–2024–3400", "Searching vulnerability CVE-2024-3400."),
        ("198.51.100.9/24", "Searching addresses in the network 198.51.100.0/24."),
        ("harb*", "Searching words beginning with “harb”."),
        ("über", "Searching the word “über”."),
        ('"new loader" bank', "Searching the phrase “new loader” and the word “bank” (all must match)."),
        (
            "evil.test loader",
            "Searching domain evil[.]test and the word “loader” (all must match).",
        ),
        ("??", "Nothing to search for: there is no letter or digit in it."),
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
        explain_query(text)
        assert sentence(text).startswith(("Searching ", "Nothing to search for"))
