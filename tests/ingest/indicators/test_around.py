"""What the words around an address or hash say of it counts wherever they stand between it and the next value."""

from __future__ import annotations

from ingest.indicators import document_from_text, extract
from tests.cases import each

SAMPLE = "b7e2d90c41f85a3667d0e9c2f14b8a05de73c196f8420b5ac3d17e6094f2a8bd"
OTHER = "3f5b0c9de1a74c6f8b2d9e0a71c4d852"
THEIRS = "45.9.148.3"
OURS = "185.220.70.47"


def values_in(text: str) -> set[str]:
    return {indicator.value for indicator in extract(document_from_text(text)).indicators}


@each(
    "text",
    [
        f"Dropper {SAMPLE} ran first. {OTHER} is just the vendor's setup, nothing wrong with it.",
        f"Malware sample: {SAMPLE}\nPutty.exe {OTHER} checked, that one comes straight from the project.",
        f"{SAMPLE}  loader\n{OTHER}  curl.exe, distro package\n",
        f"Trojan {SAMPLE}. We also submitted {OTHER} (the user's own macro, no finding).",
        f"IOC: {SAMPLE}. Not an IOC: {OTHER}, which every Office install has.",
        f"Schadcode: {SAMPLE}. Die Datei {OTHER} gehört zum Betriebssystem.",
        f"Der Wurm ist {SAMPLE}, dagegen stammt {OTHER} vom Hersteller der Kamera.",
        f"Vrai malware : {SAMPLE}. Le fichier {OTHER} est fourni avec Windows.",
        f"Le rançongiciel : {SAMPLE} ; {OTHER} est un binaire signé de l'éditeur, sans danger.",
        f"El troyano es {SAMPLE}; {OTHER} viene con el sistema operativo.",
        f"Вредонос: {SAMPLE}. Файл {OTHER} входит в состав Windows.",
        f"恶意样本：{SAMPLE}。文件{OTHER}是系统自带的。",
        f"악성코드 {SAMPLE} 발견. {OTHER} 은 윈도우 기본 파일입니다.",
    ],
)
def test_the_hash_of_a_file_that_is_what_it_should_be_is_no_indicator(text: str) -> None:
    found = values_in(text)
    assert SAMPLE in found, text
    assert OTHER not in found, text


@each(
    "text",
    [
        f"Brute force from {THEIRS} (not our scanner {OURS}).",
        f"Login by {THEIRS} from Minsk, then {OURS}, which is the hotel of our CFO.",
        f"Attack: {THEIRS}. Health checks from {OURS} belong to Pingdom.",
        f"Attacker {THEIRS} tried RDP; {OURS} was me testing the rule.",
        f"Exploit from {THEIRS}. Ignore {OURS}: nightly backup job.",
        f"Botnet C2 {THEIRS}; lookups went to {OURS} (the campus resolver).",
        f"Angriff von {THEIRS}; {OURS} war der Kollege im Homeoffice.",
        f"Ataque desde {THEIRS}. La IP {OURS} corresponde a un proveedor nuestro.",
        f"攻击来自{THEIRS}，{OURS}是同事在家办公的地址。",
        f"Атака: {THEIRS}. А {OURS} это домашний адрес админа.",
    ],
)
def test_an_address_of_people_or_monitors_on_ones_own_side_is_no_indicator(text: str) -> None:
    found = values_in(text)
    assert THEIRS in found, text
    assert OURS not in found, text


@each(
    "text",
    [
        f"{OURS} pretends to be our VPN gateway and steals passwords.",
        f"The victim machine contacted {OURS} every hour.",
        f"After the sinkhole was lifted the bots moved to {OURS}, a server in Riga.",
        f"The gang used a compromised university server, {OURS}, as C2.",
        f"Phishing kit at {OURS} copies the monitoring page of the bank.",
        f"The RAT connects to {THEIRS} and, for its own updates, to {OURS}.",
        f"| IP | host |\n|---|---|\n| {OURS} | a university, used for the attack |",
    ],
)
def test_such_words_say_nothing_where_they_accuse_or_speak_of_something_else(text: str) -> None:
    assert OURS in values_in(text), text


def test_a_request_to_unblock_yields_nothing_and_what_customers_received_does() -> None:
    assert (
        values_in("Please unblock `cdn.gale-post.com`\nIt was added after a wrong match; clean in all scanners.")
        == set()
    )
    found = values_in("Our customers received mails from desk@mist-shop.top linking to mist-shop.top/pay.")
    assert "desk@mist-shop.top" in found


def test_a_column_of_fixes_holds_versions() -> None:
    assert values_in("| CVE | Fixed in |\n|---|---|\n| CVE-2025-20333 | 9.16.4.85 |") == {"CVE-2025-20333"}
