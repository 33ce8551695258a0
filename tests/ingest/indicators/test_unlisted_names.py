"""Names of malware that no list has count by what is said beside them, and nothing else does."""

from __future__ import annotations

from ingest.indicators.extracting import extract
from ingest.indicators.lines import document_from_bytes
from ingest.indicators.name_rows import NameRow, name_rows
from ingest.indicators.unlisted_names import _is_loud
from tests.cases import each


def names_in(text: str) -> set[str]:
    found = extract(document_from_bytes(text.encode())).indicators
    return {indicator.value for indicator in found if indicator.type == "malware"}


@each("row", name_rows(), ids=lambda row: row.id)
def test_a_row_speaks_of_the_name_in_its_example(row: NameRow) -> None:
    found = list(extract(document_from_bytes(f"{row.example}\n".encode())).candidates())
    of_it = [each for each in found if each.type == "malware" and each.value == row.value and each.kept]
    assert any(row.id in (rule for _, rule in each.evidence) for each in of_it), found


@each(
    "text",
    [
        "The campaign delivers Reedpipe malware via phishing pages.",
        "The group behind Reedpipe ransomware-as-a-service posted it.",
        "It installs the Reedpipe miner.",
        "The web shell Reedpipe was found at /uploads/x.aspx.",
        "Android banker 'Reedpipe' abuses accessibility",
        "Threat: Reedpipe Loader",
        "Die Ransomware \u201eReedpipe\u201c verschl\u00fcsselt Dateien.",
        "Reedpipe\u52d2\u7d22\u8f6f\u4ef6\u52a0\u5bc6\u4e86\u6587\u4ef6",
        "One host was infected by Reedpipe.",
        "Reedpipe worm spreads via SMB. Later variants of Reedpipe used USB sticks.",
    ],
)
def test_a_name_counts_beside_words_for_malware(text: str) -> None:
    assert names_in(text) == {"Reedpipe"}


@each(
    ("text", "name"),
    [
        ("The campaign delivers Reedpipe Stealer via phishing pages.", "Reedpipe Stealer"),
        ("Hosts were infected with Reedpipe. The Reedpipe RAT listens on two ports.", "Reedpipe RAT"),
        ("Hosts were infected with Reedpipe. The Reedpipe Malware listens on two ports.", "Reedpipe"),
        ("Hosts were infected with the reedy stealer Reedpipe.", "Reedpipe"),
    ],
)
def test_a_kind_without_which_a_name_is_a_word_is_part_of_it_where_it_is_written_so(text: str, name: str) -> None:
    assert names_in(text) == {name}


HASH = "9e107d9d372bb6826bd81d3542a419d6"


@each(
    ("text", "name"),
    [
        (f"The dropped DLL ({HASH}) was identified as Phoenix by the vendor.", "Phoenix"),
        ("The implant appears to be Merlin, going by its strings.", "Merlin"),
        (f"Die Probe {HASH} wurde als Schadsoftware erkannt; vermutlich Octo.", "Octo"),
        (f"L'échantillon {HASH} ressemble à Hydra.", "Hydra"),
        (f"La muestra {HASH} corresponde a Maverick.", "Maverick"),
        ("A amostra parece ser Ghost, segundo o laboratório.", "Ghost"),
        (f"Il campione {HASH} è stato identificato come Medusa.", "Medusa"),
        (f"Образец {HASH} похож на Hydra.", "Hydra"),
        (f"Próbka {HASH} wygląda na Alien.", "Alien"),
        (f"样本{HASH}疑似Merlin。", "Merlin"),
        (f"検体 {HASH} はHydraと判明した。", "Hydra"),
        (f"샘플 {HASH} 은 Alien으로 확인되었다.", "Alien"),
        (f"Zararlı APK ({HASH}) Octo ailesine ait.", "Octo"),
        (f"It beacons to a Mythic teamserver; md5 {HASH}.", "Mythic"),
    ],
)
def test_what_a_sample_is_said_to_be_is_malware_if_a_list_has_it(text: str, name: str) -> None:
    assert name in names_in(text)


@each(
    "text",
    [
        "That's Play for you: the kids love it.",
        f"It looks like Royal weather; hash {HASH} of the release is fine.",
        f"The sample {HASH} was identified as Acme by the vendor.",
        "It appears to be Christmas again, and Kevin is likely to be late.",
        "They probably went to Cuba. This is Maze, from accounting.",
    ],
)
def test_what_is_no_sample_or_in_no_list_is_not(text: str) -> None:
    assert names_in(text) == set()


@each(
    "text",
    [
        "They sold ransomware families such as Reedpipe, Gorsehook and LockBit.",
        "Saldırganlar Gorsehook, Reedpipe ve Locky gibi fidye yazılımlarını dağıttı.",
        "Bots of that kind are Mirai, Gorsehook, Gafgyt, Reedpipe, and XorDDoS among others.",
        "Die Gruppe verteilte Schadprogramme wie Emotet, Gorsehook und Reedpipe.",
        "Ils installent des chevaux de Troie tels que Emotet, Gorsehook et Reedpipe.",
        "Se detectaron familias de malware como Emotet, Gorsehook y Reedpipe.",
        "Использовались трояны, такие как Emotet, Gorsehook и Reedpipe.",
        "该团伙投递Emotet、Gorsehook、Reedpipe等恶意软件。",
        "Hosts run malware: Gorsehook, Emotet, Reedpipe.",
        "Atacantes usam malwares como Gorsehook, Emotet e Reedpipe.",
    ],
)
def test_what_stands_in_a_series_of_malware_is_malware(text: str) -> None:
    assert {"Gorsehook", "Reedpipe"} <= names_in(text)


@each(
    "text",
    [
        "Victims of Emotet, Acme Widgets and Contoso met in May.",
        '[1] Gorse Reedpipe, "Emotet takes over", The Daily Gale, 2026.',
        "Keywords: Lazarus Group, Gorse Interview, Emotet, TrickBot.",
        "We saw Mimikatz, Emotet, TrickBot, Reedpipe Vulnerability Scanner and more.",
        "Neither Microsoft, Reedpipe nor LockBit said a word.",
    ],
)
def test_a_series_of_other_things_gives_no_name(text: str) -> None:
    assert {name for name in names_in(text) if name.startswith(("Gorse", "Reed", "Acme", "Contoso"))} == set()


@each(
    "text",
    [
        "Modern ransomware encrypts backups first. Most victims pay.",
        "Enterprise ransomware is on the rise. The Enterprise plan of the product helps.",
        "The Colonial Pipeline ransomware attack cost millions. Colonial Pipeline paid.",
        "Infected with Python scripts, the server was rebuilt.",
        "New Crypto Stealing Malware Targets Users",
        "9.4.1 Acquiring malware capabilities",
        "module: Malware Concepts for SOC",
        "a Stolen Backdoor Rising Again",
        "body { $code-font-family: JuliaMono, Monaco; }",
        "The Trojan Horse of Troy",
        "It deploys Brasswick and installs Brasswick.",
        "According to Contoso malware analysts, the mail was harmless.",
        "The backdoor Password is stored in the registry.",
    ],
)
def test_a_capital_beside_such_a_word_is_not_enough(text: str) -> None:
    assert names_in(text) == set()


def test_only_what_stands_near_makes_a_long_line_a_title() -> None:
    line = "Alpha Beta Gamma Delta " * 40 + "and then somebody wrote about quite other things again " * 8
    assert _is_loud(line, 300)
    assert not _is_loud(line, len(line) - 100)
