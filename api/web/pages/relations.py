"""`/graph/{type}/{value}`, `/graph/source/{name}` and `/graph/actor/{name}`: what is named together."""

from __future__ import annotations

from starlette.responses import Response

from api.parameters import read_text
from api.web.addresses import actor_path, ioc_path, source_path
from api.web.names import cve_names
from api.web.pages.actors import articles_naming
from api.web.relations import HEIGHT, WIDTH, relations, view_box
from api.web.visit import Visit
from intel.canonical import canonical, defang
from intel.catalogues.actors import actor_named
from intel.errors import NotAnIndicator, NotFound
from intel.ids import ioc_id
from intel.query import ArticleQuery
from intel.records import Ioc

_ARTICLES = 20


async def show(visit: Visit) -> Response:
    """Show the graph around an indicator."""
    type, written = visit.request.path_params["type"], visit.request.path_params["value"]
    if type == "source":
        return await _of_source(visit, written)
    if type == "actor":
        return await _of_actor(visit, written)
    try:
        found = await visit.service.store.iocs.get(ioc_id(type, canonical(type, written)))
    except NotAnIndicator:
        found = None
    if found is None:
        raise NotFound("Not mentioned in any article.")
    mentions, total = await visit.service.store.iocs.mentions_of(found.id, _ARTICLES)
    ids = [mention.article.id for mention in mentions]
    return await _shown(visit, ids, total, found, defang(type, found.value), ioc_path(type, found.value))


async def _of_source(visit: Visit, written: str) -> Response:
    name = read_text("source", written) or ""
    page = await visit.service.store.articles.find(ArticleQuery(source=name, limit=_ARTICLES))
    if not page.items:
        raise NotFound("No article of a source with this name is stored here.")
    return await _shown(visit, [one.id for one in page.items], page.total or 0, None, name, source_path(name))


async def _of_actor(visit: Visit, written: str) -> Response:
    store = visit.service.store
    actor = await actor_named(store, written[:200])
    articles = (await articles_naming(store, actor))[:_ARTICLES] if actor else []
    if actor is None or not articles:
        raise NotFound("No article mentions a threat actor by this name.")
    address = actor_path(actor.name)
    return await _shown(visit, [one.id for one in articles], len(articles), None, actor.name, address)


async def _shown(
    visit: Visit, article_ids: list[str], articles: int, center: Ioc | None, name: str, address: str
) -> Response:
    nodes = await relations(visit.service.store, article_ids, center)
    return visit.page(
        "graph.html",
        nodes=nodes,
        cve_names=await cve_names(visit.service.store, [node.ioc for node in nodes]),
        name=name,
        center=center,
        address=address,
        counted=len(article_ids),
        articles=articles,
        width=WIDTH,
        height=HEIGHT,
        view_box=view_box(nodes),
    )
