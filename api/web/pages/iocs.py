"""`/ioc/{type}/{value}`: everything that is known of one indicator, and what users say of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from starlette.responses import RedirectResponse, Response

from api.annotating import annotate
from api.apart import Apart
from api.voting import LONGEST_NOTE, noted_votes, own_vote, read_note
from api.web.addresses import ioc_path
from api.web.exports import export, is_format
from api.web.hits import hits
from api.web.names import cve_names
from api.web.near import near
from api.web.nothing_found import help_for
from api.web.pages.families import MOST_HEADED, NAMES, family_facts, show_titled
from api.web.remarks import note_fault, notes_for, tag_fault
from api.web.said_of import families_in_titles, notes_in_tables
from api.web.sightings import picture
from api.web.visit import Visit, private
from intel.canonical import canonical, defang, readings
from intel.catalogues import catalogue_facts
from intel.errors import NotAnIndicator
from intel.ids import ioc_id
from intel.indicator_types import TYPES
from intel.names import malware_aliases
from intel.pivots import pivots
from intel.records import IOC_TYPES, Ioc, Mention, Vote
from intel.store import Store

# What a form brought and what is wrong with it.
_NOTHING_SAID = dict.fromkeys(("note", "note_fault", "tags_written", "tag_fault", "note_written", "text_fault"), "")
_DRAWN = 500
_LISTED = 50
_OPEN_MENTIONS = 10
_RELATED = 24
_TABLES_READ = 3


async def show(visit: Visit) -> Response:
    type, written = visit.request.path_params["type"], visit.request.path_params["value"]
    try:
        value = canonical(type, written)
    except NotAnIndicator:
        return await _unknown(visit, type, written)
    if value != written:
        return private(RedirectResponse(ioc_path(type, value), 301))
    found = await visit.service.store.iocs.get(ioc_id(type, value))
    if found is None:
        return await _under_another_name(visit, type, value) or await _unknown(visit, type, value)
    if type == "malware" and visit.query.get("by") == "title":
        return await show_titled(visit, found)
    if is_format(format := visit.query.get("format", "")):
        return await export(visit, format, (found,))
    return await _shown(visit, found)


async def _under_another_name(visit: Visit, type: str, value: str) -> Response | None:
    """Redirect to a family under the first of its other names that is stored, if it is a family."""
    others = malware_aliases(value) if type == "malware" else ()
    stored = await visit.service.store.iocs.get_many([ioc_id(type, other) for other in others])
    path = next((ioc_path(type, other) for other in others if ioc_id(type, other) in stored), None)
    return private(RedirectResponse(path, 302)) if path else None


async def say(visit: Visit) -> Response:
    """Change its tags or notes, or keep or withdraw the reader's vote that it is a false positive: as the form says."""
    type, value = visit.request.path_params["type"], visit.request.path_params["value"]
    store = visit.service.store
    found = await store.iocs.get(ioc_id(type, value))
    if found is None:
        return await _unknown(visit, type, value)
    if "vote" not in visit.form and {"tags", "remove_tag"} & {*visit.form}:
        fault = await tag_fault(visit, "ioc", found.id)
        if fault:
            return await _shown(visit, found, 422, tag_fault=fault, tags_written=visit.form.get("tags", ""))
        return visit.go(f"{ioc_path(type, value)}#tags")
    if {"note_text", "remove_note"} & {*visit.form}:
        fault = await note_fault(visit, "ioc", found.id)
        if fault:
            return await _shown(visit, found, 422, text_fault=fault, note_written=visit.form.get("note_text", ""))
        return visit.go(f"{ioc_path(type, value)}#notes")
    account_id = visit.member.account.id
    if visit.form.get("vote") == "withdraw":
        await store.votes.withdraw(found.id, account_id)
        return visit.go(ioc_path(type, value))
    try:
        note = read_note(visit.form.get("note"))
    except ValueError as error:
        return await _shown(visit, found, 422, note_fault=f"The note {error}.", note=visit.form.get("note", ""))
    await store.votes.put(Vote(found.id, account_id, note, visit.service.clock()))
    return visit.go(ioc_path(type, value))


