"""Labelled texts, and how right an extractor is on them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from ingest.indicators import document_from_html
from ingest.indicators.urls import host_of
from intel.canonical import canonical
from intel.errors import NotAnIndicator
from intel.records import IOC_TYPES
from tests.ingest.indicators.labelled import labelled
from tests.ingest.indicators.scoring import Score
from tests.ingest.indicators.test_snippets import ALL

from .texts import CORPUS

# What the peers know; names of malware none of them does.
COMPARED = tuple(type for type in IOC_TYPES if type != "malware")


# Some extractors leave out addresses that are set apart for documentation; labelled texts name no others.
_ANYBODYS = MappingProxyType(
    {"192.0.2": "185.172.128", "198.51.100": "45.83.64", "203.0.113": "91.219.236", "2001:db8": "2a0b:1306"}
)


@dataclass(frozen=True, slots=True)
class Item:
    """A labelled text or page: what is expected and what is neither right nor wrong, each `type value`.

    Only the given types are judged.
    """

    name: str
    text: str
    page: bool
    expected: frozenset[str]
    neutral: frozenset[str]
    types: frozenset[str]

    @property
    def plain(self) -> str:
        """The text as extractors get it that do not read pages."""
        return document_from_html(self.text).text if self.page else self.text


@dataclass(slots=True)
class Accuracy:
    """F1 by type, over the types that all are compared by, and the items without any error."""

    items: int = 0
    without_error: int = 0
    f1: dict[str, float] = field(default_factory=dict)
    compared_f1: float = 0.0


def corpus_items() -> list[Item]:
    """Return the items of the labelled folder beside the project; none where there is none."""
    index = CORPUS / "dev.jsonl"
    if not index.is_file():
        return []
    return [_corpus_item(json.loads(line)) for line in index.read_text("utf-8").splitlines() if line]


def own_items() -> list[Item]:
    """Return the texts and pages that the tests hold."""
    every = frozenset(IOC_TYPES)
    items = [
        Item(each.name, each.text, each.name.endswith(".html"), each.expected, each.neutral, every)
        for kind in ("reports", "pages")
        for each in labelled(kind)
    ]
    notes = (Item(each.rule, each.text, False, frozenset(each.expected), frozenset(), every) for each in ALL)
    return [_elsewhere(item) for item in (*items, *notes)]


def judged(read: Iterable[tuple[Item, Iterable[tuple[str, str]]]]) -> Accuracy:
    """Return how right the values are that an extractor read in each item."""
    score, compared, accuracy = Score(), Score(), Accuracy()
    for item, values in read:
        found, expected = set(alike(values)), relaxed(item.expected)
        neutral = relaxed(item.neutral | set(beside(item.expected)))
        found, expected = (_of(item.types, labels) for labels in (found, expected))
        score.add(found, expected, neutral)
        compared.add(*(_of(COMPARED, labels) for labels in (found, expected, neutral)))
        accuracy.items += 1
        accuracy.without_error += expected <= found <= expected | neutral
    accuracy.f1 = {type: score.f1(type) for type in score.types}
    accuracy.compared_f1 = compared.f1()
    return accuracy


def _elsewhere(item: Item) -> Item:
    """Return the item with other addresses in place of those for documentation."""
    return replace(
        item,
        text=_moved(item.text),
        expected=frozenset(map(_moved, item.expected)),
        neutral=frozenset(map(_moved, item.neutral)),
    )


def _moved(text: str) -> str:
    for reserved, anybodys in _ANYBODYS.items():
        text = text.replace(reserved, anybodys).replace(reserved.replace(".", "[.]"), anybodys.replace(".", "[.]"))
    return text


def _corpus_item(told: dict[str, object]) -> Item:
    expected, optional = (labels(told[name]) for name in ("expected", "optional"))
    text = (CORPUS / str(told["content_path"])).read_text("utf-8", errors="replace")
    types = told["check_types"] or IOC_TYPES
    assert isinstance(types, list | tuple)  # noqa: S101 - the form of the file
    return Item(str(told["id"]), text, told["kind"] == "html", expected, optional, frozenset(types))


def labels(by_type: object) -> frozenset[str]:
    assert isinstance(by_type, dict)  # noqa: S101 - the form of the file
    return frozenset(f"{type} {value}" for type, values in by_type.items() for value in values)


def alike(values: Iterable[tuple[str, str]]) -> Iterator[str]:
    for type, value in values:
        yield _label(type, value)


def relaxed(labels: Iterable[str]) -> set[str]:
    return {_label(*label.split(" ", 1)) for label in labels}


def _label(type: str, value: str) -> str:
    """In one spelling; the scheme of a URL and a slash at its end are not compared."""
    try:
        value = canonical(type, value)
    except NotAnIndicator:
        value = value.lower()
    if type == "url":
        value = value.partition("://")[2].rstrip("/") or value
    return f"{type} {value}"


def beside(expected: Iterable[str]) -> Iterator[str]:
    """Yield what comes along with something expected: the host of a URL, the technique of a sub-technique."""
    for label in expected:
        type, _, value = label.partition(" ")
        if type == "url":
            host = host_of(value if "://" in value else f"http://{value}")
            yield from (f"{kind} {host}" for kind in ("domain", "ip"))
        elif type == "mitre_attack" and "." in value:
            yield f"mitre_attack {value.partition('.')[0]}"


def _of(types: Iterable[str], labels: Iterable[str]) -> set[str]:
    wanted = set(types)
    return {label for label in labels if label.partition(" ")[0] in wanted}
