"""Where a topic may be spoken of is told from the words for it, and to look for those first changes no answer."""

from __future__ import annotations

import random

import pytest

from ingest.indicators import Candidate, document_from_text, extract, text_context, topics
from ingest.indicators.required_pieces import required_pieces
from ingest.indicators.topics import Topics, TopicsOfText
from ingest.indicators.vocabulary import table
from tests.ingest.indicators.labelled import labelled
from tests.ingest.indicators.test_snippets import ALL

WORDS = {1: ("attack",), 2: ("see", "read"), 4: ("see",)}


def test_whatever_stands_near_a_word_may_speak_of_its_topic() -> None:
    parts = random.Random(6).choices(["attack ", "SEE ", "read ", "x" * 90, "x" * 400, "\u0130 "], k=120)
    text = "".join(parts)
    of_text = TopicsOfText(Topics(lambda: WORDS), text)
    while of_text.may_stand(8, 0, 0):
        pass  # until it is looked through
    small, unsaid = text.replace("\u0130", "i").lower(), 0
    for start in range(0, len(text), 7):
        for end in (start + 10, start + 900):
            near = small[max(0, start - 200) : end + 50]
            for topic, said in WORDS.items():
                may_stand = of_text.may_stand(topic, start, end)
                assert may_stand or not any(word in near for word in said)
                unsaid += not may_stand
    assert unsaid > 100


def test_all_that_is_looked_for_needs_a_piece() -> None:
    assert all(map(required_pieces, table("attack", "pieces").values()))
    for topic, pieces in text_context.pieces_of_topics().items():
        assert pieces, topic


@pytest.mark.slow
def test_to_look_through_a_text_first_changes_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [snippet.text for snippet in ALL] + [item.text for item in labelled("reports")]
    assert len(texts) > 500

    def candidates() -> list[list[Candidate]]:
        return [list(extract(document_from_text(text)).candidates()) for text in texts]

    monkeypatch.setattr(topics, "WORTH_A_SEARCH", 1_000_000_000)
    looked_through = candidates()
    monkeypatch.setattr(topics, "WORTH_A_SEARCH", 1)
    assert candidates() == looked_through