async def _shown(visit: Visit, ioc: Ioc, status: int = 200, **said: str) -> Response:
    store = visit.service.store
    known, votes = await asyncio.gather(_known(store, visit.service.apart, ioc), store.votes.of(ioc.id))
    newest = known["family"]["newest"] if known["family"] else ()
    noted = await annotate(store, [ioc, *newest], visit.service.clock())
    return visit.page(
        "ioc.html",
        status,
        **known,
        hits=hits(newest, noted),
        pivots=pivots(visit.service.settings.ioc_pivots, ioc.type, ioc.value),
        age=noted.age(ioc),
        confidence=noted.confidence(ioc),
        confidence_of=noted.confidence_of(ioc),
        warnings=noted.cautions(ioc),
        votes=len(votes),
        reasons=noted_votes(votes),
        notes=await notes_for(visit, ioc.id),
        own=own_vote(votes, visit.signed_in.account.id) if visit.signed_in else None,
        longest_note=LONGEST_NOTE,
        **_NOTHING_SAID | said,
    )


async def _known(store: Store, apart: Apart, ioc: Ioc) -> dict[str, Any]:
    mentions, total = await store.iocs.mentions_of(ioc.id, _DRAWN)
    related = await store.iocs.related(ioc.id, _RELATED)
    family = await family_facts(store, apart, ioc.value, mentions) if ioc.type == "malware" else None
    listed = [other for _, page in family["named"] for other in page.items] if family else []
    return {
        "ioc": ioc,
        "mentions": mentions[:_LISTED],
        "articles_total": total,
        "drawn": len(mentions),
        "picture": picture([mention.article.seen_at for mention in mentions]) if total > 1 else None,
        "related": related,
        "near": await near(store, ioc),
        "cve_names": await cve_names(store, [*related, *listed]),
        **await _said(store, apart, ioc, mentions),
        "references": references(ioc.type, ioc.value),
        "catalogue": await catalogue_facts(store, ioc.type, ioc.value) or {},
        "family": family,
        "most_headed": MOST_HEADED,
        "open_mentions": _OPEN_MENTIONS,
    }


async def _said(store: Store, apart: Apart, ioc: Ioc, mentions: Sequence[Mention]) -> dict[str, Any]:
    """Return the families that titles name, and what tables say of an indicator, by article."""
    if ioc.type in NAMES:
        return {"titled": (), "tabled": {}}
    titles = [mention.article.title for mention in mentions]
    found = await asyncio.gather(*(store.articles.get(one.article.id) for one in mentions[:_TABLES_READ]))
    articles = [article for article in found if article is not None]

    def read() -> dict[str, Any]:
        titled = tuple(name for name in families_in_titles(titles) if name not in ioc.malware)
        return {"titled": titled, "tabled": {one.id: notes_in_tables(one, ioc.value) for one in articles}}

    return await apart.run(read)


def references(type: str, value: str) -> list[tuple[str, str]]:
    """Return the public registers that describe it: (name, address)."""
    path = value.replace(".", "/")
    return [(name, address.format(value=value, path=path)) for name, address in TYPES[type].references]


async def _unknown(visit: Visit, type: str, value: str) -> Response:
    """Redirect, or explain that nothing is stored: it may be another type of indicator, or a part of something."""
    others = [(other, read) for other, read in readings(value) if other != type]
    is_one = type in IOC_TYPES and (type, value) in readings(value)
    return visit.page(
        "ioc_unknown.html",
        404,
        type=type if type in IOC_TYPES else "",
        value=defang(type, value) if is_one else value[:300],
        is_one=is_one,
        catalogue=(await catalogue_facts(visit.service.store, type, value) if is_one else None) or {},
        others=[(other, defang(other, read), ioc_path(other, read)) for other, read in others],
        term=value[:500],
        help=await help_for(visit.service.store, value[:512]),
        totals=await visit.service.store.articles.totals(),
    )
