"""Names of the lists are read where signs join them to other words, and nothing else is taken from there."""

from __future__ import annotations

from ingest.indicators.extracting import extract
from ingest.indicators.lines import document_from_bytes
from tests.cases import each


def names_in(text: str) -> set[str]:
    found = extract(document_from_bytes(text.encode())).indicators
    return {indicator.value for indicator in found if indicator.type == "malware"}


@each(
    ("text", "name"),
    [
        ("ESET: Win32/PSW.Vidar.AB", "Vidar"),
        ("Trojan:Win64/Lumma.RPX!MTB in setup.exe", "Lumma"),
        ("Backdoor.MSIL.AsyncRAT.gen was found", "AsyncRAT"),
        ("HEUR:Trojan-Banker.AndroidOS.Anatsa.c", "Anatsa"),
        ("popular threat label trojan.remcos/msil", "Remcos"),
        ("a variant of Win32/TrojanDownloader.Guloader.XY", "GuLoader"),
        ("| ESET | Win32/Spy.Ursnif.CV |", "Ursnif"),
        ("rule APT_Loader_SocGholish_v2 {\n  strings:", "SocGholish"),
        ("rule win_danabot_auto {\n  meta:", "DanaBot"),
        ("rule M_Hunting_PlugX_Config : apt\n{", "PlugX"),
        ('{"id":"1","name":"Emotet epoch","pattern":"x"}', "Emotet"),
        ('"2026-01-01","a.gale.top","domain","Cobalt Strike","anon"', "Cobalt Strike"),
        ('family="NetSupport RAT" | stats count', "NetSupport RAT"),
        ('"metadata":[{"name":"tool","value":"GammaSteel"},{"name":"analyst"}]', "GammaSteel"),
        ("\u5bb6\u65cf\u4e3a\u94f6\u72d0\uff08Winos4.0\uff09\u3002", "Winos 4.0"),
    ],
)
def test_signs_beside_a_name_do_not_hide_it(text: str, name: str) -> None:
    assert name in names_in(text)


@each(
    "text",
    [
        "http://img.gale.example/Trojan.Emotet/a.png",
        "Detected as Trojan.Generic.KD, Win32/Filecoder.X and Linux/CoinMiner.B",
        "the rule of the house {",
        'They wrote "Play", "Hive", and "Royal" on the wall.',
    ],
)
def test_what_is_a_path_a_generic_label_or_a_word_gives_none(text: str) -> None:
    assert names_in(text) == set()
