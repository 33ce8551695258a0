"""Whole reports and saved pages written for this project, with what an analyst takes from them.

Beside each `name.txt` or `name.html` stands `name.labels`: a line `type value` for each indicator; with `? ` before it
where analysts may differ, so that it counts neither for nor against. So does the host of a labelled URL or mailbox.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ingest.indicators.urls import host_of

FOLDER = Path(__file__).parent


class Labelled(NamedTuple):
    """A text or page and the labels on it, each `type value`."""

    name: str
    text: str
    expected: frozenset[str]
    neutral: frozenset[str]


def labelled(kind: str) -> tuple[Labelled, ...]:
    """All `reports`, or all `pages`, by name."""
    return tuple(_read(file) for file in sorted((FOLDER / kind).iterdir()) if file.suffix != ".labels")


def _read(file: Path) -> Labelled:
    lines = file.with_suffix(".labels").read_text("utf-8").splitlines()
    expected = frozenset(line for line in lines if line and not line.startswith("? "))
    neutral = {line.removeprefix("? ") for line in lines if line.startswith("? ")} | set(_hosts(expected))
    return Labelled(file.name, file.read_text("utf-8"), expected, frozenset(neutral) - expected)


def _hosts(expected: frozenset[str]) -> Iterator[str]:
    for label in expected:
        type, _, value = label.partition(" ")
        if type == "url":
            yield from (f"{kind} {host_of(value)}" for kind in ("domain", "ip"))
        elif type == "email":
            yield f"domain {value.rpartition('@')[2]}"
