"""What an analyst takes from a text is what is found: rule by rule, and in sum."""

from __future__ import annotations

import sys
from collections import Counter

import pytest

from ingest.indicators import document_from_text, extract
from tests.ingest.indicators.snippets import SNIPPETS, Snippet


def found_in(text: str) -> set[str]:
    return {f"{indicator.type} {indicator.value}" for indicator in extract(document_from_text(text)).indicators}


def f1(right: int, wrong: int, missed: int) -> float:
    return 2 * right / (2 * right + wrong + missed) if right + wrong + missed else 1.0


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda snippet: f"{snippet.rule}: {snippet.text[-60:]!r}")
def test_a_text_yields_what_an_analyst_would_take_from_it(snippet: Snippet) -> None:
    assert found_in(snippet.text) == set(snippet.expected)


def test_every_type_is_found_with_hardly_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    right: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for snippet in SNIPPETS:
        found, expected = found_in(snippet.text), set(snippet.expected)
        right.update(one.split()[0] for one in found & expected)
        wrong.update(one.split()[0] for one in found - expected)
        missed.update(one.split()[0] for one in expected - found)
    types = sorted(right | wrong | missed)
    with capsys.disabled():
        sys.stdout.write(f"\n{'type':<14}{'right':>7}{'wrong':>7}{'missed':>7}{'F1':>8}\n")
        for type in types:
            score = f1(right[type], wrong[type], missed[type])
            sys.stdout.write(f"{type:<14}{right[type]:>7}{wrong[type]:>7}{missed[type]:>7}{score:>8.3f}\n")
    assert min(f1(right[type], wrong[type], missed[type]) for type in types) >= 0.95
