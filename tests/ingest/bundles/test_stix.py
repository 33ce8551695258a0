"""STIX 2.1 bundles as articles."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from typing import Any

import pytest

from ingest.bundles import read_bundle
from ingest.bundles.stix import pattern_values
from ingest.reading import ReadPage
from intel.errors import ArticleUnreadable
from tests.cases import each

NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)


def made(kind: str, number: int, **members: Any) -> dict[str, Any]:
    return {"type": kind, "spec_version": "2.1", "id": f"{kind}--00000000-0000-4000-8000-{number:012}"} | members


def indicator(number: int, pattern: str, **members: Any) -> dict[str, Any]:
    return made("indicator", number, pattern=pattern, pattern_type="stix", **members)


def bundle(*objects: dict[str, Any]) -> bytes:
    return json.dumps({"type": "bundle", "id": "bundle--1", "objects": objects}).encode()


def report(*members: dict[str, Any], **more: Any) -> dict[str, Any]:
    refs = [member["id"] for member in members]
    return made("report", 900, name="Kestrel", published="2026-11-17T09:00:00.000Z", object_refs=refs, **more)


def pairs(found: ReadPage) -> list[tuple[str, str]]:
    return [(each.type, each.value) for each in found.sightings]


def test_a_report_is_an_article_with_what_it_refers_to() -> None:
    maker = made("identity", 1, name="Example Research")
    parts = (
        indicator(2, "[domain-name:value = 'evil.example.com']", description="C2 server"),
        indicator(3, "[file:hashes.'SHA-256' = '" + "AB" * 32 + "' OR file:hashes.MD5 = '" + "0c" * 16 + "']"),
        made("vulnerability", 4, name="CVE-2026-12345", external_references=[{"external_id": "CVE-2026-12345"}]),
        made("attack-pattern", 5, name="Phishing", external_references=[{"external_id": "T1566"}]),
        made("malware", 6, name="emotet", is_family=True),
    )
    indicates = made(
        "relationship", 7, relationship_type="indicates", source_ref=parts[0]["id"], target_ref=parts[4]["id"]
    )
    said = report(*parts, created_by_ref=maker["id"], description="It also used hxxp://203.0.113[.]9/x for orders.")
    (found,) = read_bundle(bundle(maker, *parts, indicates, said), None, NOW)
    assert (found.article.title, found.article.source_name) == ("Kestrel", "Example Research")
    assert found.article.published_at == datetime(2026, 11, 17, 9, tzinfo=UTC)
    assert pairs(found) == [
        ("domain", "evil.example.com"),
        ("hash_sha256", "ab" * 32),
        ("hash_md5", "0c" * 16),
        ("cve", "CVE-2026-12345"),
        ("mitre_attack", "T1566"),
        ("malware", "Emotet"),
        ("url", "http://203.0.113.9/x"),
        ("ip", "203.0.113.9"),
    ]
    assert found.sightings[0].malware == ("Emotet",)
    assert found.sightings[0].context == "domain evil.example.com: C2 server"


def test_what_no_report_refers_to_is_an_article_of_its_own() -> None:
    inside, outside = (
        indicator(2, "[url:value = 'http://a.example.com/x']"),
        indicator(3, "[ipv4-addr:value = '203.0.113.7']"),
    )
    first, rest = read_bundle(bundle(inside, outside, report(inside)), "Partner", NOW)
    assert (pairs(first), pairs(rest)) == ([("url", "http://a.example.com/x")], [("ip", "203.0.113.7")])
    assert first.article.id != rest.article.id


def test_observables_state_themselves_only_where_there_is_no_indicator() -> None:
    seen = made("ipv4-addr", 4, value="203.0.113.7")
    file = made("file", 5, hashes={"MD5": "0c" * 16, "SHA-512": "ab" * 64})
    (alone,) = read_bundle(bundle(seen, file), None, NOW)
    assert pairs(alone) == [("ip", "203.0.113.7"), ("hash_md5", "0c" * 16)]
    (beside,) = read_bundle(bundle(seen, indicator(6, "[domain-name:value = 'evil.example.com']")), None, NOW)
    assert pairs(beside) == [("domain", "evil.example.com")]


def test_what_was_revoked_is_left_out() -> None:
    live, revoked = (
        indicator(1, "[url:value = 'http://a.example.com/']"),
        indicator(2, "[url:value = 'http://b.example.com/']"),
    )
    (found,) = read_bundle(bundle(live, revoked | {"revoked": True}), None, NOW)
    assert [value for _, value in pairs(found)] == ["http://a.example.com/"]


@each(
    ("pattern", "values"),
    [
        ("[ipv6-addr:value = '2a00:1450::7']", [("ip", "2a00:1450::7")]),
        (
            "[domain-name:value IN ('a.example.com', 'b.example.com')]",
            [("domain", "a.example.com"), ("domain", "b.example.com")],
        ),
        ("[url:value = 'http://a.example.com/it\\'s']", [("url", "http://a.example.com/it's")]),
        ("[network-traffic:dst_ref.value = '203.0.113.7' AND network-traffic:dst_port = 443]", [("ip", "203.0.113.7")]),
        ("[network-traffic:dst_ref.value = 'a.example.com']", [("domain", "a.example.com")]),
        ("[email-message:from_ref.value = 'a@b.example.com']", [("email", "a@b.example.com")]),
        ("[domain-name:value != 'a.example.com']", []),
        ("[domain-name:value NOT = 'a.example.com']", []),
        ("[NOT domain-name:value = 'a.example.com']", []),
        ("[domain-name:value LIKE '%.example.com']", []),
        ("[file:name = 'evil.example.com']", []),
        ("domain-name:value = 'cut", []),
    ],
)
def test_patterns_name_what_they_compare_with(pattern: str, values: list[tuple[str, str]]) -> None:
    assert list(pattern_values(pattern)) == values


@pytest.mark.slow
@each("piece", ["a:", "[a:b'", "a:b = '", "a:b IN ('x',", "'", "a:'x'", "\\'", "a-"])
def test_hostile_patterns_take_linear_time(piece: str) -> None:
    def seconds(length: int) -> float:
        begun = time.process_time()
        list(pattern_values(piece * (length // len(piece))))
        return time.process_time() - begun

    assert seconds(100_000) < 30 * max(seconds(10_000), 0.002)


def test_a_bundle_marked_red_or_amber_strict_anywhere_is_not_taken_in() -> None:
    own = {"type": "marking-definition", "id": "marking-definition--00000000-0000-4000-8000-000000000001"}
    red = "marking-definition--e828b379-4e03-4974-9ac4-e53a884c97c1"
    strict = "marking-definition--939a9414-2ddd-4d32-a0cd-375ea402b003"
    for marks, definition, mark in (
        ({"object_marking_refs": [red]}, {}, "TLP:RED"),
        ({"object_marking_refs": [strict]}, {}, "TLP:AMBER+STRICT"),
        ({"granular_markings": [{"marking_ref": red, "selectors": ["pattern"]}]}, {}, "TLP:RED"),
        ({"object_marking_refs": [own["id"]]}, {"definition_type": "tlp", "definition": {"tlp": "red"}}, "TLP:RED"),
        ({"object_marking_refs": [own["id"]]}, {"name": "TLP:AMBER+STRICT"}, "TLP:AMBER+STRICT"),
    ):
        marked = indicator(1, "[url:value = 'http://a.example.com/']") | marks
        with pytest.raises(ArticleUnreadable) as refused:
            read_bundle(bundle(marked, own | definition), None, NOW)
        assert refused.value.reason == "restricted_sharing" and mark in refused.value.detail


@pytest.mark.promise("tlp.read")
@each(
    ("uuid", "tlp"),
    [
        ("613f2e26-407d-48c7-9eca-b8e91df99dc9", "clear"),
        ("34098fce-860f-48ae-8e50-ebd3cc5e41da", "green"),
        ("f88d31f6-486f-44da-b317-01333bde0b82", "amber"),
        ("94868c89-83c2-464b-929b-a1a8aa3c8487", "clear"),
        ("bab4a63c-aed9-4cf5-a766-dfca5abac2bb", "green"),
        ("55d920b0-5e8b-4f79-9ee9-91f868d9b421", "amber"),
        ("00000000-0000-4000-8000-000000000001", None),
    ],
)
def test_the_markings_of_both_versions_say_how_far_a_report_may_be_passed_on(uuid: str, tlp: str | None) -> None:
    marks = {"object_marking_refs": [f"marking-definition--{uuid}"]}
    marked = indicator(1, "[url:value = 'http://a.example.com/']") | marks
    (found,) = read_bundle(bundle(marked), None, NOW)
    assert found.article.tlp == tlp
    other = indicator(2, "[url:value = 'http://b.example.com/']")
    report = {"type": "report", "id": "report--00000000-0000-4000-8000-000000000009", "name": "Clear of it"}
    first, second = read_bundle(bundle(marked, other, report | {"object_refs": [other["id"]]}), None, NOW)
    assert (first.article.tlp, second.article.tlp) == (None, tlp)


def test_members_of_the_wrong_kind_are_as_good_as_absent() -> None:
    odd: list[dict[str, Any]] = [
        {"type": 7, "id": None},
        {"type": "indicator", "id": ["x"], "pattern": 5},
        {"type": "report", "object_refs": {}},
    ]
    with pytest.raises(ArticleUnreadable) as refused:
        read_bundle(bundle(*odd), None, NOW)
    assert refused.value.reason == "no_text"
