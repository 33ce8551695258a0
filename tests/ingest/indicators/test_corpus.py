"""The labelled corpus beside the checkout, where it is present: the scores never fall below what was reached."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
CORPUS = ROOT.parent / "shared" / "corpus"
FLOORS = {
    "ip": 0.99,
    "domain": 0.99,
    "hash_sha256": 0.995,
    "url": 0.98,
    "cve": 0.99,
    "mitre_attack": 0.99,
    "email": 0.96,
}


def pairs(text: str) -> list[tuple[str, str]]:
    from ingest.indicators import document_from_text, extract

    return [(each.type, each.value) for each in extract(document_from_text(text)).indicators]


@pytest.mark.slow
@pytest.mark.skipif(not (CORPUS / "score_extraction.py").exists(), reason="no labelled corpus beside this checkout")
def test_the_labelled_corpus_is_read_nearly_without_error(tmp_path: Path) -> None:
    scores = tmp_path / "scores.json"
    command = [sys.executable, str(CORPUS / "score_extraction.py"), "--split", "dev", "--peers", "none"]
    command += ["--callable", "tests.ingest.indicators.test_corpus:pairs", "--json", str(scores)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=120)
    found = json.loads(scores.read_text())["candidate"]
    assert {type: found[type][2] for type, floor in FLOORS.items() if found[type][2] < floor} == {}
    assert found["micro"][2] >= 0.99
    assert found["malware"][2] >= 0.85
