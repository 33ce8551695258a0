"""Names of malware that no list has count by what is said beside them, and nothing else does."""

from __future__ import annotations

import pytest

from ingest.indicators.extracting import extract
from ingest.indicators.lines import document_from_bytes
from ingest.indicators.name_rows import NameRow, name_rows
from ingest.indicators.unlisted_names import _is_loud


def names_in(text: str) -> set[str]:
    found = extract(document_from_bytes(text.encode())).indicators
    return {indicator.value for indicator in found if indicator.type == "malware"}


@pytest.mark.parametrize("row", name_rows(), ids=lambda row: row.id)
def test_a_row_speaks_of_the_name_in_its_example(row: NameRow) -> None:
    found = list(extract(document_from_bytes(f"{row.example}\n".encode())).candidates())
    of_it = [each for each in found if each.type == "malware" and each.value == row.value and each.kept]
    assert any(row.id in (rule for _, rule in each.evidence) for each in of_it), found


@pytest.mark.parametrize(
    "text",
    [
        "The campaign delivers Reedpipe Stealer via phishing pages.",
        "The group behind Reedpipe ransomware-as-a-service posted it.",
        "It installs the Reedpipe miner.",
        "The web shell Reedpipe was found at /uploads/x.aspx.",
        "Android banker 'Reedpipe' abuses accessibility",
        "Threat: Reedpipe Stealer",
        "Die Ransomware \u201eReedpipe\u201c verschl\u00fcsselt Dateien.",
        "Reedpipe\u52d2\u7d22\u8f6f\u4ef6\u52a0\u5bc6\u4e86\u6587\u4ef6",
        "One host was infected by Reedpipe.",
        "Reedpipe worm spreads via SMB. Later variants of Reedpipe used USB sticks.",
    ],
)
def test_a_name_counts_beside_words_for_malware(text: str) -> None:
    assert names_in(text) == {"Reedpipe"}


@pytest.mark.parametrize(
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
