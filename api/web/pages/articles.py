"""`/articles` and `/articles/{id}`: what was read, and one article with its indicators marked in the text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from starlette.responses import Response

from api.filters import read_tag_filter, read_tlp_filter
from api.parameters import read_text, unless_blank
from api.problems import Problem
from api.routes.revisions import NO_ADDRESS
from api.searching import articles_met, articles_suggested
from api.service import check_may_submit
from api.sharing import mark
from api.web.addresses import with_query
from api.web.blocks import blocks_within, marked_headings
from api.web.exports import export_article, is_format
from api.web.marking import MarkedBlock, Span, actors_in, anchor_at, marked_blocks, part_of, spans_in
from api.web.names import cve_names
from api.web.remarks import note_fault, notes_for, tag_fault
from api.web.visit import Visit
from ingest.front_matter import front_matter_length
from ingest.removing import Removing
from ingest.revisions import Revisions
from intel.catalogues.actors import actor_names
from intel.errors import Forbidden, InvalidQuery, NotFound
from intel.query import ArticleQuery, Position, parse_search
from intel.query_explanation import sentence
from intel.records import IOC_TYPES, Article, Ioc
from intel.snippets import Snippet
from intel.store import Store
from intel.text_blocks import read_blocks
from intel.tlp import LEVELS, read_tlp

# What a form brought and what is wrong with it.
_NOTHING_SAID = dict.fromkeys(("tags_written", "tag_fault", "note_written", "text_fault"), "")
_LIST = "page of articles"
_IOCS_SHOWN = 250
_LEAST_FOLDED, _UNFOLDED = 20, 10
_VANISHED_SHOWN = 100
_LEAST_CONTENTS, _MOST_CONTENTS = 4, 40
_MOST_ACTORS = 40
_BEFORE_TITLE = 4


@dataclass(frozen=True, slots=True)
class Group:
    """The indicators of one type on a page of an article: its first ones, those that are folded up, and all it has."""

    type: str
    count: int
    first: tuple[Ioc, ...]
    folded: tuple[Ioc, ...]

    @property
    def is_cut(self) -> bool:
        """Whether the article has more of the type than the page shows."""
        return self.count > len(self.first) + len(self.folded)


async def show_all(visit: Visit) -> Response:
    q = (unless_blank(visit.query.get("q")) or "").strip()
    source = read_text("source", visit.query.get("source")) or ""
    tags = read_tag_filter(unless_blank(visit.query.get("tag")))
    tlps = read_tlp_filter(unless_blank(visit.query.get("tlp")))
    asked, limit = {"q": q, "source": source, "tag": ",".join(tags), "tlp": ",".join(tlps)}, visit.limit()
    position = _position(visit, _LIST, asked)
    query = ArticleQuery(parse_search(q) if q else None, source or None, limit, position, tags, tlps)
    store = visit.service.store
    page = await store.articles.find(query)
    nothing = query.text is not None and position is None and not page.items
    return visit.page(
        "articles.html",
        q=q,
        source=source,
        tag=asked["tag"],
        tlp=asked["tlp"],
        page=page,
        met=snippet_pieces(await articles_met(store, page.items, query.text)),
        read_as=sentence(query.text) if query.text else "",
        suggestions=await _suggestions(store, query, asked) if nothing else [],
        totals=await store.articles.totals() if nothing else None,
        next_address=_onward(visit, _LIST, "/articles", asked, page.next),
        more_for_members=page.next is not None and visit.signed_in is None,
        later=position is not None,
    )


async def _suggestions(store: Store, query: ArticleQuery, asked: dict[str, str]) -> list[tuple[str, str]]:
    """Return other searches that may have been meant, each with its address."""
    words = await articles_suggested(store, query.text) if query.text else []
    return [(one, with_query("/articles", asked | {"q": one})) for one in words]


def snippet_pieces(met: Mapping[str, Sequence[Snippet]]) -> dict[str, dict[str, list[tuple[str, bool]]]]:
    """Return, by article and field, the snippet in pieces, each with whether the search was met in it."""
    return {id: {one.field: _cut(one) for one in snippets} for id, snippets in met.items()}


def _cut(one: Snippet) -> list[tuple[str, bool]]:
    cut, position = [], 0
    for start, end in one.highlights:
        cut += [(one.text[position:start], False), (one.text[start:end], True)]
        position = end
    return [piece for piece in (*cut, (one.text[position:], False)) if piece[0]]


def _onward(visit: Visit, list_name: str, path: str, asked: dict[str, str], next: Position | None) -> str | None:
    """Return the address of the next page, for who is signed in."""
    if next is None or visit.signed_in is None:
        return None
    return with_query(path, asked | {"cursor": visit.service.cursors.write(list_name, asked, next)})


def _position(visit: Visit, list_name: str, asked: dict[str, str]) -> Position | None:
    cursor = visit.query.get("cursor")
    if not cursor or visit.signed_in is None:
        return None
    before, position = visit.service.cursors.read(list_name, cursor)
    if before != asked:
        raise InvalidQuery("cursor", "belongs to another list")
    return position


async def show_one(visit: Visit) -> Response:
    article = await known_article(visit)
    if is_format(format := visit.query.get("format", "")):
        return await export_article(visit, format, article)
    async with visit.service.apart.large:
        return await _shown(visit, article)


async def say(visit: Visit) -> Response:
    """Change the article's notes, tags or TLP as the form says."""
    article = await known_article(visit)
    if "tlp" in visit.form:
        return await _marked_by(visit, article)
    if {"note_text", "remove_note"} & {*visit.form}:
        fault, place = await note_fault(visit, "article", article.id), "notes"
        said = {"text_fault": fault, "note_written": visit.form.get("note_text", "")}
    else:
        fault, place = await tag_fault(visit, "article", article.id), "tags"
        said = {"tag_fault": fault, "tags_written": visit.form.get("tags", "")}
    if not fault:
        return visit.go(f"/articles/{article.id}#{place}")
    async with visit.service.apart.large:
        return await _shown(visit, article, 422, **said)


