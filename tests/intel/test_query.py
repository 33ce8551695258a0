"""How a search is read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intel.errors import InvalidQuery
from intel.ids import ioc_id
from intel.query import Clause, Network, SearchText, exact_value, host_names, parse_search, value_words
from tests.cases import each


def parsed(q: str) -> SearchText:
    found = parse_search(q)
    assert found is not None
    return found


def phrases(q: str) -> list[tuple[tuple[str, ...], ...]]:
    return [clause.phrases for clause in parsed(q).clauses]


@each("blank", ["", "   ", "\t\n", "\u3000", "\u00a0"])
def test_a_blank_search_is_none(blank: str) -> None:
    assert parse_search(blank) is None


def test_every_word_is_a_clause() -> None:
    assert phrases("Loader  CAMPAIGN") == [(("loader",),), (("campaign",),)]
    assert phrases("loader loader") == [(("loader",),)]
    assert phrases("over-the_air/update") == [(("over",),), (("the",),), (("air",),), (("update",),)]


def test_quoted_words_are_a_phrase() -> None:
    assert phrases('"Loader targets"') == [(("loader", "targets"),)]
    assert phrases('banks "loader targets" now') == [(("loader", "targets"),), (("banks",),), (("now",),)]


def test_quotes_that_do_not_close_or_hold_nothing_are_nothing() -> None:
    assert phrases('"loader') == [(("loader",),)]
    assert phrases('"" " " loader') == [(("loader",),)]
    assert parsed('"').clauses == ()


def test_a_search_without_a_word_has_no_clause() -> None:
    assert parsed("??") == SearchText("??", (), ())
    assert parsed("* *").clauses == ()


@each("q", ["evilcor*", "EVILCOR*", "evilcor＊"])
def test_a_trailing_star_makes_a_prefix(q: str) -> None:
    assert parsed(q) == SearchText(parsed(q).text, (Clause(phrases=(("evilcor",),), prefix=True),), ())


def test_only_the_last_word_of_a_piece_is_a_prefix() -> None:
    assert parsed("a-b*").clauses == (Clause((("a",),)), Clause((("b",),), prefix=True))
    assert parsed("a* b").clauses == (Clause((("a",),), prefix=True), Clause((("b",),)))
    assert [clause.prefix for clause in parsed("日本*").clauses] == [False, True]


@each("q", ["emotet*", "T1003*", "198.51.100.7*", "evil.example*"])
def test_the_beginning_of_a_word_names_no_indicator(q: str) -> None:
    search = parsed(q)
    assert search.exact == ()
    assert search.clauses[-1].prefix and not search.clauses[-1].ids and not search.clauses[-1].hosts


@each("q", ["loader *", "*loader", "load*er", "loader-*", "loader.*"])
def test_a_star_elsewhere_is_nothing(q: str) -> None:
    assert not any(clause.prefix for clause in parsed(q).clauses)


@each("q", ["evil.example", "EVIL.Example", "evil[.]example", "evil(dot)example", "ｅｖｉｌ.example"])
def test_a_domain_is_a_host_an_id_and_words_side_by_side(q: str) -> None:
    (clause,) = parsed(q).clauses
    assert ("evil", "example") in clause.phrases
    assert clause.hosts == ("evil.example",)
    assert clause.ids == (ioc_id("domain", "evil.example"),)
    assert parsed(q).exact == (("domain", "evil.example"),)
    assert parsed(q).exact_ids == clause.ids


def test_an_indicator_among_words_is_not_the_whole_search() -> None:
    search = parsed("evil.example loader")
    assert search.exact == ()
    assert [bool(clause.hosts) for clause in search.clauses] == [True, False]


def test_an_address_is_a_host() -> None:
    (clause,) = parsed("198[.]51[.]100[.]7").clauses
    assert clause.hosts == ("198.51.100.7",)
    (clause,) = parsed("2001:DB8::0:7").clauses
    assert clause.hosts == ("2001:db8::7",)


def test_a_url_is_no_host() -> None:
    (clause,) = parsed("hxxps://evil[.]example/a").clauses
    assert clause.hosts == ()
    assert ioc_id("url", "https://evil.example/a") in clause.ids


@each(
    ("q", "network"),
    [
        ("198.51.100.0/24", Network("198.51.100.0", "198.51.100.255", "198.51.100.0/24")),
        ("198.51.100.77/24", Network("198.51.100.0", "198.51.100.255", "198.51.100.0/24")),
        ("198[.]51[.]100[.]0/31", Network("198.51.100.0", "198.51.100.1", "198.51.100.0/31")),
        ("2001:db8::/126", Network("2001:db8::", "2001:db8::3", "2001:db8::/126")),
    ],
)
def test_a_network_is_a_range(q: str, network: Network) -> None:
    assert parsed(q).clauses == (Clause(network=network),)


@each("q", ["198.51.100.0/33", "300.1.1.1/8", "1/2", "2001:db8::/129", "24/7"])
def test_what_is_no_network_is_words(q: str) -> None:
    assert all(clause.network is None for clause in parsed(q).clauses)


def test_a_search_is_at_most_512_characters_without_nul() -> None:
    assert parse_search("a" * 512) is not None
    with pytest.raises(InvalidQuery, match="at most 512"):
        parse_search("a" * 513)
    with pytest.raises(InvalidQuery, match="NUL"):
        parse_search("a\0b")


@given(st.text(st.characters(exclude_characters="\0"), max_size=512))
def test_any_other_text_is_a_search(q: str) -> None:
    search = parse_search(q)
    for clause in search.clauses if search else ():
        assert clause.phrases or clause.network
        assert all(set(word) <= set("abcdefghijklmnopqrstuvwxyz0123456789_") for p in clause.phrases for word in p)


@given(st.text(st.sampled_from('evil.example"*[]:/@- hxp198451日'), max_size=60))
def test_text_full_of_signs_is_a_search(q: str) -> None:
    parse_search(q)


def test_an_exact_value_has_at_most_2048_characters_and_no_nul() -> None:
    assert exact_value("evil[.]example") == (("domain", "evil.example"),)
    assert exact_value("what is this?") == ()
    with pytest.raises(InvalidQuery) as error:
        exact_value("a" * 2049)
    assert error.value.field == "value"
    with pytest.raises(InvalidQuery):
        exact_value("\0")


@each(
    ("type", "value", "hosts"),
    [
        ("domain", "a.b.evil.example", ("a.b.evil.example", "b.evil.example", "evil.example")),
        ("domain", "evil.example", ("evil.example",)),
        ("email", "x@mail.evil.example", ("mail.evil.example", "evil.example")),
        ("url", "https://u:p@w.evil.example:8443/a@b?c://d", ("w.evil.example", "evil.example")),
        ("url", "http://evil.example?q=other.example", ("evil.example",)),
        ("url", "http://198.51.100.7:80/x", ("198.51.100.7",)),
        ("url", "http://[2001:db8::7]:80/x", ("2001:db8::7",)),
        ("ip", "2001:db8::7", ("2001:db8::7",)),
        ("cve", "CVE-2024-1", ()),
        ("malware", "evil.example", ()),
    ],
)
def test_a_value_is_found_by_its_host_and_the_domains_above(type: str, value: str, hosts: tuple[str, ...]) -> None:
    assert host_names(type, value) == hosts


def test_an_international_name_has_words_in_both_spellings() -> None:
    assert value_words("domain", "xn--mnchen-3ya.example") == ("xn mnchen 3ya example", "m_0000fcnchen example")
    assert value_words("url", "http://evil.example/A_b") == ("http evil example a b",)
    assert value_words("domain", "xn--999999999.example") == ("xn 999999999 example",) * 2
    assert value_words("malware", "xn--mnchen-3ya") == ("xn mnchen 3ya",)


def test_a_url_with_a_path_is_words_without_its_scheme_too() -> None:
    (clause,) = parsed("hxxps://evil[.]test/gate.php").clauses
    assert ("evil", "test", "gate", "php") in clause.phrases
    (bare,) = parsed("https://evil.test/").clauses
    assert ("evil", "test") not in bare.phrases


def test_words_that_name_a_family_together_find_its_name() -> None:
    assert all(("cozycar",) in clause.phrases for clause in parsed("Cozy Duke").clauses)
    assert parsed("Cozy Duke").exact[:2] == (("malware", "CozyDuke"), ("malware", "CozyCar"))
    assert not any(("cozycar",) in clause.phrases for clause in parsed("Cozy Duke now").clauses)
