"""`/articles/{id}/weighed`: all that was weighed in an article, kept or dropped, and why."""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import Response

from api.web.addresses import with_query
from api.web.pages.articles import known_article
from api.web.visit import Visit
from intel.canonical import defang
from intel.query import CandidateQuery

VERDICTS: Final = ("dropped", "kept")
_ROWS: Final = 200


async def show(visit: Visit) -> Response:
    article = await known_article(visit)
    verdict = visit.query.get("verdict", "")
    start = _start(visit)
    wanted = CandidateQuery(verdict == "kept" if verdict in VERDICTS else None, limit=_ROWS, skip=start)
    page = await visit.service.store.readings.weighed(article.id, article.revision, wanted)
    onward = with_query(f"/articles/{article.id}/weighed", {"verdict": verdict, "from": str(start + _ROWS)})
    return await visit.large_page(
        "weighed.html",
        article=article,
        known=page is not None,
        kept=page.kept if page else 0,
        count=page.count if page else 0,
        verdict=verdict if verdict in VERDICTS else "",
        rows=[_row(each) for _, each in page.items] if page else [],
        next_address=onward if page and page.more else None,
    )


def _start(visit: Visit) -> int:
    asked = visit.query.get("from", "0")
    return int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 10 else 0


def _row(candidate: dict[str, Any]) -> dict[str, Any]:
    return candidate | {"shown": defang(candidate["type"], candidate["value"])}