async def _marked_by(visit: Visit, article: Article) -> Response:
    if visit.member.account.role != "administrator":
        raise Forbidden("Only administrators may say how far an article may be passed on.")
    written = visit.form["tlp"]
    await mark(visit.service.store, visit.audit, article.id, read_tlp(written) if written else None)
    return visit.go(f"/articles/{article.id}")


async def _shown(visit: Visit, article: Article, status: int = 200, **said: str) -> Response:
    store, list_name = visit.service.store, f"page of the indicators of {article.id}"
    position = _position(visit, list_name, {})
    page = await store.articles.iocs_of(article.id, _IOCS_SHOWN, position)
    text, start = article.text or "", _start(visit, article)
    begin = start or front_matter_length(text)
    part, next_start = part_of(text, begin)
    return await visit.large_page(
        "article.html",
        status,
        **_NOTHING_SAID | said,
        notes=await notes_for(visit, article.id),
        article=replace(article, text=None, structure=""),
        may_remove=await _may_remove(visit, article),
        levels=LEVELS,
        blocks=(marked_text := await _marked(visit, article, part, begin)),
        contents=contents(article, marked_text, begin, next_start),
        actors=_actors(marked_text),
        start=start,
        next_start=next_start,
        length=len(text),
        groups=groups(page.items, article.ioc_counts),
        cve_names=await cve_names(store, page.items),
        next_address=_onward(visit, list_name, f"/articles/{article.id}", {}, page.next),
        more_for_members=page.next is not None and visit.signed_in is None,
        later=position is not None,
        vanished=(await Revisions(store).vanished(article))[:_VANISHED_SHOWN],
    )


async def _marked(visit: Visit, article: Article, part: str, start: int) -> tuple[MarkedBlock, ...]:
    apart = visit.service.apart
    names = await actor_names(visit.service.store)
    spans = await apart.run(lambda: (*spans_in(part), *actors_in(part, names)))
    iocs = await visit.service.store.articles.iocs_among(article.id, list({id for _, _, id in spans}))
    return await apart.run(lambda: _marked_part(article, part, start, spans, iocs))


def _marked_part(
    article: Article, part: str, start: int, spans: Sequence[Span], iocs: Mapping[str, Ioc]
) -> tuple[MarkedBlock, ...]:
    known = read_blocks(article.structure, len(article.text or ""))
    found = marked_blocks(part, blocks_within(known, part, start), spans, iocs, start)
    # The title stands above the text already; in the text a kicker or an author may come before it.
    begins = found[:_BEFORE_TITLE] if start == front_matter_length(article.text or "") else ()
    for place, block in enumerate(begins):
        if (block.kind == "heading" or place == 0) and _same(block.heading, article.title):
            return found[:place] + found[place + 1 :]
    return found


