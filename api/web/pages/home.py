"""`/`: the search box, what is stored, what is new and what needs attention."""

from __future__ import annotations

from starlette.responses import Response

from api.web.names import cve_names
from api.web.visit import Visit
from api.web.weekly_bars import MOST_WEEKS, article_bars, weekly_bars
from intel.query import ArticleQuery, IocQuery

_ARTICLES, _IOCS, _FOCUS = 6, 8, 3


async def show(visit: Visit) -> Response:
    store = visit.service.store
    focus = visit.service.focus
    active = [one for one in await focus.standings(visit.service.clock()) if one.status == "active"]
    iocs = (await store.iocs.find(IocQuery(limit=_IOCS))).items
    return visit.page(
        "home.html",
        totals=await store.totals(),
        articles=(await store.articles.find(ArticleQuery(limit=_ARTICLES))).items,
        iocs=iocs,
        cve_names=await cve_names(store, iocs),
        weekly_bars=weekly_bars((await store.iocs.facets(IocQuery())).weeks),
        article_bars=article_bars(await store.articles.by_week(MOST_WEEKS)),
        focus=await focus.items(active[:_FOCUS]),
    )
