from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_server.answers import found, looked_up_in
from mcp_server.results import Answer, Record, RecordArticle, Searched
from mcp_server.safe_text import cleaned, defanged, defanged_prose
from tests.cases import each

LABELS = st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=2, max_size=12).map(lambda label: "h" + label)
HOSTS = st.lists(LABELS, min_size=2, max_size=4).map(".".join)
IPV4 = st.ip_addresses(v=4).map(str)
IPV6 = st.ip_addresses(v=6).map(str)
LIVE_VALUES = st.one_of(
    st.tuples(st.just("domain"), HOSTS),
    st.tuples(st.just("ip"), IPV4 | IPV6),
    st.tuples(st.just("url"), HOSTS.map(lambda host: f"https://{host}/gate.php?next=http://{host}/")),
    st.tuples(st.just("email"), HOSTS.map(lambda host: f"drop@{host}")),
)
HOSTILE = st.text(
    st.one_of(st.characters(), st.sampled_from("\r\n\t\x00\x1b\x85\u2028\u2029\u200b\u202e\u2066\ufeff\xad\ufe0f|\"'"))
)


def answer(*records: Record) -> Answer:
    return Answer(items=list(records), limit=50, total=len(records))


@pytest.mark.promise("mcp.text-defanged")
@given(st.lists(st.tuples(HOSTILE, HOSTILE, HOSTILE), min_size=1, max_size=5))
def test_every_ioc_is_exactly_one_line_whatever_its_texts(texts: list[tuple[str, str, str]]) -> None:
    records = [
        Record(type="url", value=value, defanged=spelling, article=RecordArticle(title=title, url=title))
        for value, spelling, title in texts
    ]
    result = found(answer(*records), 50)
    assert len(result.text.splitlines()) == len(records)
    assert not any(unicodedata.category(mark) in ("Cc", "Cf", "Cs") for mark in result.text.replace("\n", ""))


@given(HOSTILE)
def test_what_a_look_up_repeats_is_one_visible_line(value: str) -> None:
    result = looked_up_in(Answer(items=[]), value)
    assert len(result.text.splitlines()) == 1
    assert not any(unicodedata.category(mark) in ("Cc", "Cf", "Cs") for mark in result.text)


def test_a_look_up_in_vain_says_what_was_searched() -> None:
    searched = Searched(articles=1204, sources=1, newest_article="2026-11-19T17:10:00Z")
    told = looked_up_in(Answer(items=[], searched=searched), "good.example").text
    assert told == (
        "good[.]example: not found in 1204 articles from 1 source, newest of 2026-11-19; "
        "not found does not mean harmless."
    )
    odd = Searched(newest_article="\x1b[31mtoday")
    assert "in 0 articles from 0 sources;" in looked_up_in(Answer(items=[], searched=odd), "good.example").text


@pytest.mark.promise("mcp.text-defanged")
@given(LIVE_VALUES, st.sampled_from(["", "raw", "own"]))
def test_the_raw_value_stands_nowhere_in_the_text(typed: tuple[str, str], spelling: str) -> None:
    type, value = typed
    given_by_service = {"": "", "raw": value, "own": defanged(type, value)}[spelling]
    article = RecordArticle(title=f"New: {value}, seen at {value}.", url=f"https://blog.example/{value}/post")
    result = found(answer(Record(type=type, value=value, defanged=given_by_service, article=article)), 10)
    assert value not in result.text
    assert "http:" not in result.text and "https:" not in result.text


@given(LIVE_VALUES)
def test_a_value_of_unknown_type_is_defanged_too(typed: tuple[str, str]) -> None:
    assert typed[1] not in looked_up_in(Answer(items=[]), typed[1]).text


@given(st.sampled_from(["ip", "domain", "url", "email", None]), HOSTILE | LIVE_VALUES.map(lambda typed: typed[1]))
def test_defanging_twice_is_defanging_once(type: str | None, value: str) -> None:
    once = defanged(type, value)
    assert defanged(type, once) == once


@given(HOSTILE, st.integers(1, 40))
def test_cleaning_twice_is_cleaning_once_and_never_too_long(text: str, most: int) -> None:
    once = cleaned(text, most)
    assert cleaned(once, most) == once
    assert len(once) <= most


@each(
    ("type", "value", "shown"),
    [
        ("domain", "evil.example", "evil[.]example"),
        ("ip", "192.0.2.1", "192[.]0[.]2[.]1"),
        ("ip", "2001:db8::1", "2001[:]db8[:][:]1"),
        ("url", "https://evil.example:8443/a.php?b=1.2", "hxxps://evil[.]example:8443/a.php?b=1.2"),
        ("url", "ftp://evil.example/a", "fxp://evil[.]example/a"),
        ("email", "drop@evil.example", "drop[@]evil[.]example"),
        ("email", "drop[at]evil[.]example", "drop[at]evil[.]example"),
        ("domain", "evil[.]example", "evil[.]example"),
        ("mitre_attack", "T1053.005", "T1053.005"),
        ("malware", "Node.Stealer", "Node.Stealer"),
        (None, "T1053.005", "T1053.005"),
        (None, "evil.example", "evil[.]example"),
        (None, "44d88612fea8a8f36de82e1278abb02f", "44d88612fea8a8f36de82e1278abb02f"),
    ],
)
def test_a_value_is_defanged_as_its_type_asks(type: str | None, value: str, shown: str) -> None:
    assert defanged(type, value) == shown


@each(
    ("prose", "shown"),
    [
        ("Seen on evil.example and 192.0.2.1.", "Seen on evil[.]example and 192[.]0[.]2[.]1."),
        ("See http://evil.example/a", "See hxxp://evil[.]example/a"),
        ("Windows 10.1 and v2.3.4. Patched.", "Windows 10.1 and v2.3.4. Patched."),
    ],
)
def test_prose_is_defanged_where_a_client_would_make_a_link(prose: str, shown: str) -> None:
    assert defanged_prose(prose) == shown


@each("unseen", ["\u200b", "\u202e", "\u2066", "\ufeff", "\xad", "\ufe0f", "\U000e0041", "\u3164"])
def test_unseen_characters_go(unseen: str) -> None:
    assert cleaned(f"ab{unseen}cd", 10) == "abcd"


@each("space", ["\n", "\r\n", "\t", "\x0b", "\x0c", "\x85", "\u2028", "\u2029", "\xa0", " \n "])
def test_every_white_space_is_one_space(space: str) -> None:
    assert cleaned(f" ab{space}cd ", 10) == "ab cd"


def test_letters_of_every_script_stay() -> None:
    assert cleaned("Ångström 攻撃 هجوم атака é", 40) == "Ångström 攻撃 هجوم атака é"
