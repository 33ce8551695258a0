"""What extractors read: report-like texts, and hostile ones."""

from __future__ import annotations

import base64
import hashlib
import itertools
import random
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from ingest.indicators import document_from_html
from ingest.samples import sample_paths

# A folder of labelled texts may lie beside the project; it is read where it is and never part of it.
CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"
_SHORTEST_REPORT = 2_000
_HASH = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32})\b")
_NAME = re.compile(r"(?<=[a-z]{3})(\[?\.\]?[a-z]{2,8})\b")
_ADDRESS = re.compile(r"\b(\d{1,3}\[?\.\]?\d{1,3}\[?\.\]?\d{1,3}\[?\.\]?)(\d{1,3})\b")


def report_texts(characters: int) -> list[str]:
    """Texts of at least so many characters in all, in the same shuffled order in every run; no two are the same."""
    originals = [*_samples(), *_corpus()]
    endless = (_varied(text, number) for number in itertools.count() for text in originals)
    taken: list[str] = []
    while characters > 0:
        taken.append(next(endless))
        characters -= len(taken[-1])
    random.Random(2026).shuffle(taken)
    return taken


def hostile_text(name: str, characters: int) -> str:
    """So many characters of the hostile text of that name."""
    return HOSTILE[name](characters)[:characters]


def _repeated(unit: str) -> Callable[[int], str]:
    return lambda characters: unit * (characters // len(unit) + 1)


def _hex(characters: int) -> str:
    return random.Random(1).randbytes(characters // 2 + 1).hex()


def _base64(characters: int) -> str:
    return base64.b64encode(random.Random(2).randbytes(characters)).decode()


def _words(characters: int) -> str:
    words = ("loader", "Emotet", "was", "seen", "again", "by", "analysts", "v1.2", "e.g.", "T-shirt", "and/or")
    return " ".join(random.Random(3).choices(words, k=characters // 3))


HOSTILE: Mapping[str, Callable[[int], str]] = MappingProxyType(
    {repr(unit): _repeated(unit) for unit in ("a.a.a.", "a-a-a-", "1.1.1.", "a[.]a[.]", "a\\.", "((((", "[[[[", "////")}
    | {
        repr(unit): _repeated(unit)
        for unit in ("http://", "a@a.", "a:a:", "T1059.", "CVE-2021-", "aaaa", "1111", "%41")
    }
    | {"spaces": _repeated(" "), "line ends": _repeated("\n"), "zero-width spaces": _repeated("\u200b")}
    | {"hex": _hex, "base64": _base64, "one line of words": _words}
)


def _samples() -> Iterator[str]:
    for path in sample_paths():
        yield document_from_html(path.read_text("utf-8")).text


def _corpus() -> Iterator[str]:
    for path in sorted((CORPUS / "dev" / "content").glob("*.txt")):
        text = path.read_text("utf-8", errors="replace")
        if len(text) >= _SHORTEST_REPORT:
            yield text


def _varied(text: str, number: int) -> str:
    """Return the same text about other indicators: other hashes, names and last numbers of addresses."""
    if number == 0:
        return text
    text = _HASH.sub(lambda hash: _other_hash(hash[0], number), text)
    text = _NAME.sub(rf"{number}\1", text)
    return _ADDRESS.sub(lambda address: f"{address[1]}{(int(address[2]) + number) % 254 + 1}", text)


def _other_hash(hash: str, number: int) -> str:
    return hashlib.sha256(f"{hash}{number}".encode()).hexdigest()[: len(hash)]
