"""What an answer shows of an indicator is put together from its card, member for member as the contract tells it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import orjson

from api.annotating import Annotations, Caution
from intel.ageing import age
from intel.canonical import defang
from intel.cards import card_of
from intel.ids import ioc_id
from intel.matching import Reasons, reason
from intel.query import SearchText, parse_search
from intel.records import ArticleRef, Ioc
from intel.times import rfc3339
from tests.cases import each
from tests.contract.store.builders import hour, make_article

NOW = hour(4)
LISTED = Caution("An imported list", "It stands on it.")
PLAIN = Ioc(
    id=ioc_id("domain", "evil.example"),
    type="domain",
    value="evil.example",
    first_seen=hour(1),
    last_seen=hour(2) + timedelta(milliseconds=7),
    sightings=3,
    sources=2,
    context='It called "evil[.]example" \\ ü\u2028</script>.',
    malware=("Emotet", "Ünique"),
    article=make_article("a").ref,
    added_at=hour(3),
    changed_at=hour(4),
)
RECORDS = (
    PLAIN,
    replace(PLAIN, last_seen=NOW - timedelta(days=120), malware=()),
    replace(PLAIN, last_seen=NOW - timedelta(days=365)),
    replace(PLAIN, type="cve", value="CVE-2026-0001", id=ioc_id("cve", "CVE-2026-0001")),
    replace(PLAIN, type="ip", value="8.8.8.8", id=ioc_id("ip", "8.8.8.8")),
    replace(PLAIN, type="email", value="a@mail.example", id=ioc_id("email", "a@mail.example")),
    replace(PLAIN, article=replace(PLAIN.article, source_domain="blog.example", published_at=hour(1), url=None)),
)


@each("ioc", RECORDS)
@each("q", [None, "evil.example", "emotet", "unseen"])
def test_a_record_has_the_members_of_the_contract_in_their_order(ioc: Ioc, q: str | None) -> None:
    noted = Annotations(NOW, {PLAIN.id: 2}, {PLAIN.id: (LISTED,)})
    search = parse_search(q) if q else None
    told = orjson.dumps(member_by_member(ioc, noted, search))
    reasons = Reasons(search) if search else None
    assert orjson.dumps(noted.record(ioc, reasons)) == told
    assert orjson.dumps(noted.record(card_of(ioc, noted.votes(ioc)), reasons)) == told
    assert orjson.dumps(noted.members(ioc)) == orjson.dumps(member_by_member(ioc, noted, None))


def test_the_lists_of_a_record_are_told_in_their_order() -> None:
    resolver = RECORDS[4]
    shown = Annotations(NOW, {}, {resolver.id: (LISTED,)}).members(resolver)
    assert len(shown["warnings"]) > 1
    assert shown["warnings"][-1] == {"list": LISTED.list, "reason": LISTED.reason}


def member_by_member(ioc: Ioc, noted: Annotations, search: SearchText | None) -> dict[str, Any]:
    stands = age(ioc.type, ioc.last_seen, noted.now)
    told = {
        "id": ioc.id,
        "type": ioc.type,
        "value": ioc.value,
        "defanged": defang(ioc.type, ioc.value),
        "first_seen": rfc3339(ioc.first_seen),
        "last_seen": rfc3339(ioc.last_seen),
        "added_at": rfc3339(ioc.added_at),
        "changed_at": rfc3339(ioc.changed_at),
        "sightings": ioc.sightings,
        "sources": ioc.sources,
        "context": ioc.context,
        "malware": list(ioc.malware),
        "tags": [],
        "article": article_members(ioc.article),
        "warnings": [{"list": one.list, "reason": one.reason} for one in noted.cautions(ioc)],
        "status": stands.status,
        "expires_at": rfc3339(stands.expires_at) if stands.expires_at else None,
        "votes": {"false_positive": noted.votes(ioc)},
        "confidence": noted.confidence(ioc),
    }
    if search is None:
        return told
    match = reason(search, ioc)
    return told | {"match": {"how": match.how, "on": match.on}}


def article_members(ref: ArticleRef) -> dict[str, Any]:
    told = {
        "id": ref.id,
        "title": ref.title,
        "url": ref.url,
        "source_name": ref.source_name,
        "published_at": rfc3339(ref.published_at) if ref.published_at else None,
    }
    if ref.source_domain is None:
        return told
    return told | {"source_claimed": True, "source_domain": ref.source_domain}
