"""Made-up threat reports as Markdown files, in folders by source: the same ones in every run of a seed."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

_BEGINNING = datetime(2026, 5, 25, 6, tzinfo=UTC)
_SPAN = timedelta(days=180)
_SYLLABLES = (
    "bra", "cor", "dal", "fen", "gri", "hol", "jun", "kel", "lor", "mar",
    "nev", "osk", "pel", "quo", "ras", "sil", "tor", "ulm", "vex", "wyn",
)  # fmt: skip
_ENDINGS = ("com", "net", "top", "info", "site", "online", "club", "biz")
_FAMILIES = ("Emotet", "QakBot", "LockBit", "AsyncRAT", "Remcos", "Lumma Stealer", "FormBook", "DarkGate", "IcedID")
# How often a type stands among twenty; the last place is taken in turn by those of which there are few.
_TYPES = ("ip",) * 5 + ("domain",) * 5 + ("url",) * 4 + ("sha256", "sha256", "md5", "sha1", "email", "rare")
_OCTETS = (45, 5, 31, 37, 62, 77, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 91, 93, 94, 95)
_ADDRESSES = 2**24
_SHARING_A_DOMAIN = 25
# Of so many neighbours 48 are URLs, wherever among them one begins.
_SHARING_A_KIT = 240
_SEEN_AGAIN = 5


@dataclass(frozen=True, slots=True)
class Shape:
    """How many reports, with how many indicators each, of how many sources; another seed has other indicators."""

    reports: int
    indicators: int
    sources: int = 5
    seed: int = 0

    @property
    def total(self) -> int:
        return self.reports * self.indicators


def write_reports(folder: Path, shape: Shape) -> Iterator[tuple[str, Path, int]]:
    """Write every report, and yield (source name, its folder, reports in it) as each source is done."""
    for source in range(min(shape.sources, shape.reports)):
        place = folder / f"{shape.seed}-{source}"
        place.mkdir(parents=True)
        numbers = range(source, shape.reports, shape.sources)
        for number in numbers:
            (place / f"{number}.md").write_text(report(shape, number), "utf-8")
        yield f"Bench {source} of {shape.seed}", place, len(numbers)


def report(shape: Shape, number: int) -> str:
    """Return a report's text: front matter, a paragraph, and its indicators defanged in a list."""
    first = number * shape.indicators
    again = random.Random(number).sample(range(first), min(_SEEN_AGAIN, first, shape.indicators))
    found = [written(shape.seed, each) for each in (*range(first, first + shape.indicators), *again)]
    when = _BEGINNING + number * _SPAN / shape.reports
    family = _FAMILIES[number % len(_FAMILIES)]
    title = f"{word(number * 7 + shape.seed).title()} campaign delivers {family} to {word(number * 11 + 3)} networks"
    opening = (
        f"Our team followed {family} through {len(found)} indicators. The {word(number)} operators registered"
        " infrastructure in waves and moved on within days."
    )
    listed = "\n".join(f"- `{each}`" for each in found)
    return (
        f'---\ntitle: "{title} {shape.seed}-{number}"\ndate: {when:%Y-%m-%dT%H:%M:%SZ}\n---\n\n'
        f"# {title}\n\n{opening}\n\n## Indicators of compromise\n\n{listed}\n"
    )


def sample(shape: Shape, count: int) -> list[int]:
    """Return numbers of indicators drawn at random, the same ones in every run; every nth would be of few types."""
    return random.Random(count).sample(range(shape.total), min(count, shape.total))


def written(seed: int, number: int) -> str:
    """Return an indicator as a report shows it, defanged."""
    type, value = indicator(seed, number)
    if type in ("ip", "domain"):
        return value.replace(".", "[.]")
    if type == "url":
        scheme, _, rest = value.partition("://")
        host, slash, path = rest.partition("/")
        return f"{scheme.replace('http', 'hxxp')}://{host.replace('.', '[.]')}{slash}{path}"
    return value.replace("@", "[@]").replace(".", "[.]") if type == "email" else value


def indicator(seed: int, number: int) -> tuple[str, str]:
    """Return (type, canonical value); a different value for every number of a seed below ten million."""
    type = _TYPES[number % len(_TYPES)]
    if type == "rare":
        return ("cve", f"CVE-{2014 + seed % 12}-{1000 + number // 20}")
    if type == "ip":
        scrambled = number * 2_654_435_761 % _ADDRESSES
        octets = (_OCTETS[seed % len(_OCTETS)], scrambled >> 16, scrambled >> 8 & 255, scrambled & 255)
        return type, ".".join(map(str, octets))
    host = f"{word(number)}-{number:x}.{parent_domain(seed, number)}"
    if type == "domain":
        return type, host
    if type == "url":
        return type, f"https://{parent_domain(seed, number)}/signin/{kit(seed, number)}-{number:x}.php"
    if type == "email":
        return type, f"{word(number * 3)}@{host}"
    return f"hash_{type}", hashlib.new(type, f"{seed} {number}".encode(), usedforsecurity=False).hexdigest()


def parent_domain(seed: int, number: int) -> str:
    """Return the registered domain that an indicator stands on, together with its neighbours."""
    group = number // _SHARING_A_DOMAIN
    return f"{word(group * 13 + seed)}{word(group * 7)}{group:x}s{seed}.{_ENDINGS[group % len(_ENDINGS)]}"


def kit(seed: int, number: int) -> str:
    """Return a word that the paths of 48 URLs have and nothing else has, however many indicators there are."""
    return f"kit{number // _SHARING_A_KIT:x}s{seed}"


def word(number: int) -> str:
    """Return one of 8,000 words."""
    digits = number % 8000
    return _SYLLABLES[digits % 20] + _SYLLABLES[digits // 20 % 20] + _SYLLABLES[digits // 400]