def _same(heading: str, title: str) -> bool:
    return heading.casefold().split() == title.casefold().split()


def contents(article: Article, shown: Sequence[MarkedBlock], start: int, end: int | None) -> list[tuple[str, str]]:
    """Return the headings of a long article and where they are, as a table of contents; none of a short one.

    `shown` is the part of its text from `start` to `end`; headings of other parts lead there. Where there are more than
    40, those of the deeper levels are left out.
    """
    found = [(block.level, block.heading, f"#{block.anchor}") for block in shown if block.kind == "heading"]
    if start or end is not None:
        found = _headings_of_all(article, start, end) or found
    deepest = next((top for top in range(6, 1, -1) if sum(level <= top for level, *_ in found) <= _MOST_CONTENTS), 1)
    listed = [(words, address) for level, words, address in found if level <= deepest][:_MOST_CONTENTS]
    return listed if len(listed) >= _LEAST_CONTENTS else []


def _headings_of_all(article: Article, start: int, end: int | None) -> list[tuple[int, str, str]]:
    """Return the headings of all parts of a text, as its page told them or as it marks them."""
    text = article.text or ""
    found = []
    for block in read_blocks(article.structure, len(text)) or marked_headings(text):
        if block.kind == "heading" and not _same(words := text[block.start : block.end].strip(), article.title):
            within = start <= block.start < (end or len(text))
            elsewhere = "" if within else f"/articles/{article.id}?from={block.start}"
            found.append((block.level, words, f"{elsewhere}#{anchor_at(block.start)}"))
    return found


def _actors(found: Sequence[MarkedBlock]) -> list[str]:
    """Return the threat actors that a text names, in order of first appearance."""
    pieces = (piece for block in found for row in block.rows for cell in row for piece in cell)
    return list(dict.fromkeys(piece.actor for piece in pieces if piece.actor))[:_MOST_ACTORS]


async def show_elsewhere(visit: Visit) -> Response:
    return visit.go(f"/articles/{(await known_article(visit)).id}")


async def refetch(visit: Visit) -> Response:
    check_may_submit(visit.member.account.role)
    article = await known_article(visit)
    if article.url is None:
        raise Problem(409, "article_without_address", NO_ADDRESS)
    submission = await visit.service.submitting.again(visit.member.account.id, article)
    return visit.go(f"/submissions/{submission.id}")


async def show_remove(visit: Visit) -> Response:
    article = await known_article(visit)
    if not await _may_remove(visit, article):
        raise Forbidden("Only an administrator, or the one account that submitted an article, may remove it.")
    return visit.page("remove.html", article=article)


async def remove(visit: Visit) -> Response:
    account = visit.member.account
    id = visit.request.path_params["id"]
    await Removing(visit.service.store).remove(account.id, account.role, id)
    await visit.audit.note("article.removed", id)
    return visit.go("/articles")


async def _may_remove(visit: Visit, article: Article) -> bool:
    if visit.signed_in is None:
        return False
    account = visit.member.account
    return await Removing(visit.service.store).may_remove(account.id, account.role, article.id)


async def known_article(visit: Visit) -> Article:
    """Return the article that a page is about; raise NotFound where there is none."""
    id = visit.request.path_params["id"]
    found = await visit.service.store.articles.get(id)
    if found is None:
        raise NotFound("There is no such article here.")
    return found


def _start(visit: Visit, article: Article) -> int:
    """Return where the part of the text that is asked for begins."""
    asked = visit.query.get("from", "0")
    if not (asked.isascii() and asked.isdigit() and len(asked) < 10):
        return 0
    return int(asked) if int(asked) < len(article.text or "") else 0


def groups(iocs: tuple[Ioc, ...], counts: Mapping[str, int]) -> tuple[Group, ...]:
    """Return the indicators of a page by type, in the order of the types; `counts` are the article's own."""
    by_type = {type: tuple(ioc for ioc in iocs if ioc.type == type) for type in IOC_TYPES}
    return tuple(
        _group(type, counts.get(type, len(found)), found)
        for type, found in by_type.items()
        if found or counts.get(type)
    )


def _group(type: str, count: int, found: tuple[Ioc, ...]) -> Group:
    unfolded = len(found) if len(found) <= _LEAST_FOLDED else _UNFOLDED
    return Group(type, count, found[:unfolded], found[unfolded:])
