from __future__ import annotations

import json
from pathlib import Path

import intel.names
from intel.names import (
    is_technique,
    malware_aliases,
    malware_family,
    malware_name,
    malware_names,
    spelling_key,
    technique_description,
    technique_name,
)


def test_techniques_are_known_by_id() -> None:
    assert is_technique("T1059")
    assert is_technique("T1059.001")
    assert technique_name("T1566.001") == "Spearphishing Attachment"
    assert technique_name("T9999") is None


def test_a_sub_technique_newer_than_the_list_is_known_by_its_parent() -> None:
    assert is_technique("T1059.099")
    assert not is_technique("T9999.001")


def test_any_spelling_names_the_family() -> None:
    assert {malware_name(each) for each in ("Emotet", "emotet", "EMOTET", "emotet trojan")} == {"Emotet"}
    assert malware_name("cobalt-strike") == malware_name("CobaltStrike") == "Cobalt Strike"
    assert malware_name("no such family") is None
    assert malware_name("x" * 10_000) is None


def test_an_alias_keeps_its_name_and_its_family_knows_it() -> None:
    assert (malware_name("geodo"), malware_name("QAKBOT"), malware_name("xloader")) == ("Geodo", "QakBot", "XLoader")
    assert malware_family("XLoader") == ("XLoader", "FormBook")
    assert malware_aliases("FormBook") == ("XLoader",)
    assert malware_family("no such family") == ("no such family",)


def test_every_name_of_a_family_finds_the_same_names() -> None:
    names = malware_names()
    for own, others in names.others.items():
        family = {own, *others}
        assert all(set(malware_family(name)) == family for name in family)
        assert {names.families[spelling_key(name)] for name in family} == family


def test_a_name_with_the_word_for_what_it_names_and_without_are_names_of_one_family() -> None:
    assert [malware_name(each) for each in ("lumma", "lumma-stealer", "lumma loader")] == [
        "Lumma",
        "Lumma Stealer",
        "Lumma",
    ]
    assert [malware_name(each) for each in ("REDLINE", "redline stealer")] == ["RedLine", "RedLine Stealer"]
    assert set(malware_family("RedLine")) == set(malware_family("RedLine Stealer"))


def test_the_number_of_a_version_makes_no_other_name() -> None:
    assert {malware_name(each) for each in ("LockBit 3.0", "LockBit 2.0", "lockbit")} == {"LockBit"}


def test_every_canonical_name_names_itself() -> None:
    names = malware_names()
    assert all(names.families[spelling_key(name)] == name for name in set(names.families.values()))


def test_tools_that_come_with_the_system_are_no_malware() -> None:
    assert [malware_name(each) for each in ("ping", "net", "reg", "PsExec", "ipconfig", "cmd")] == [None] * 6


def test_everyday_words_are_marked() -> None:
    ordinary = malware_names().ordinary
    assert {"play", "royal", "hive", "maze", "snake", "cobaltstrike"} <= ordinary
    assert not {"emotet", "trickbot", "plugx", "lockbit"} & ordinary


def test_names_of_these_years_are_known_by_all_their_spellings() -> None:
    assert set(malware_family("Oyster")) == {"Oyster", "OysterLoader", "Broomstick", "CleanUpLoader"}
    assert {malware_name(each) for each in ("Winos 4.0", "winos4.0")} == {"Winos 4.0"}
    assert malware_name("Winos") == "Winos"
    assert malware_family("Winos") == ("Winos", "Winos 4.0")
    assert malware_family("AMOS") == ("AMOS", "Atomic Stealer", "Atomic macOS Stealer", "AMOS Stealer")
    assert malware_name("hunters international") == "Hunters International"


def test_words_that_only_go_before_malware_are_no_names() -> None:
    assert [malware_name(each) for each in ("global", "modern", "first", "dark", "spring", "offline")] == [None] * 6


def test_an_ordinary_name_may_be_written_in_its_own_ways_only() -> None:
    names = malware_names()
    for spelled, may in (("Fog", True), ("FOG", True), ("Play", True), ("PLAy", False), ("AGENT TESLA", True)):
        assert names.may_mean(spelled, spelling_key(spelled)) is may
    assert "redalert" in names.phrases
    assert "cobaltstrike" in names.composed


def test_a_technique_is_described_in_some_sentences_without_links_and_citations() -> None:
    told = technique_description("T1566.001")
    assert told.startswith("Adversaries may send spearphishing emails with a malicious attachment") and told[-1] == "."
    assert "Citation" not in told and "](" not in told and technique_description("T9999") == ""


def test_the_data_carries_the_notice_of_its_licence() -> None:
    folder = Path(intel.names.__file__).parent
    for file in ("attack_techniques.json", "attack_descriptions.json", "malware.json"):
        notice = json.loads((folder / file).read_text(encoding="utf-8"))["notice"]
        assert (
            "© The MITRE Corporation. This work is reproduced and distributed with the permission of The MITRE"
            in notice
        )
