"""What an analyst takes from a text is what is found: rule by rule, and in sum."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from ingest.indicators import document_from_text, extract
from tests.ingest.indicators.called_snippets import CALLED_SNIPPETS
from tests.ingest.indicators.harmless_snippets import HARMLESS_SNIPPETS
from tests.ingest.indicators.hash_snippets import HASH_SNIPPETS
from tests.ingest.indicators.mailbox_snippets import MAILBOX_SNIPPETS
from tests.ingest.indicators.name_snippets import NAME_SNIPPETS
from tests.ingest.indicators.naming_snippets import NAMING_SNIPPETS
from tests.ingest.indicators.neighbour_snippets import NEIGHBOUR_SNIPPETS
from tests.ingest.indicators.owner_snippets import OWNER_SNIPPETS
from tests.ingest.indicators.placed_snippets import PLACED_SNIPPETS
from tests.ingest.indicators.rare_snippets import RARE_SNIPPETS
from tests.ingest.indicators.reading_snippets import READING_SNIPPETS
from tests.ingest.indicators.rule_snippets import RULE_SNIPPETS
from tests.ingest.indicators.scoring import Score
from tests.ingest.indicators.snippets import SNIPPETS, Snippet
from tests.ingest.indicators.vendor_snippets import VENDOR_SNIPPETS

KINDS = tuple(
    Snippet(row["kind"], row["text"], tuple(row["expected"]))
    for row in tomllib.loads(Path(__file__).with_name("kinds.toml").read_text(encoding="utf-8"))["snippet"]
)
ALL: tuple[Snippet, ...] = (
    *SNIPPETS,
    *VENDOR_SNIPPETS,
    *RARE_SNIPPETS,
    *RULE_SNIPPETS,
    *READING_SNIPPETS,
    *NAME_SNIPPETS,
    *NEIGHBOUR_SNIPPETS,
    *HARMLESS_SNIPPETS,
    *NAMING_SNIPPETS,
    *PLACED_SNIPPETS,
    *CALLED_SNIPPETS,
    *MAILBOX_SNIPPETS,
    *HASH_SNIPPETS,
    *OWNER_SNIPPETS,
    *KINDS,
)
Found = list[tuple[Snippet, set[str]]]


@pytest.fixture(scope="module")
def found() -> Found:
    """Each text with the indicators that were found in it."""
    return [(snippet, found_in(snippet.text)) for snippet in ALL]


def found_in(text: str) -> set[str]:
    return {f"{indicator.type} {indicator.value}" for indicator in extract(document_from_text(text)).indicators}


def test_a_text_yields_what_an_analyst_would_take_from_it(found: Found) -> None:
    wrong = [
        f"{snippet.rule}: {snippet.text[-200:]!r}: found {sorted(values)}, expected {sorted(snippet.expected)}"
        for snippet, values in found
        if values != set(snippet.expected)
    ]
    assert not wrong, "\n".join(wrong)


def test_every_type_is_found_with_hardly_an_error(found: Found, capsys: pytest.CaptureFixture[str]) -> None:
    score = Score()
    for snippet, values in found:
        score.add(values, snippet.expected)
    with capsys.disabled():
        score.print_table(f"{len(found)} snippets")
    assert score.below(dict.fromkeys(score.types, 0.95)) == {}
