"""Each row of the table of contexts drops what its example names and leaves what its counterexample names."""

from __future__ import annotations

from ingest.indicators import document_from_text, extract
from ingest.indicators.contexts import ContextRule, context_of, context_rules, said_of
from tests.cases import each

FILLER = "Nothing else of interest happened in that week, and the analysts went home early. " * 3 + "\n\n"


def rules_about(text: str, rule: ContextRule) -> set[str]:
    """Return what speaks of the rule's value where it stands in a text."""
    found: set[str] = set()
    for type in rule.types:
        start = text.index(rule.value)
        last = text.find("\n", start) if "\n" in text[start:] else len(text)
        first = text.rfind("\n", 0, start) + 1
        context = context_of(text, first, start, start + len(rule.value), last)
        found |= {name for _, name in said_of(type, context)}
    return found


def values_in(text: str) -> set[str]:
    return {indicator.value for indicator in extract(document_from_text(text)).indicators}


@each("rule", context_rules(), ids=lambda rule: rule.id)
def test_a_row_speaks_in_its_example_and_not_in_its_counterexample(rule: ContextRule) -> None:
    assert rule.id in rules_about(rule.example, rule)
    dropped, kept = (rule.example, rule.counterexample) if rule.points < 0 else (rule.counterexample, rule.example)
    assert rule.value not in values_in(dropped)
    host = rule.value.partition("://")[2].partition("/")[0] or rule.value
    assert any(host in value for value in values_in(kept)), kept


@each("rule", context_rules(), ids=lambda rule: rule.id)
def test_the_verdict_of_an_example_is_the_same_in_a_long_text(rule: ContextRule) -> None:
    for text in (rule.example, rule.counterexample):
        assert (rule.value in values_in(text)) == (rule.value in values_in(FILLER * 10 + text)), text
