"""A type of indicator that nobody knows yet: one row and one reader, and it is found everywhere. So is a language.

Both are written into a copy of the project as CONTRIBUTING tells it; the rest happens in a process of its own there.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from intel.indicator_types import INDICATOR_TYPES, MOST_TYPES

ROOT = Path(__file__).parent.parent
ROOMS = ("api", "ingest", "intel", "mcp_server", "search_mappings")
ROW = """
    IndicatorType(
        name="bitcoin", label="Bitcoin", noun="Bitcoin wallet", hue=30, example="1BoatSLRHtKNngkdXEeobR76b53LETtpyT",
        form="[13][1-9A-HJ-NP-Za-km-z]{25,34}", active_days=365,
        references=(("Blockchair", "https://blockchair.com/bitcoin/address/{value}"),),
        stix_paths=("x-wallet:address",), misp=("btc", "Financial fraud"), misp_types=("btc",),
    ),
)  # fmt: skip
"""
READER = """
_WALLET: Final = re.compile(r"(?<![0-9A-Za-z])[13][1-9A-HJ-NP-Za-km-z]{25,34}(?![0-9A-Za-z])")


def _wallets(token: str) -> Iterator[TokenCandidate]:
    return (TokenCandidate("bitcoin", match[0], *match.span()) for match in _WALLET.finditer(token))


READERS: Final = (
    ShapeReader(("bitcoin",), "[13][1-9A-HJ-NP-Za-km-z]{25}", _wallets, 26),
"""


def insert(file: Path, before: str, new: str) -> None:
    text = file.read_text("utf-8")
    assert text.count(before) == 1, f"{file}: {before}"
    file.write_text(text.replace(before, new), "utf-8")


@pytest.mark.slow
@pytest.mark.promise("types.registry")
def test_a_new_type_and_a_new_language_are_found_everywhere(tmp_path: Path) -> None:
    for room in ROOMS:
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "tests", tmp_path / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    insert(tmp_path / "intel/indicator_types.py", "\n)  # fmt: skip\n", ROW)
    insert(tmp_path / "ingest/indicators/readers.py", "\nREADERS: Final = (\n", READER)
    vocabulary = tmp_path / "ingest/indicators/data/vocabulary.toml"
    insert(vocabulary, "\n[headings.indicators]\n", '\n[headings.indicators]\ntlh = "mughom"\n')
    command = [sys.executable, "-m", "tests.new_type", str(tmp_path / "data")]
    places = {"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin"}
    ended = subprocess.run(command, cwd=tmp_path, env=places, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr[-3000:]


def test_the_first_ten_types_keep_their_places_and_there_is_room_for_more() -> None:
    first = ("ip", "domain", "hash_md5", "hash_sha1", "hash_sha256", "url", "cve", "mitre_attack", "email", "malware")
    assert tuple(kind.name for kind in INDICATOR_TYPES)[:10] == first
    assert len(INDICATOR_TYPES) <= MOST_TYPES
