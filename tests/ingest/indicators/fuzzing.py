"""A fuzzer of the extractor: texts that might crash it, and units that repeated might cost more than their share.

`scripts/fuzz --seconds 600 --seed 7` runs it for long and prints what it finds; `test_fuzz.py` runs a little of it.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from ingest.indicators import extract, extract_lines
from ingest.indicators.extracting import NOT_WEIGHED
from ingest.indicators.lines import document_from_bytes, lines_of
from tests.ingest.indicators.labelled import labelled
from tests.ingest.indicators.test_snippets import ALL

SECONDS_A_MEGABYTE: Final = 0.5
# A busy machine is given so many times that before it counts.
PATIENCE: Final = 3.0
MOST_GROWTH: Final = 3.0  # for twice the length
SHORT: Final = 1 << 16
MEGABYTE: Final = 1_000_000

ATOMS: Final = (
    "a", "A", "1", "f", "é", "移", ".", "-", "_", "@", ":", "/", "//", "://", "\\", "[", "]", "(", ")", "{", "}", "<",
    ">",
    "[.]", "(.)", ".]", "[.", "[dot]", " dot ", " DOT ", " at ", "[at]", "[:]", "[:]//", "[@]", "http", "hxxp", "https://",
    "hxxp://", "h**p", "meow://", "fxp", "__", "%3A%2F%2F", "%41", "xn--", "www.", ".com", "com", "evil", "evil.com",
    "evil[.]com", "10.1.", "1.1.1.1", "::", "2001:",
    "::ffff:193.9.2.74", "2001:67c:4f8::1", "9.1.0.2", "a@b.ru", "/24", ":8080", "CVE", "CVE-", "2021",
    "T1059", "T1059.", "deadbeef", "Emotet",
    "Cobalt ", "Play ", "ransomware", "hash", "imphash ", "JA3", "version ", "0x", " ", "  ", "\t", "\n", "\n\n",
    "\r\n",
    "|", ",", ";", "'", '"', "`", "*", "+", "=", "&", "?", "#", "$", "!", "~", "^", "\u200b", "\u00ad", "\u2011",
    "\u201c", "\ufeff", "\ue001", "\ue003", "\x00", "\x85", "\u2028", "IOCs:\n", "References\n", "# ", "- ", "](",
    "<p>",
    "</p>", "<a href=", "<table>", "<td>", "<pre>", "&#46;", "&nbsp;", "<!--", "-->", "<b>",
)  # fmt: skip


class Slow(NamedTuple):
    """A unit that, repeated to `characters`, took `seconds` of CPU time; twice of a short text took `growth` times."""

    unit: str
    characters: int
    seconds: float
    growth: float


def hostile_units(seed: int) -> Iterator[str]:
    """Endlessly many short pieces to repeat; some as pages."""
    chance = random.Random(seed)
    while True:
        unit = "".join(chance.choices(ATOMS, k=chance.randint(1, 5)))
        yield unit


def slow(unit: str, before: str = "", patience: float = PATIENCE) -> Slow | None:
    """The unit, if a megabyte of it costs more than its share; one that is suspected is measured again at length."""
    seconds = _seconds(before + unit * (SHORT // len(unit)))
    if seconds < SECONDS_A_MEGABYTE * patience * SHORT / 1e6:
        return None
    growth = _seconds(before + unit * (2 * SHORT // len(unit))) / seconds
    # A megabyte of what grows so would take too long to measure.
    text = before + unit * ((2 * SHORT if growth > MOST_GROWTH else MEGABYTE) // len(unit))
    seconds = min(_seconds(text) for _ in range(2))
    share = SECONDS_A_MEGABYTE * patience * len(text) / 1e6
    return Slow(unit, len(text), seconds, growth) if seconds > share else None


def mutants(seed: int) -> Iterator[bytes]:
    """Endlessly many broken files: labelled texts cut, spliced, sown with atoms, in usual and wrong encodings."""
    chance = random.Random(seed)
    originals = [item.text for kind in ("reports", "pages") for item in labelled(kind)]
    originals += [snippet.text for snippet in ALL]
    while True:
        text = chance.choice(originals)
        for _ in range(chance.randint(1, 6)):
            text = _mutated(text, chance, originals)
        yield _encoded(text, chance)


def crash(data: bytes) -> str:
    """What went wrong with a file, or nothing."""
    try:
        extraction = extract(document_from_bytes(data))
        for line in lines_of(extraction):
            json.dumps(line, ensure_ascii=False).encode("utf-8")
        for candidate in extraction.candidates():
            if candidate.rule == NOT_WEIGHED.rule:
                return f"{candidate} {candidate.rule}"[:300]
    except Exception as error:  # whatever it is, it must not come
        return f"{type(error).__name__}: {error}"[:300]
    return ""


def main(arguments: Sequence[str]) -> int:
    """Fuzzes for a time; exit status 1 where something was found."""
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long (default 60)")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--patience", type=float, default=PATIENCE, help="times 0.5 s a megabyte (default 3)")
    options = parser.parse_args(arguments)
    sys.stdout.write(f"seed {options.seed}\n")
    end = time.monotonic() + options.seconds
    found = tried = 0
    for unit, data in zip(hostile_units(options.seed), mutants(options.seed), strict=False):
        if time.monotonic() > end:
            break
        tried += 1
        for before in ("", "<!doctype html><html><body>"):
            if accused := slow(unit, before, options.patience):
                found += 1
                sys.stdout.write(f"slow: {accused}{' as a page' if before else ''}\n")
        if what := crash(data):
            found += 1
            sys.stdout.write(f"crash: {what} on {data[:400]!r}\n")
    sys.stdout.write(f"{tried} units and as many broken files tried, {found} faults found\n")
    return 1 if found else 0


def _seconds(text: str) -> float:
    data = text.encode("utf-8", errors="replace")
    begin = time.process_time()
    for _ in extract_lines(data):
        pass
    return time.process_time() - begin


def _mutated(text: str, chance: random.Random, originals: Sequence[str]) -> str:
    at, width = chance.randrange(len(text) + 1), chance.randint(0, 40)
    match chance.randrange(5):
        case 0:
            return text[:at] + text[at + width :]
        case 1:
            return text[:at] + "".join(chance.choices(ATOMS, k=chance.randint(1, 8))) + text[at:]
        case 2:
            other = chance.choice(originals)
            cut = chance.randrange(len(other) + 1)
            return text[:at] + other[cut : cut + 400]
        case 3:
            return text[:at] + text[at : at + width] * chance.randint(2, 20) + text[at + width :]
        case _:
            return text[:at] + chr(chance.choice((0, 0x85, 0xAD, 0xD800, 0xDFFF, 0xE000, 0xFFFE, 0x1F600))) + text[at:]


def _encoded(text: str, chance: random.Random) -> bytes:
    encoding = chance.choice(("utf-8", "utf-8", "utf-8", "utf-16", "utf-32-le", "latin-1", "windows-1251", "shift_jis"))
    data = bytearray(text.encode(encoding, errors=chance.choice(("replace", "ignore"))))
    for _ in range(chance.choice((0, 0, 1, 30))):
        if data:
            data[chance.randrange(len(data))] = chance.randrange(256)
    if chance.random() < 0.1:
        data[:0] = (
            b"<meta charset=" + chance.choice((b"utf-7", b"unicode_escape", b"punycode", b"idna", b"hex", b"x")) + b">"
        )
    return bytes(data)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
