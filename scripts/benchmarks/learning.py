"""Learn the weights of `ingest/indicators/data/learned.txt` from labelled texts.

`see FOLDER...` writes what is seen of every undefanged host, URL and mailbox that is weighed there, with its label, as
JSON lines; a folder holds `items.jsonl`, whose objects have `id`, `kind` (`text` or `html`), `content_path`, and
`expected` and `optional` values by type. `weigh FILE` fits a logistic regression to it (scikit-learn), prints how each
folder fares by weights that were learned from the others on the error stream, and the table on the other.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ingest.indicators import Document
    from ingest.indicators.contexts import ContextRule

# What fewer texts hold says nothing of others.
FEWEST_TEXTS = 3
STRENGTH = 1.0
SMALLEST_WEIGHT = 20
ONCE_FOR_ALL = "="
OWN = "own"


class Text(NamedTuple):
    """A labelled text: its indicators as `type value`, what may be taken for one, and the types that were labelled."""

    folder: str
    id: str
    document: Document
    expected: set[str]
    neutral: set[str]
    types: frozenset[str]


def see(folders: list[str]) -> Iterator[dict[str, Any]]:
    """Yield what is seen of each value (at its likeliest place) and whether it is an indicator."""
    from ingest.indicators import extract, host_evidence
    from ingest.indicators.learned import features, is_said_outright
    from ingest.indicators.verdict import sum_of

    from .accuracy import alike

    seen: dict[tuple[str, str], tuple[int, dict[str, float]]] = {}

    def note(words: Any, sighting: Any, evidence: list[Any]) -> list[Any]:
        score, key = sum_of(evidence), (sighting[0].type, sighting[0].value)
        if not is_said_outright(evidence) and seen.get(key, (score - 1,))[0] < score:
            seen[key] = score, dict(features(words, sighting, evidence))
        return []

    setattr(host_evidence, "of_what_was_learned", note)  # noqa: B010 - it looks on, and says nothing
    for text in chain(_own(), *map(_gathered, folders)):
        seen.clear()
        extract(text.document)
        for key, (score, found) in seen.items():
            (likeness,) = alike([key])
            if key[0] not in text.types:
                continue
            if (is_one := likeness in text.expected) or likeness not in text.neutral:
                yield {"folder": text.folder, "text": text.id, "is_one": is_one, "score": score, "seen": found}


def _gathered(folder: str) -> Iterator[Text]:
    from ingest.indicators import document_from_html, document_from_text
    from intel.records import IOC_TYPES

    from .accuracy import beside, labels, relaxed

    for line in filter(None, (Path(folder) / "items.jsonl").read_text("utf-8").splitlines()):
        item = json.loads(line)
        text = (Path(folder) / item["content_path"]).read_text("utf-8", errors="replace")
        expected, optional = labels(item.get("expected") or {}), labels(item.get("optional") or {})
        document = document_from_html(text) if item["kind"] == "html" else document_from_text(text)
        types = frozenset(item.get("check_types") or IOC_TYPES)
        yield Text(folder, item["id"], document, relaxed(expected), relaxed({*optional, *beside(expected)}), types)


def _own() -> Iterator[Text]:
    """Yield the texts of the tests, so that what is learned does not undo what the rules are for."""
    from ingest.indicators import document_from_html, document_from_text
    from ingest.indicators.contexts import context_rules
    from intel.records import IOC_TYPES
    from tests.ingest.indicators.labelled import labelled
    from tests.ingest.indicators.test_contexts import FILLER
    from tests.ingest.indicators.test_snippets import ALL

    from .accuracy import beside, relaxed

    texts: list[tuple[str, str, Iterable[str], Iterable[str]]] = []
    texts += [(str(place), each.text, each.expected, ()) for place, each in enumerate(ALL)]
    texts += [each for rule in context_rules() for each in _of_a_row(rule, FILLER)]
    texts += [
        (each.name, each.text, each.expected, each.neutral) for kind in ("reports", "pages") for each in labelled(kind)
    ]
    for name, text, expected, neutral in texts:
        document = document_from_html(text) if name.endswith(".html") else document_from_text(text)
        either = relaxed({*neutral, *beside(expected)})
        yield Text(OWN, name, document, relaxed(expected), either, frozenset(IOC_TYPES))


def _of_a_row(rule: ContextRule, filler: str) -> Iterator[tuple[str, str, set[str], tuple[()]]]:
    """Yield the example of a row and its counterexample, each alone and at the end of a long text."""
    for name, text, is_one in (
        ("example", rule.example, rule.points > 0),
        ("counterexample", rule.counterexample, rule.points < 0),
    ):
        host = rule.value.partition("://")[2].partition("/")[0] or rule.value
        spelled = {rule.value, *(word.strip("\"'`.,;()<>*[]") for word in text.split() if host in word)}
        expected = {f"{type} {value}" for type in ("domain", "url", "email") for value in spelled} if is_one else set()
        yield f"{rule.id}, {name}", text, expected, ()
        yield f"{rule.id}, {name} in a long text", filler * 10 + text, expected, ()


def weigh(path: str) -> None:
    """Print the table, and how each folder fares by what the others teach."""
    import numpy as np  # type: ignore[import-not-found]
    from sklearn.feature_extraction import DictVectorizer  # type: ignore[import-not-found]
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-not-found]

    rows = [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]
    texts: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for row in rows:
        for name in row["seen"]:
            texts[name].add((row["folder"], row["text"]))
    vectors = DictVectorizer()
    kept = [{name: n for name, n in row["seen"].items() if len(texts[name]) >= FEWEST_TEXTS} for row in rows]
    matrix, is_one = vectors.fit_transform(kept), np.array([row["is_one"] for row in rows])
    size: dict[tuple[str, str], int] = defaultdict(int)
    for row in rows:
        size[row["folder"], row["text"]] += 1
    # A text of many values counts more than one of few, but not as much more.
    counts = np.array([size[row["folder"], row["text"]] ** -0.5 for row in rows])
    sets = np.array([row["folder"].rstrip("/").rpartition("/")[0] or row["folder"] for row in rows])
    by_hand = np.array([row["score"] >= 1 for row in rows])

    def fit(of: Any) -> Any:
        model = LogisticRegression(C=STRENGTH, max_iter=3000, solver="liblinear")
        return model.fit(matrix[of], is_one[of], sample_weight=counts[of])

    for each in sorted(set(sets)):
        learned = fit(sets != each).decision_function(matrix[sets == each]) > 0
        for name, said in (("by hand", by_hand[sets == each]), ("learned", learned)):
            right, wrong = int((said & is_one[sets == each]).sum()), int((said & ~is_one[sets == each]).sum())
            missed = int((~said & is_one[sets == each]).sum())
            f1 = 2 * right / (2 * right + wrong + missed)
            print(f"{each} {name}: {right} right, {wrong} wrong, {missed} missed, F1 {f1:.3f}", file=sys.stderr)
    model = fit(np.ones(len(rows), dtype=bool))
    print(round(1000 * model.intercept_[0]), ONCE_FOR_ALL)
    for name, weight in sorted(zip(vectors.get_feature_names_out(), model.coef_[0], strict=True)):
        if abs(1000 * weight) >= SMALLEST_WEIGHT:
            print(round(1000 * weight), name)


if __name__ == "__main__":
    if sys.argv[1] == "see":
        for row in see(sys.argv[2:]):
            print(json.dumps(row, ensure_ascii=False))
    else:
        weigh(sys.argv[2])
