"""MISP events as articles."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from ingest.bundles import read_bundle
from ingest.reading import ReadPage
from intel.errors import ArticleUnreadable
from tests.cases import each

NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)
UUID = "8f1f6b9e-52c1-4a54-9a1c-0d1f3c1a7b10"


def event(*attributes: dict[str, Any], **members: Any) -> dict[str, Any]:
    made = {
        "uuid": UUID,
        "info": "Kestrel loader campaign",
        "date": "2026-11-17",
        "Orgc": {"name": "Example CERT"},
        "Attribute": list(attributes),
    }
    return {"Event": made | members}


def attribute(kind: str, value: str, **members: Any) -> dict[str, Any]:
    return {"type": kind, "value": value, "to_ids": True, "deleted": False} | members


def read(parsed: Any) -> tuple[ReadPage, ...]:
    return read_bundle(json.dumps(parsed).encode(), None, NOW)


def pairs(found: ReadPage) -> list[tuple[str, str]]:
    return [(each.type, each.value) for each in found.sightings]


def test_an_event_is_an_article_with_its_indicators() -> None:
    (found,) = read(
        event(
            attribute("ip-dst", "203.0.113.7", comment="first C2"),
            attribute("domain", "Kestrel-Update.example.com"),
            attribute("hostname|port", "cdn.kestrel-update.net|8443"),
            attribute("domain|ip", "gate.kestrel-update.org|198.51.100.9"),
            attribute("ip-src|port", "198.51.100.10|443"),
            attribute("url", "http://kestrel-update.net/gate.php"),
            attribute("filename|sha256", "a|b.exe|" + "AB" * 32),
            attribute("malware-sample", "x.bin|" + "0c" * 16),
            attribute("sha1", "1d" * 20),
            attribute("email-src", "billing@Kestrel-Update.net"),
            attribute("vulnerability", "CVE-2026-12345", to_ids=False),
        )
    )
    article = found.article
    assert (article.title, article.source_name, article.url) == ("Kestrel loader campaign", "Example CERT", None)
    assert article.published_at == datetime(2026, 11, 17, tzinfo=UTC)
    assert pairs(found) == [
        ("ip", "203.0.113.7"),
        ("domain", "kestrel-update.example.com"),
        ("domain", "cdn.kestrel-update.net"),
        ("domain", "gate.kestrel-update.org"),
        ("ip", "198.51.100.9"),
        ("ip", "198.51.100.10"),
        ("url", "http://kestrel-update.net/gate.php"),
        ("hash_sha256", "ab" * 32),
        ("hash_md5", "0c" * 16),
        ("hash_sha1", "1d" * 20),
        ("email", "billing@kestrel-update.net"),
        ("cve", "CVE-2026-12345"),
    ]
    assert [each.position for each in found.sightings] == list(range(12))
    assert found.sightings[0].context == "ip 203.0.113.7: first C2"
    assert article.ioc_count == 12


def test_what_is_not_for_detection_or_was_deleted_is_left_out() -> None:
    (found,) = read(
        event(
            attribute("ip-dst", "203.0.113.7"),
            attribute("ip-dst", "203.0.113.8", to_ids=False),
            attribute("domain", "gone.example.com", deleted=True),
            attribute("link", "https://research.example.com/post", to_ids=False),
            Object=[
                {"Attribute": [attribute("md5", "0c" * 16)]},
                {"deleted": True, "Attribute": [attribute("md5", "1c" * 16)]},
            ],
        )
    )
    assert pairs(found) == [("ip", "203.0.113.7"), ("hash_md5", "0c" * 16)]


def test_techniques_and_malware_come_from_galaxies() -> None:
    (found,) = read(
        event(
            attribute("ip-dst", "203.0.113.7", Tag=[{"name": 'misp-galaxy:mitre-malware="Emotet - S0367"'}]),
            attribute("ip-dst", "203.0.113.8"),
            Tag=[{"name": 'misp-galaxy:mitre-attack-pattern="Spearphishing Link - T1566.002"'}],
            Galaxy=[{"GalaxyCluster": [{"tag_name": 'misp-galaxy:malpedia="QakBot"'}]}],
        )
    )
    named = {each.value: each.malware for each in found.sightings if each.type == "ip"}
    assert named == {"203.0.113.7": ("Emotet", "QakBot"), "203.0.113.8": ("QakBot",)}
    assert set(pairs(found)) >= {("mitre_attack", "T1566.002"), ("malware", "QakBot"), ("malware", "Emotet")}


def test_free_text_and_event_reports_are_read_like_articles() -> None:
    (found,) = read(
        event(
            attribute("text", "The loader called evil[.]example[.]com twice.", to_ids=False),
            EventReport=[{"name": "Analysis", "content": "It then asked hxxp://203.0.113[.]9/gate for orders."}],
        )
    )
    assert ("domain", "evil.example.com") in pairs(found)
    assert ("url", "http://203.0.113.9/gate") in pairs(found)
    assert "Analysis" in (found.article.text or "")


def test_a_newer_version_of_an_event_is_the_same_article() -> None:
    (first,) = read(event(attribute("ip-dst", "203.0.113.7")))
    (second,) = read(event(attribute("ip-dst", "203.0.113.8"), info="Changed"))
    assert first.article.id == second.article.id


@each("wrapped", [lambda one: [one, one], lambda one: {"response": [one]}, lambda one: [one["Event"]]])
def test_lists_and_answers_of_searches_hold_events(wrapped: Any) -> None:
    found = read(wrapped(event(attribute("ip-dst", "203.0.113.7"))))
    assert {("ip", "203.0.113.7")} == {pair for each in found for pair in pairs(each)}


def test_values_that_are_no_indicators_are_counted_in_a_note() -> None:
    (found,) = read(event(attribute("ip-dst", "203.0.113.7"), attribute("md5", "not a hash"), attribute("ip-src", "x")))
    assert found.article.notes == ("2 stated values are no indicators of their type.",)


def test_what_is_beyond_the_limit_is_counted() -> None:
    many = event(*(attribute("ip-dst", f"203.0.113.{last}") for last in range(1, 51)))
    (found,) = read_bundle(json.dumps(many).encode(), "Feed", NOW, most_indicators=20)
    assert (found.article.ioc_count, found.article.ioc_dropped, found.article.source_name) == (20, 30, "Feed")


@each(
    ("body", "reason"),
    [
        (b"{", "invalid_json"),
        (b"[" * 200_000, "invalid_json"),
        (b'{"a": "\xff"}', "invalid_json"),
        (b'{"some": "thing"}', "unknown_json"),
        (b"[]", "unknown_json"),
        (b'[{"cve": "CVE-2026-1"}]', "unknown_json"),
        (b'{"Event": {"info": "nothing", "Attribute": "x", "Tag": [1], "Orgc": 7, "Object": [null]}}', "no_text"),
        (
            json.dumps(event(attribute("ip-dst", "203.0.113.7"), Tag=[{"name": "TLP:RED"}])).encode(),
            "restricted_sharing",
        ),
        (
            json.dumps(event(attribute("ip-dst", "203.0.113.7", Tag=[{"name": "tlp:amber+strict"}]))).encode(),
            "restricted_sharing",
        ),
    ],
)
def test_what_cannot_be_taken_in_says_why(body: bytes, reason: str) -> None:
    with pytest.raises(ArticleUnreadable) as refused:
        read_bundle(body, None, NOW)
    assert refused.value.reason == reason


@pytest.mark.promise("tlp.read")
def test_an_event_has_the_strictest_tlp_of_its_parts() -> None:
    green = [{"name": "tlp:green"}]
    (found,) = read(event(attribute("ip-dst", "203.0.113.7"), Tag=green))
    assert found.article.tlp == "green"
    (found,) = read(event(attribute("ip-dst", "203.0.113.7", Tag=[{"name": "TLP: Amber"}]), Tag=green))
    assert found.article.tlp == "amber"
    (found,) = read(event(attribute("ip-dst", "203.0.113.7"), Tag=[{"name": "tlp:white"}, {"name": "x"}]))
    assert found.article.tlp == "clear"
    (found,) = read(event(attribute("ip-dst", "203.0.113.7")))
    assert found.article.tlp is None


@each("date", ["99999-01-01", "9999999999999999999", "0001-01-01", "yesterday", None, 5, "-1"])
def test_a_date_that_means_nothing_is_none(date: Any) -> None:
    (found,) = read(event(attribute("ip-dst", "203.0.113.7"), date=date))
    assert found.article.published_at is None


def test_a_date_in_the_future_is_now() -> None:
    (found,) = read(event(attribute("ip-dst", "203.0.113.7"), date="2031-01-01"))
    assert found.article.published_at == NOW
