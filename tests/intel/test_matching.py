"""Why a search found an indicator, for every way of the contract."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from intel.errors import InvalidQuery
from intel.ids import ioc_id
from intel.matching import Match, reason
from intel.query import parse_search
from intel.records import ArticleRef, Ioc
from tests.cases import each

NOW = datetime(2026, 11, 20, tzinfo=UTC)


def record(indicator: str, title: str = "Quiet", source: str = "Example Blog", malware: tuple[str, ...] = ()) -> Ioc:
    type, _, value = indicator.partition(" ")
    article = ArticleRef("a", title, None, source, None, NOW)
    return Ioc(ioc_id(type, value), type, value, NOW, NOW, 1, 1, "", malware, article, NOW, NOW)


def why(q: str, ioc: Ioc) -> Match:
    text = parse_search(q)
    assert text is not None
    return reason(text, ioc)


@each(
    ("q", "indicator", "how", "on"),
    [
        ("evil[.]test", "domain evil.test", "exact", "evil.test"),
        ("Geodo", "malware Emotet", "exact", "Emotet"),
        ("Emotet", "malware Geodo", "exact", "Geodo"),
        ("Geodo", "malware Feodo Version C", "exact", "Feodo Version C"),
        ("evil.test", "url https://evil.test/a", "host", "evil.test"),
        ("evil.test", "email a@evil.test", "host", "evil.test"),
        ("198.51.100.7", "url http://198.51.100.7:8080/a", "host", "198.51.100.7"),
        ("evil.test", "domain a.b.evil.test", "subdomain", "evil.test"),
        ("evil.test", "url https://a.evil.test/x", "subdomain", "evil.test"),
        ("evil.test", "email a@mail.evil.test", "subdomain", "evil.test"),
        ("198.51.100.9/24", "ip 198.51.100.7", "network", "198.51.100.0/24"),
        ("2001:db8::/32", "ip 2001:db8::7", "network", "2001:db8::/32"),
        ("evil", "domain evil-corp.test", "word", "evil"),
        ("corp evil", "domain evil-corp.test", "word", "corp evil"),
        ('"evil corp"', "domain evil-corp.test", "word", "evil corp"),
        ("evil", "domain devil-evils-evil.test", "word", "evil"),
        ("evil.test", "domain evil.test.invalid", "word", "evil test"),
        ("münchen", "domain xn--mnchen-3ya.test", "word", "münchen"),
        ("evilc*", "domain evilcorp.test", "prefix", "evilcorp"),
        ("test evilc*", "domain evilcorp.test", "prefix", "evilcorp"),
        ("evil.test corp", "url https://evil.test/corp", "host", "evil.test"),
    ],
)
def test_a_match_in_the_value_names_its_most_telling_way(q: str, indicator: str, how: str, on: str) -> None:
    found = why(q, record(indicator, title="evil.test corp evilcorp münchen"))
    assert (found.how, found.on) == (how, on)


@each("value", ["https://quiet.test/devil-evils", "https://quiet.test/EVILS/3vil"])
def test_a_word_within_longer_ones_does_not_match_in_a_value(value: str) -> None:
    assert why("evil", record(f"url {value}", title="Of evil")).how == "title"


def test_a_word_is_met_in_a_value_whatever_its_case() -> None:
    assert why("evil", record("url https://quiet.test/EVIL")) == Match("word", "evil")


@each(
    ("q", "match"),
    [
        ("emotet", Match("malware", "Emotet")),
        ("geodo", Match("malware", "Emotet")),
        ("harbour thieves", Match("title", "Harbour thieves")),
        ("evil harbour", Match("title", "Harbour thieves")),
        ("kestrel", Match("source", "Kestrel Weekly")),
        ("bygone days", Match("article", "bygone days")),
        ("evil bygone", Match("article", "bygone")),
        ("evil.test harb*", Match("title", "Harbour thieves")),
    ],
)
def test_any_other_match_names_where_in_the_articles_it_was_met(q: str, match: Match) -> None:
    ioc = record("domain evil.test", "Harbour thieves", "Kestrel Weekly", ("QakBot", "Emotet"))
    assert why(q, ioc) == match


@given(st.text(min_size=1, max_size=100), st.text(max_size=50))
def test_whatever_is_typed_has_a_reason(q: str, title: str) -> None:
    try:
        text = parse_search(q)
    except InvalidQuery:
        return
    if text is not None:
        assert reason(text, record("url https://evil.test/" + "a" * 20, title)).how
