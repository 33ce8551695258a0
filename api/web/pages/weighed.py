"""`/articles/{id}/weighed`: all that was weighed in an article, kept or dropped, and why."""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import Response

from api.web.addresses import with_query
from api.web.pages.articles import known_article
from api.web.visit import Visit
from intel.canonical import defang

VERDICTS: Final = ("dropped", "kept")
_ROWS: Final = 200


async def show(visit: Visit) -> Response:
    article = await known_article(visit)
    reading = await visit.service.store.readings.get(article.id, article.revision)
    weighed = reading.candidates if reading else None
    verdict = visit.query.get("verdict", "")
    wanted = [each for each in weighed or () if verdict not in VERDICTS or each["kept"] == (verdict == "kept")]
    start = _start(visit, len(wanted))
    onward = with_query(f"/articles/{article.id}/weighed", {"verdict": verdict, "from": str(start + _ROWS)})
    return visit.page(
        "weighed.html",
        article=article,
        known=weighed is not None,
        kept=sum(each["kept"] for each in weighed or ()),
        count=len(weighed or ()),
        verdict=verdict if verdict in VERDICTS else "",
        rows=[_row(each) for each in wanted[start : start + _ROWS]],
        next_address=onward if start + _ROWS < len(wanted) else None,
    )


def _start(visit: Visit, count: int) -> int:
    asked = visit.query.get("from", "0")
    start = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 10 else 0
    return start if start < count else 0


def _row(candidate: dict[str, Any]) -> dict[str, Any]:
    return candidate | {"shown": defang(candidate["type"], candidate["value"])}
