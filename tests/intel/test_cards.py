"""Cards: the lasting part of a record as JSON, which an answer completes."""

from __future__ import annotations

from dataclasses import replace

import orjson

from intel.cards import card_of
from intel.ids import ioc_id
from intel.records import Ioc
from tests.contract.store.builders import hour, make_article

RECORD = Ioc(
    id=ioc_id("domain", "evil.example"),
    type="domain",
    value="evil.example",
    first_seen=hour(1),
    last_seen=hour(2),
    sightings=3,
    sources=2,
    context='It called "evil[.]example" \\ ü.',
    malware=("Emotet", "Ünique"),
    article=make_article("a").ref,
    added_at=hour(3),
    changed_at=hour(4),
)


def test_a_card_marks_a_claimed_source_as_the_record_does() -> None:
    claimed = replace(RECORD, article=replace(RECORD.article, source_domain="blog.example"))
    shown = orjson.loads(card_of(claimed, 0).json + b"}")["article"]
    assert (shown["source_claimed"], shown["source_domain"]) == (True, "blog.example")


def test_a_card_holds_what_completing_it_needs() -> None:
    card = card_of(RECORD, 2)
    assert (card.id, card.type, card.value, card.false_positives) == (RECORD.id, "domain", "evil.example", 2)
    assert (card.malware, card.title, card.source_name) == (
        RECORD.malware,
        RECORD.article.title,
        RECORD.article.source_name,
    )
    assert card.last_seen == int(hour(2).timestamp() * 1000)
